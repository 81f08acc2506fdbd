"""Names of keys and results in plain words, with their units."""

from __future__ import annotations

import re

from sledsim.results.causes import CAUSES

_UNITS = {
    "ms_per_block": "ms per block",
    "m_s2": "m/s\u00b2",
    "mm_s": "mm/s",
    "m_s": "m/s",
    "mb_s": "MB/s",
    "iops": "requests/s",
    "per_s": "per s",
    "us": "\u00b5s",
    "ms": "ms",
    "s": "s",
    "rpm": "revolutions/min",
    "hz": "Hz",
    "khz": "kHz",
    "um": "\u00b5m",
    "nm": "nm",
    "j": "J",
    "w": "W",
    "mw": "mW",
    "kib": "KiB",
    "mib": "MiB",
    "gb": "GB",
    "bytes": "bytes",
    "percent": "%",
}
"""Units by the ends of names."""
_OF_KEYS = {"rate": "requests/s"}
"""Units of keys whose names do not tell them."""
_STATISTICS = {
    "mean": "mean {}",
    "sd": "standard deviation of the {}",
    "scv": "squared variation of the {}",
    "p50": "median {}",
    "max": "longest {}",
}
_WITHOUT_UNIT = {"scv"}
_GROUPS = {"device", "result", "part", "layout", "cache"}
"""Groups of keys and results that go without saying."""
_TIMES = {*CAUSES, "x_seek", "y_seek", "settle", "turnaround", "recovery"}
_PERCENTILE = re.compile(r"p(\d\d)(?:_(\d+))?", re.ASCII)


def label(name: str) -> str:
    """Return the label of an axis: ``mean response time, ms`` of ``response_time_ms.mean``.

    Parameters
    ----------
    name
        A key of a study, or a column of its results.
    """
    words, unit = described(name)
    return f"{words}, {unit}" if unit else words


def described(name: str) -> tuple[str, str]:
    """Return a key or a result in plain words, and its unit; ``""`` for none."""
    first, *rest = name.split(".")
    if rest and first in _GROUPS:
        first, *rest = rest
    stem, unit = _unit(first)
    words = stem.replace("_", " ")
    if not rest:
        return words, unit or _OF_KEYS.get(name, "")
    last = rest[-1]
    if stem in _TIMES:
        words += " time"
    if len(rest) == 1 and (statistic := _statistic(last)):
        return statistic.format(words), "" if last in _WITHOUT_UNIT else unit
    if len(rest) == 1 and stem == "energy":
        return f"{last.replace('_', ' ')} energy", unit
    further, of_it = described(".".join(rest))
    return f"{words}: {further}", of_it or unit


def _unit(name: str) -> tuple[str, str]:
    for end, unit in _UNITS.items():
        if name.endswith(f"_{end}"):
            return name.removesuffix(f"_{end}"), unit
    return name, ""


def _statistic(name: str) -> str | None:
    match = _PERCENTILE.fullmatch(name)
    if match and name not in _STATISTICS:
        share = ".".join(part for part in match.groups() if part)
        return f"{share}th percentile of the {{}}"
    return _STATISTICS.get(name)
