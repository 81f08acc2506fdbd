"""Text that identifies devices, loads and runs: equal texts give equal results.

The core makes the same of the same input, so the input tells a device or a load exactly, with the
text of the files that were read for it. Resolved specs would not: they leave out tables without
keys, layouts, and files that parts are based on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim import _core

if TYPE_CHECKING:
    from collections.abc import Callable


def text_of(*parts: object) -> str | None:
    """Return values as JSON, in the order in which they stand; ``None`` if they are no JSON.

    Nothing is converted but tuples, which the core takes as lists, too.
    """
    try:
        return json.dumps(parts)
    except (TypeError, ValueError, RecursionError):
        return None


def of_device(
    name: str, keys: Iterable[tuple[str, object]], make: Callable[[], _core.Device]
) -> tuple[_core.Device, str | None]:
    """Make a device, and return it with the text that identifies it.

    Parameters
    ----------
    name, keys
        A preset or a file, and overrides, as the core takes them.
    make
        Makes it of these; its exceptions are passed on.

    Returns
    -------
    (Device, str or None)
        ``None`` if that cannot be told: it is based on a file that is not read here, its file is
        none that can be read twice, or a key has a value that is not of JSON.
    """
    if name in _core.names("presets"):
        made, text = make(), ""
    else:
        before = _read(name)
        made, text = make(), _read(name) or ""
        if not text or text != before:
            return made, None
    known = _bases(text, keys) <= set(_core.names("presets"))
    return made, text_of(name, list(keys), text) if known else None


def of_workload(name: str, keys: Iterable[tuple[str, object]]) -> str | None:
    """Return the text that identifies a workload, or ``None`` for one that is a file."""
    if name not in (*_core.names("workloads"), *_core.names("workload_presets")):
        return None
    return text_of("workload", name, list(keys))


def _read(name: str) -> str | None:
    """Return the text of a file, or ``None`` if it cannot be read, or not twice."""
    path = Path(name)
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else None
    except (OSError, ValueError):
        return None  # the core reports the error


def _bases(text: str, keys: Iterable[tuple[str, object]]) -> set[str]:
    """Return the devices that a file and overrides name as bases, those of parts, too."""
    parsed: dict[str, object] = {}
    if text:
        import tomllib  # noqa: PLC0415 (for devices that are files)

        parsed = tomllib.loads(text)

    def inside(value: object) -> Iterator[str]:
        if isinstance(value, Mapping):
            for name, item in value.items():
                yield from [str(item)] if name == "base" else inside(item)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from inside(item)

    given = [{key.rpartition(".")[2]: value} for key, value in keys]
    return set(inside([parsed, given]))
