"""Section 5.2.3: other tables in the tracks that capsules leave empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim import tables
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.figure6 import WIDTHS
from sledsim.papers.cmu_cs_03_125.memstore import memstore
from sledsim.tables import Table

if TYPE_CHECKING:
    from sledsim.papers import Setup

CYLINDERS = 10
CAPSULE_BLOCKS = 3


def blocks_of(table: Table) -> set[int]:
    """Return all blocks that hold records."""
    ranges = [pair for name in table.schema_names for pair in table.lbns(name)]
    return {lbn for first, last in ranges for lbn in range(first, last + 1)}


def simulate(*, quick: bool, setup: Setup) -> Found:  # places only
    """Fill the gaps between unsplit capsules with tables of one column."""
    device = memstore(setup)
    shape = device.parallelism
    groups = shape.N_y // CAPSULE_BLOCKS * CYLINDERS
    data = sample.records(64 * shape.S_T * groups, WIDTHS)
    capsules = tables.table(data, device, "capsule", page_header_bytes=0, split=False)
    own = blocks_of(capsules)
    left = set(range(CYLINDERS * shape.S_C)) - own
    column = sample.records(64 * shape.S_T, {"a1": 8})
    others: set[int] = set()
    for track in sorted({lbn // shape.S_T for lbn in left}):
        first = track * shape.S_T
        others |= blocks_of(
            tables.table(column, device, "vertical", page_header_bytes=0, first_lbn=first)
        )
    return Found(
        {
            "filled_percent": 100 * len(left & others) / len(left),
            "shared_blocks": len(own & others),
        }
    )
