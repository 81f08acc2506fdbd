"""Section 5.2.6: scans of vertical and capsule, and the first record of a scan."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.record_latency import latencies_ms

if TYPE_CHECKING:
    from sledsim.papers import Setup


@cache
def scanned(key: str, layout: str, count: int) -> dict[str, float]:
    """Load the sample table and scan each attribute; return seconds."""
    table = sample.sample(sample.setup_of(key), layout, count)
    return sample.scans(table, {name: (name,) for name in sample.WIDTHS})


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Scan each attribute in both layouts, and read records."""
    key = sample.table_key(setup)
    capsule, vertical = (
        scanned(key, layout, sample.QUICK_RECORDS) for layout in ("capsule", "vertical")
    )
    ratios = [vertical[name] / capsule[name] for name in sample.WIDTHS]
    return Found(
        {
            "similar": ratios,
            "first_order": latencies_ms(setup, quick=quick),
        },
        series={"capsule_s": capsule, "vertical_s": vertical},
    )
