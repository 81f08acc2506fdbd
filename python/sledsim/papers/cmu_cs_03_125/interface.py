"""Section 3.4: the functions of the interface, what links mean, and both over SCSI."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.equations import Equations
from sledsim.papers.cmu_cs_03_125.memstore import memstore, run, times_ns
from sledsim.papers.cmu_cs_03_125.scsi import OverScsi, mistaken, over_scsi

if TYPE_CHECKING:
    from sledsim.papers import Setup

OTHERS_AT_US = (5, 45, 95)
"""Arrivals of the other host's commands among those of the batch, one every 10 us."""
CLASS_OF, OTHER = 3_000_000, 100
NO_TARGET = "This system has no emulator: the device itself stands for a SCSI target."


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Link ten commands of a class while another host's arrive, without SCSI and with it."""
    device = memstore(setup, bus_ms_per_block=0)  # so that a read ends with its last row
    shape = device.parallelism
    own = device.equivalent(CLASS_OF)[:: shape.N // shape.p]
    reads = [(10 * at, 0, lbn, 1, at < shape.p - 1) for at, lbn in enumerate(own)]
    reads = sorted(reads + [(at, 1, OTHER, 1, False) for at in OTHERS_AT_US])
    by_host: dict[int, list[tuple[int, int]]] = {0: [], 1: []}
    for served, (_, host, *_) in zip(times_ns(run(reads, device)), reads, strict=True):
        by_host[host].append(served)
    begin, end = min(by_host[0])[0], max(end for _, end in by_host[0])
    between = sum(begin < start < end for start, _ in by_host[1])
    passes = len({start for start, _ in by_host[0]})
    last = device.boundaries(0)[1]
    keys, sample = setup["equations"], 20 if quick else 1000
    equations = Equations(remainder=keys["divisor"], sets_of_tips=keys["all_tracks"])
    has_target = sys.platform == "linux"
    scsi = (
        over_scsi(device, equations, own, OTHER, sample)
        if has_target
        else OverScsi(
            shape.p, last, *mistaken(device, device.blocks, equations, sample), passes, between
        )
    )
    return Found(
        {
            "parallelism": shape.p,
            "boundaries_last": last,
            "linked_between": between,
            "linked_passes": passes,
            "mode_sense": scsi.parallelism,
            "read_capacity": scsi.track_end,
            "link_bit": scsi.passes,
            "link_bit_between": scsi.between,
            "host_equivalent": scsi.wrong_blocks,
            "host_conflicting": scsi.wrong_pairs,
        },
        note="" if has_target else NO_TARGET,
    )
