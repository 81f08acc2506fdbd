"""Studies as TOML files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError
from sledsim.arguments import refuse
from sledsim.studies.design import Design

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

KEYS = ("title", "experiment", "replications", "base", "grid", "zip", "rows", "exclude", "plot")
"""What a file of a study may have at its top."""
_PLOT = ("x", "y", "by")


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a file of a study.

    Raises
    ------
    SledsimError
        For a file that cannot be read, is no TOML, or has an unknown key.
    """
    file = Path(path)
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"{file}: cannot be read: {error.strerror}"
        raise SledsimError(msg) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"{file}: is no TOML: {error}"
        raise SledsimError(msg) from None
    for key in found:
        if key not in KEYS:
            msg = f"{file}: unknown key '{key}'; a study has {', '.join(KEYS)}{_hint(key)}"
            raise SledsimError(msg)
    plot = found.get("plot", {})
    if not isinstance(plot, dict) or not set(plot) <= set(_PLOT):
        refuse(f"{file}: plot", plot, f"a table with the keys {', '.join(_PLOT)}")
    return found


def design(found: Mapping[str, Any], beside: Path | None = None) -> Design:
    """Return the design of a file.

    Parameters
    ----------
    found
        What :func:`read` returns.
    beside
        The folder that paths of devices, traces and scenarios in it are relative to.

    Raises
    ------
    SledsimError
        As :class:`Design`; for ranges that are none.
    """
    base = {key: _located(key, value, beside) for key, value in found.get("base", {}).items()}
    parts = {
        part: {key: _located(key, _listed(part, key, given), beside) for key, given in keys.items()}
        for part in ("grid", "zip")
        if isinstance(keys := found.get(part), dict)
    }
    return Design(
        base,
        grid=parts.get("grid", found.get("grid")),
        zip=parts.get("zip", found.get("zip")),
        rows=found.get("rows"),
        exclude=found.get("exclude", ()),
    )


def _listed(part: str, key: str, given: object) -> object:
    """Return the values that a table ``{from, to, step}`` stands for; other values as they are."""
    if not isinstance(given, dict) or "base" in given:
        return given
    if set(given) != {"from", "to", "step"} or not all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in given.values()
    ):
        refuse(f"{part}: {key}", given, "a list, or a table with the numbers from, to and step")
    first, last, step = given["from"], given["to"], given["step"]
    if step <= 0 or last < first:
        refuse(f"{part}: {key}", given, "a range that rises: step above 0, to of at least from")
    count = int((last - first) / step + 1e-9) + 1
    return [first + number * step for number in range(count)]


_PATHS = ("device", "trace", "workload", "load", "scenario")


def _located(key: str, value: object, beside: Path | None) -> object:
    """Return a value with paths that are relative to the file made relative to here."""
    if beside is None or key not in _PATHS:
        return value
    if isinstance(value, list):
        return [_located(key, each, beside) for each in value]
    if isinstance(value, dict) and "base" in value:
        return {**value, "base": _located(key, value["base"], beside)}
    if isinstance(value, str):
        name, keys = _core.split_device_name(value) if key == "device" else (value, "")
        if (beside / name).is_file():
            return str(beside / name) + keys
    return value


def _hint(key: str) -> str:
    import difflib  # noqa: PLC0415 (only errors need it)

    near = difflib.get_close_matches(key, KEYS, n=1)
    return f"; did you mean '{near[0]}'?" if near else "; keys of the simulation are in [base]"
