"""Reads and writes of 4 KB, one at a time, on sleds with faults, for section 6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._load import Load
from sledsim.loads import workload
from sledsim.papers import run_of
from sledsim.papers.osdi2000 import parts
from sledsim.papers.power import column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.papers import Setup

SIZE_KIB = 4
IN_ROWS = 10
"""Requests that begin at multiples of so many blocks lie within a row of 20."""


def small(requests: int, read_fraction: float, blocking: int = 8) -> Load:
    """Return requests of 4 KB at uniform places, one after the other."""
    return workload(
        requests=requests,
        read_fraction=read_fraction,
        size="fixed",
        mean_size_kib=SIZE_KIB,
        blocking=blocking,
    )


def passes(
    setup: Setup, requests: int, faults: Mapping[str, Any], read_fraction: float = 1
) -> tuple[list[float], Mapping[str, int]]:
    """Return what passes that are made again add to each request, in ms, and the counts.

    Requests lie within rows.
    """
    load = small(requests, read_fraction, IN_ROWS)
    run = run_of(load, parts.sled(setup, faults=dict(faults)))
    counts: Mapping[str, int] = run.summary["devices"][0]["counts"]
    return [ns / 1e6 for ns in column(run.rows, "retry_ns")], counts
