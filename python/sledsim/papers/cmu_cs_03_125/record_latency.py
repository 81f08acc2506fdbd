"""Section 5.2.6: the time to read one random record."""

from __future__ import annotations

import random
from statistics import fmean
from typing import TYPE_CHECKING

import sledsim as ss
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample

if TYPE_CHECKING:
    from collections.abc import Iterable


def latency_ms(tables: Iterable[ss.Table], reads: int) -> float:
    """Return the mean time to read a random record of each of some tables."""
    chance = random.Random(sample.SEED)
    return 1e3 * fmean(
        table.record(record).simulated_s
        for table in tables
        for record in sample.parked(table, reads, 1, chance)
    )


def simulate(*, quick: bool) -> Found:
    """Read records of every layout with a sled that wakes for each."""
    count = sample.QUICK_RECORDS if quick else sample.RECORDS
    reads = 20 if quick else 200
    vertical = ss.table(sample.records(count), sample.memstore(), "vertical")
    found = {
        "capsule": latency_ms(sample.tables("capsule"), reads),
        "normal": latency_ms(sample.tables("normal"), reads),
        "vertical": latency_ms([vertical], reads * sample.PLACES),
    }
    return Found({**found, "order": found, "page_ms": found["normal"] - found["capsule"]})
