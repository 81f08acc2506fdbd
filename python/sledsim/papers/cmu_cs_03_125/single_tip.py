"""Sections 2.1 and 2.2: one tip for a sector, and the tips that a watt feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.memstore import memstore
from sledsim.papers.cmu_cs_03_125.table1 import seek_ms
from sledsim.papers.cmu_cs_03_125.utilization import budget_tips

if TYPE_CHECKING:
    from sledsim.hardware import Sled
    from sledsim.papers import Setup

BUDGET_MW, DEAR_MW, CHEAP_MW = 1000, 3, 1


def sector_ms(device: Sled, bits: str) -> float:
    """Return the time of one tip for a block: encoded, or the bits of the user alone."""
    keys = device.parameters
    if bits == "user":
        return float(512 * 8 / keys["tip_rate_kbit_s"])
    return float(keys["tips_per_lbn"] * device.spec["derived"]["row_time_ms"])


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Compare the time of a tip for a sector with a mean seek."""
    device = memstore(setup)
    seek = seek_ms(device, 50_000 if quick else 1_000_000)
    share = 100 / device.parameters["tips"]
    return Found(
        {
            "sector_seeks": sector_ms(device, setup["sector"]["bits"]) / seek,
            "least_percent": share * budget_tips(device, BUDGET_MW, DEAR_MW),
            "most_percent": share * budget_tips(device, BUDGET_MW, CHEAP_MW),
        }
    )
