"""Section 5.2.5: the scan operator returns what was loaded."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample

if TYPE_CHECKING:
    from sledsim.papers import Setup
    from sledsim.tables import Table

LAYOUTS = ("normal", "vertical", "capsule")


def wrong(table: Table, scans: int) -> int:
    """Return how many scans of random ranges and subsets return other data than were loaded."""
    import pyarrow as pa  # an extra

    chance, data, failed = random.Random(sample.SEED), sample.records(len(table)), 0
    for _ in range(scans):
        names = chance.sample(list(sample.WIDTHS), chance.randint(1, len(sample.WIDTHS)))
        first = chance.randrange(len(table))
        count = chance.randint(1, len(table) - first)
        found = pa.table(table.scan(names, first, count).data)
        failed += not found.equals(data.select(names).slice(first, count))
    return failed


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Scan random ranges for random subsets of the attributes in every layout."""
    tables = [sample.sample(setup, layout, 100_003) for layout in LAYOUTS]
    return Found({"ranges_wrong": sum(wrong(table, 10 if quick else 200) for table in tables)})
