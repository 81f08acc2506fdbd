"""Studies as TOML files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import MOST_ITEMS, placed, refuse
from sledsim._core import SledsimError
from sledsim._input_files import content, is_file, toml
from sledsim.studies.design import Design

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

KEYS = ("title", "experiment", "replications", "base", "grid", "zip", "rows", "exclude", "plot")
"""What a file of a study may have at its top."""
_KINDS: dict[str, Any] = dict(
    zip(KEYS, (str, str, int, dict, dict, dict, list, list, dict), strict=True)
)
_MUST = {
    str: "text",
    int: "an integer",
    dict: "a table of keys",
    list: "a list of tables of keys",
}
_PLOT = ("x", "y", "by")


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a file of a study."""
    file = Path(path)
    try:
        found = toml(content(file))
    except OSError as error:
        raise SledsimError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SledsimError(f"{file}: is no TOML: {error}") from None
    for key, value in found.items():
        if key not in KEYS:
            raise placed(
                SledsimError,
                f"{file}: unknown key '{key}'; a study has {', '.join(KEYS)}{_hint(key)}",
                file=file,
                key=key,
            )
        kind = _KINDS[key]
        if type(value) is not kind or (
            kind is list and not all(isinstance(each, dict) for each in value)
        ):
            refuse(key, value, _MUST[kind], file)
    for key, value in found.get("plot", {}).items():
        if key not in _PLOT or not isinstance(value, str):
            must = f"one of the keys {', '.join(_PLOT)}, with the name of a column"
            refuse(f"plot.{key}", value, must, file)
    return found


def design(found: Mapping[str, Any], beside: Path | None = None) -> Design:
    """Return the design of a file.

    Parameters
    ----------
    found
        What :func:`read` returns.
    beside
        The folder that paths of devices, traces and scenarios in it are relative to.
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
    try:
        rises = all(map(math.isfinite, (first, last, step))) and step > 0
        count = (last - first) / step + 1e-9 if rises else math.nan
    except OverflowError:  # of integers beyond all floats
        count = math.nan
    if not (math.isfinite(count) and count >= 0):
        must = "a range that rises: finite numbers, step above 0, to of at least from"
        refuse(f"{part}: {key}", given, must)
    if count >= MOST_ITEMS:
        refuse(f"{part}: {key}", given, f"a range of at most {MOST_ITEMS:,} values")
    return [first + number * step for number in range(int(count) + 1)]


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
        if is_file(beside / name):
            return str(beside / name) + keys
    return value


def _hint(key: str) -> str:
    import difflib  # only errors need it

    near = difflib.get_close_matches(key, KEYS, n=1)
    return f"; did you mean '{near[0]}'?" if near else "; keys of the simulation are in [base]"
