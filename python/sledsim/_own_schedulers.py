"""Schedulers that users write: objects with ``pick(queue, now_ms)``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sledsim import _core
from sledsim._arguments import placed, refuse
from sledsim._core import SpecError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from sledsim._name_types import SchedulerName

_DIGITS = 12
"""Of the digest of a source, behind the import path."""
_MUST = (
    "the name of a scheduler, MODULE:CLASS, FILE.py:CLASS, or an object with pick(queue, now_ms)"
)


class Scheduler(Protocol):
    """What a scheduler of the user has.

    With an attribute ``wants_positioning = False`` it does without ``queue.positioning_ms``, which
    saves working these times out for every pick.
    """

    def pick(self, queue: _core.Queue, now_ms: float) -> int:
        """Return the index of the request to serve next, among those that wait."""


SchedulerLike: TypeAlias = "SchedulerName | str | Scheduler | Callable[[], Scheduler]"
"""A name with keys, an import path, a scheduler of the user, or its class."""


def scheduler_of(given: object, name: str = "scheduler") -> str | _core.OwnScheduler:
    """Return a scheduler as the core takes it.

    An object is copied for each mechanism of each run, so that none sees what another did; of a
    class one is made.

    Raises
    ------
    SledsimError
        For an object or class without ``pick``, an import path that leads nowhere or to another
        source than its digest says, or one that has the name of a scheduler of sledsim.
    """
    if isinstance(given, str):
        return _imported(given, name) if is_path(given) else given
    if not callable(getattr(given, "pick", None)):
        refuse(name, given, _MUST)
    label = (given if isinstance(given, type) else type(given)).__qualname__.split(".")[-1]
    if label in _core.names("schedulers"):
        raise placed(
            SpecError,
            f"{name} = {given!r}: must not have the name of a scheduler of sledsim, {label}",
            key=name,
        )
    return _own(label, given)


def label_of(given: object) -> str:
    """Return the name of a scheduler in tables and results."""
    scheduler = scheduler_of(given, "schedulers")
    return scheduler if isinstance(scheduler, str) else scheduler.label


def is_path(text: str) -> bool:
    """Whether a text is an import path, not the name of a scheduler of sledsim."""
    return ":" in text.partition("(")[0]


def with_digest(path: str) -> str:
    """Return an import path with the digest of its source behind it."""
    where, digest, _ = _checked(path, "scheduler")
    return f"{where}#{digest}"


def _own(label: str, given: Any) -> _core.OwnScheduler:
    wants = bool(getattr(given, "wants_positioning", True))
    from copy import deepcopy  # most runs do without

    make = given if isinstance(given, type) else lambda: deepcopy(given)
    return _core.OwnScheduler(label, make, wants)


def _imported(path: str, name: str) -> _core.OwnScheduler:
    where, _, found = _checked(path, name)
    return _own(where, found)


def _checked(path: str, name: str) -> tuple[str, str, object]:
    """Return an import path without a digest, that of its source, and what is there."""
    where, _, digest = path.partition("#")
    module, found = _loaded(where, name)
    now = _digest(module)
    imported: str = vars(module).setdefault("_sledsim_digest", now)
    if now != imported:
        must = "imported again, as its source has changed since it was imported: start Python anew"
        refuse(name, where, must)
    if digest not in {"", now}:
        refuse(name, path, f"of the source it was; that has the digest {now} now")
    return where, now, found


def _loaded(where: str, name: str) -> tuple[ModuleType, object]:
    """Return the module of an import path, and what it names there."""
    home, _, attribute = where.rpartition(":")
    try:
        module = _file(home) if home.endswith(".py") else _module(home)
    except Exception as error:
        raise placed(
            SpecError, f"{name} = '{where}': cannot be imported: {_said(error)}", key=name
        ) from error
    found = getattr(module, attribute, None)
    if not callable(getattr(found, "pick", None)):
        known = [key for key, value in vars(module).items() if hasattr(value, "pick")]
        has = f"; {home} has {', '.join(known)}" if known else ""
        refuse(name, where, f"a class or an object with pick(queue, now_ms){has}")
    return module, found


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _module(name: str) -> ModuleType:
    """Import a module, from the current folder, too, as ``python -m`` does."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        return import_module(name)
    finally:
        sys.path.remove(here)


def _file(path: str) -> ModuleType:
    file = Path(path).absolute()
    content = str(file).encode() + file.read_bytes()
    name = f"sledsim_own_{_hashed(content)}"
    if name not in sys.modules:
        from importlib.util import module_from_spec, spec_from_file_location

        spec = spec_from_file_location(name, path)
        assert spec is not None  # it ends in .py
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _digest(module: ModuleType) -> str:
    """Return the digest of the source of a module, or of its name if it has no file."""
    file = getattr(module, "__file__", None)
    content = Path(file).read_bytes() if file else module.__name__.encode()
    return _hashed(content)


def _hashed(content: bytes) -> str:
    from hashlib import sha256

    return sha256(content).hexdigest()[:_DIGITS]
