"""Section 3.4: the functions of the interface, and what links mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.memstore import memstore, run, times_ns

if TYPE_CHECKING:
    from sledsim.papers import Setup

OTHERS_AT_US = (5, 45, 95)
"""Arrivals of the other host's commands among those of the batch, one every 10 us."""
CLASS_OF, OTHER = 3_000_000, 100


def simulate(*, quick: bool, setup: Setup) -> Found:  # noqa: ARG001 (a dozen commands)
    """Link ten commands of a class while another host's arrive."""
    device = memstore(setup, bus_ms_per_block=0)  # so that a read ends with its last row
    shape = device.parallelism
    own = device.equivalent(CLASS_OF)[:: shape.N // shape.p]
    reads = [(10 * at, 0, lbn, 1, at < shape.p - 1) for at, lbn in enumerate(own)]
    reads = sorted(reads + [(at, 1, OTHER, 1, False) for at in OTHERS_AT_US])
    by_host: dict[int, list[tuple[int, int]]] = {0: [], 1: []}
    for served, (_, host, *_) in zip(times_ns(run(reads, device)), reads, strict=True):
        by_host[host].append(served)
    begin, end = min(by_host[0])[0], max(end for _, end in by_host[0])
    return Found(
        {
            "parallelism": shape.p,
            "boundaries_last": device.boundaries(0)[1],
            "linked_between": sum(begin < start < end for start, _ in by_host[1]),
            "linked_passes": len({start for start, _ in by_host[0]}),
        }
    )
