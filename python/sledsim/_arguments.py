"""Checks of the arguments of public functions, and errors with their place.

Numbers may be Python's or numpy's, and whole ones may be written as ``1e6``. Anything else is a
:class:`~sledsim.SpecError` that names the argument, the given value and the accepted ones.
"""

from __future__ import annotations

import itertools
import math
import operator
import os
from collections.abc import Iterable, Sized
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, SupportsFloat, TypeVar

from sledsim._core import SledsimError, SpecError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

T = TypeVar("T")
Error = TypeVar("Error", bound=SledsimError)


def placed(
    kind: type[Error],
    message: str,
    *,
    file: str | os.PathLike[str] | None = None,
    line: int | None = None,
    key: str | None = None,
) -> Error:
    """Make an error with attributes, which its message names."""
    error = kind(message)
    error.file = None if file is None else str(file)
    error.line = line
    error.key = key
    return error


MOST_ITEMS = 1_000_000
"""Items that a sequence of the caller may have."""


def refuse(
    name: str, given: object, must: str, file: str | os.PathLike[str] | None = None
) -> NoReturn:
    """Raise the error for an argument, or a key of a file, that does not fit."""
    where = "" if file is None else f"{file}: "
    raise placed(
        SpecError,
        f"{where}{name}{' ' if name.startswith('--') else ' = '}{shown(given)}: must be {must}",
        file=file,
        key=name,
    )


def shown(given: object) -> str:
    """Return at most 60 characters of how Python writes an object."""
    try:
        text = repr(given)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, deep lists
        return f"<{type(given).__name__}: {error}>"
    return text if len(text) <= 60 else f"{text[:60]}..."


_MOST_NAMES = 40
"""Names that an error lists."""


def near(name: object, known: Sequence[str]) -> str:
    """Return the names, of many those that are like another: with it as a part, or alike.

    ``NAME.low`` and ``NAME.high``, the ends of intervals, are left out.
    """
    ends = {f"{each}{end}" for each in known for end in (".low", ".high")}
    known = [each for each in known if each not in ends]
    if len(known) <= _MOST_NAMES:
        return ", ".join(known)
    import difflib  # only errors need it

    wanted = str(name)
    has_it = [each for each in known if wanted in each.split(".")]
    like = has_it or difflib.get_close_matches(wanted, known, n=5, cutoff=0.4) or known
    return f"{', '.join(like[:5])}, ... ({len(known)} names)"


def limited(name: str, given: Iterable[T], most: int = MOST_ITEMS) -> list[T]:
    """Return the items of a sequence, which may be one without an end."""
    try:
        many = isinstance(given, Sized) and len(given) > most
    except OverflowError:  # a range
        many = True
    items = [] if many else list(itertools.islice(given, most + 1))
    if many or len(items) > most:
        raise placed(
            SpecError, f"{name}: has more than {most:,} items; must have at most so many", key=name
        )
    return items


def based(name: str, given: Mapping[str, object], must: str) -> tuple[Any, dict[str, object]]:
    """Return the ``base`` of a mapping, and its other keys."""
    keys = dict(given)
    if "base" not in keys or not all(isinstance(key, str) for key in keys):
        refuse(name, keys, f"a mapping of keys with a base: {must}")
    return keys.pop("base"), keys


def whole(name: str, given: object, least: int = 0, most: int | None = None) -> int:
    """Return an integer from ``least`` to ``most``, by default 2^63 - 1."""
    end = 2**63 - 1 if most is None else most
    if type(given) is int and least <= given <= end:  # as nearly always
        return given
    number = -1
    try:
        number = operator.index(given)  # type: ignore[arg-type]  # (refused below)
    except TypeError:
        if isinstance(given, SupportsFloat):
            with suppress(TypeError, ValueError, OverflowError):
                number = int(given) if float(given).is_integer() else -1  # type: ignore[call-overload]
    if isinstance(given, bool) or not least <= number <= end:
        must = f"of at least {least}" if most is None else f"from {least} to {most}"
        refuse(name, given, f"an integer {must}")
    return number


def real(name: str, given: object, least: float | None = None, most: float | None = None) -> float:
    """Return a finite number from ``least`` to ``most``."""
    number = _as_float(given)
    low, high = (-math.inf if least is None else least), (math.inf if most is None else most)
    if not (math.isfinite(number) and low <= number <= high):
        limits = [f" of at least {least:g}"] if least is not None else []
        limits += [f" of at most {most:g}"] if most is not None else []
        refuse(name, given, f"a finite number{' and'.join(limits)}")
    return number


def share(name: str, given: object) -> float:
    """Return a share above 0 and below 1: a number, or text such as ``"1%"``."""
    number = _as_float(given)
    if isinstance(given, str):
        with suppress(ValueError):
            number = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
    if not 0 < number < 1:
        said = f"{name} {given}" if name.startswith("--") else f"{name} = {shown(given)}"
        raise placed(
            SpecError, f"{said}: must be above 0% and below 100%, as in 1% or 0.01", key=name
        )
    return number


def _as_float(given: object) -> float:
    """Return a number as a float, and NaN for anything else."""
    if type(given) is float:  # as nearly always
        return given
    if isinstance(given, SupportsFloat) and not isinstance(given, bool):
        with suppress(TypeError, ValueError, OverflowError):
            return float(given)
    return math.nan


def text(name: str, given: object) -> str:
    """Return a string."""
    if not isinstance(given, str):
        refuse(name, given, "a string")
    try:
        given.encode()
    except UnicodeEncodeError:  # bytes of a command line, say
        refuse(name, given, "text in UTF-8")
    return given


def path_text(name: str, given: object) -> str:
    """Return the text of a path."""
    try:
        found = os.fspath(given)  # type: ignore[call-overload]  # (refused below)
    except TypeError:
        refuse(name, given, "a string or a path")
    if not isinstance(found, str):
        refuse(name, given, "a string or a path")
    try:
        os.fsencode(found)
    except UnicodeEncodeError:
        refuse(name, given, "a path that files can have")
    return found


def optional(check: Callable[..., T], name: str, given: object, *limits: float) -> T | None:
    """Check an argument, unless it is ``None``."""
    return None if given is None else check(name, given, *limits)


def as_list(name: str, given: object) -> list[object]:
    """Return the items of a sequence; a string or a path, or what cannot be iterated, is one."""
    if type(given) is list:  # as nearly always
        return given.copy()
    if isinstance(given, bytes):
        refuse(name, given, "a sequence")
    if isinstance(given, str | os.PathLike) or not isinstance(given, Iterable):
        return [given]
    return limited(name, given)
