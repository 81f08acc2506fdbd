"""Characteristics of loads and traces: table 2 of MSST 2005, burstiness, reuse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim._load import Load
from sledsim.hardware import Device, device_of
from sledsim.loads import load_info, trace_info, workload

if TYPE_CHECKING:
    from os import PathLike

COLUMNS = {
    "requests": "",
    "duration": "hours",
    "reads": "%",
    "mean_size": "KB",
    "working_set": "MB",
    "sequentiality": "%",
}
"""The columns of table 2 with their units; 1 KB is 1024 bytes, 1 MB is 1024 KB."""

PUBLISHED: dict[str, dict[str, float]] = {
    name: dict(zip(COLUMNS, values, strict=True))
    for name, values in {
        "tpcd": (238_971, 7, 100, 39.9, 1242, 72.7),
        "tpcc": (1_246_763, 2.5, 52.1, 8, 1006, 0),
        "cello": (1_088_407, 12, 28.7, 7.2, 775, 7.4),
        "hplajw": (308_788, 2, 60.3, 7.6, 376, 14.3),
    }.items()
}
"""Table 2 of msst2005."""
PUBLISHED["cello"]["writes_below_8kb"] = 52  # section 6.1, in %

CACHES_MB = (64, 128, 256, 512)
"""The sizes of MEMS in section 6.3."""

SHARES = (0.0625, 0.125, 0.25, 0.5)
"""Caches as shares of the units accessed, so that traces of all sizes can be compared."""

WINDOWS_S = (0.0625, 1.0, 16.0)
"""The windows in which arrivals are counted."""

_UNITS = COLUMNS | {"writes_below_8kb": "%"}
_FOLLOWED = 1 << 20
"""Units of 4 KiB that are followed exactly: 4 GB."""


@dataclass(frozen=True)
class Column:
    """One figure of a workload, as published and as measured."""

    workload: str
    quantity: str
    unit: str
    published: float
    found: float

    @property
    def relative_error(self) -> float:
        """Measured over published, less one; 0 or infinity if the published value is 0."""
        if self.published == 0:
            return 0.0 if self.found == 0 else math.inf
        return self.found / self.published - 1


def characteristics(
    source: Load | str | PathLike[str], *, on: Device | str | PathLike[str] | None = None
) -> dict[str, Any]:
    """Return the characteristics of an open load or a trace; nothing is simulated.

    A request is sequential if it starts where the request before of its stream ended, be that a
    read or a write: a part of a mix, or a device of a trace, is a stream. With
    ``recent_sequentiality`` any of the last 16 of its stream will do. The working set is what was
    accessed, in blocks of 512 bytes. Reuse counts units of 4 KiB.

    Parameters
    ----------
    source
        A load, or the path of a trace.
    on
        The device a load is laid on; that of msst2005 unless given.

    Returns
    -------
    dict
        The quantities of :data:`COLUMNS`; ``recent_sequentiality``, ``reads_below_8kb`` and
        ``writes_below_8kb`` in % (``None`` without any); ``read_sequentiality`` and
        ``write_sequentiality``, the shares of those, in %; ``index_of_dispersion`` of the arrivals
        by window in s (1 for Poisson arrivals); ``bias`` of the b-model by window, the share of
        the busier half of such windows (0.5 for Poisson arrivals); ``lru_miss_ratio`` by the MB
        of a cache that takes in reads and writes; ``lru_miss_ratio_of_set`` of caches that are
        such a share of all units accessed; and ``first_references``, the share of references
        that miss in any.

    Raises
    ------
    SledsimError
        For a trace that cannot be read, or a closed load.
    """
    if isinstance(source, Load):
        on = device_of("atlas10k-50mbps" if on is None else on)
        info = load_info(source, device=on, max_units=_FOLLOWED, picture=True)
    else:
        info = trace_info(source, max_units=_FOLLOWED, picture=True)
    sequential, reuse = info["sequential"], info["reuse"]
    scales = {scale["window_s"]: scale for scale in info["arrivals"]["scales"]}
    references = reuse["references"]
    return {
        "requests": info["requests"],
        "duration": info["duration_s"] / 3600,
        "reads": 100 * info["read_fraction"],
        "mean_size": info["sizes"]["all"]["mean_bytes"] / 1024,
        "working_set": info["footprint"]["accessed_bytes"] / 2**20,
        "sequentiality": 100 * info["sequential_fraction"],
        "recent_sequentiality": 100 * sequential["recent_fraction"],
        "read_sequentiality": _percent(sequential["read_fraction"]),
        "write_sequentiality": _percent(sequential["write_fraction"]),
        "reads_below_8kb": _below(info["size_histogram"], "reads"),
        "writes_below_8kb": _below(info["size_histogram"], "writes"),
        "index_of_dispersion": {
            window: scales[window]["index_of_dispersion"]
            for window in WINDOWS_S
            if window in scales
        },
        "bias": {window: scale["bias"] for window, scale in scales.items()},
        "lru_miss_ratio": {
            size: 1 - _hit_ratio(info["lru_curve"], size * 2**20) for size in CACHES_MB
        },
        "lru_miss_ratio_of_set": {
            share: 1 - _hit_ratio(info["lru_curve"], share * info["footprint"]["bytes"])
            for share in SHARES
        },
        "first_references": reuse["first_references"] / references if references else 0.0,
    }


def table2(name: str, source: Load | str | PathLike[str] | None = None) -> list[Column]:
    """Return the columns of table 2 of msst2005 for a workload, published and measured.

    Parameters
    ----------
    name
        ``"tpcd"``, ``"tpcc"``, ``"cello"`` or ``"hplajw"``.
    source
        What is compared with the published values; the workload of that name unless given.

    Raises
    ------
    KeyError
        For a name that is not in the table.
    SledsimError
        As :func:`characteristics`.
    """
    published = PUBLISHED[name]
    found = characteristics(workload(name) if source is None else source)
    return [
        Column(name, quantity, _UNITS[quantity], value, found[quantity] or 0.0)
        for quantity, value in published.items()
    ]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _below(histogram: list[dict[str, int]], operation: str) -> float | None:
    """Return the share of the requests below 8 KB, in %."""
    requests = sum(line[operation] for line in histogram)
    small = sum(line[operation] for line in histogram if line["to_bytes"] < 8192)
    return 100 * small / requests if requests else None


def _hit_ratio(curve: list[tuple[int, float]], cache_bytes: float) -> float:
    """Return the hit ratio of a cache of this size: the best up to it on the curve."""
    return max((ratio for size, ratio in curve if size <= cache_bytes), default=0.0)
