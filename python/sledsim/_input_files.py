"""Files that a user or a folder supplies, read whole, and the TOML and JSON in them.

A trace is read elsewhere: it may be a pipe.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._arguments import placed
from sledsim._core import OutputError, SledsimError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

_LONG_NUMBER = re.compile(r"\d[\d_]{4000,}", re.ASCII)
"""Python reads no number of more than 4,300 digits."""


def need_regular(path: str | PathLike[str]) -> None:
    """Refuse a pipe, a socket or a device: to open a pipe waits, and a device may have no end."""
    try:
        mode = Path(path).stat().st_mode
    except ValueError as error:  # a zero byte in the name
        raise OSError(errno.EINVAL, str(error)) from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # reading says that it is a folder
        raise OSError(errno.EINVAL, "must be a regular file, not a pipe, a socket or a device")


def refuse_special(path: Path) -> None:
    """Refuse what :func:`need_regular` does, of a file that something else opens."""
    try:
        need_regular(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise placed(SledsimError, f"{path}: {error.strerror}", file=path) from None


def content(path: str | PathLike[str]) -> bytes:
    """Return the content of a regular file."""
    need_regular(path)
    return Path(path).read_bytes()


def is_file(path: str | PathLike[str]) -> bool:
    """Tell whether there is a file of this name, which may be none that a file can have."""
    return os.path.isfile(path)  # noqa: PTH113 (the method raises errors for long names)


def name_problem(path: str | PathLike[str]) -> str | None:
    """Say why no file can have this name; ``None`` if one can."""
    try:
        Path(path).stat()
    except ValueError as error:  # a zero byte
        return str(error)
    except OSError as error:
        return error.strerror if error.errno == errno.ENAMETOOLONG else None
    return None


def check_output(
    path: str, endings: Sequence[str], others: Iterable[str | None], name: str
) -> None:
    """Refuse a file that cannot be written, before a long run.

    Parameters
    ----------
    path
        The file.
    endings
        Endings that it may have.
    others
        Other files that are read, or written.
    name
        What stands before the problem in the message.
    """
    file = Path(path)
    problem = name_problem(file)
    if file.suffix.lower() not in endings:
        *first, last = endings
        problem = f"must end in {', '.join(first)} or {last}" if first else f"must end in {last}"
    elif problem is None and file.is_dir():
        problem = "is a folder; a file name is needed"
    elif problem is None and not file.parent.is_dir():
        problem = "its folder does not exist"
    elif any(other is not None and Path(other).absolute() == file.absolute() for other in others):
        problem = problem or "is another file of this command"
    if problem is not None:
        raise OutputError(f"{name}: {problem}")


def toml(text: bytes | str) -> dict[str, Any]:
    """Return the keys of TOML."""
    import tomllib  # most commands do without

    found: dict[str, Any] = _parsed(tomllib.loads, text)
    return found


def json_object(text: bytes | str) -> dict[str, Any]:
    """Return the JSON object that a text is."""
    import json  # most commands do without

    found: object = _parsed(json.loads, text)
    if not isinstance(found, dict):
        raise ValueError("it must be a JSON object, { ... }")
    return found


def _parsed(parse: Callable[[str], Any], text: bytes | str) -> Any:
    """Return what a parser makes of a text."""
    whole = text if isinstance(text, str) else text.decode()
    try:
        return parse(whole)
    except RecursionError:
        msg = "its lists and tables nest too deep"
    except ValueError:
        number = _LONG_NUMBER.search(whole)
        if number is None:
            raise
        line = whole.count("\n", 0, number.start()) + 1
        before = whole[: number.start()].rpartition("\n")[2][-60:]
        msg = f"line {line}: {before}{number[0][:20]}...: must be a number that fits 64 bits"
    raise ValueError(msg)


def check_page(path: str, *others: str | None, option: str = "") -> None:
    """Refuse a page that cannot be written, before a long run.

    Parameters
    ----------
    path
        The file.
    others
        Other files that are written, or read.
    option
        The option that named it, for messages.
    """
    check_output(path, (".html",), others, f"{option} {path}" if option else path)
