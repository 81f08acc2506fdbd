"""Section 2.1: what share of the media fixed and moving media use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.capacity import gigabytes_per_cm2
from sledsim.papers.sigmetrics2000.devices import sled

if TYPE_CHECKING:
    from sledsim.papers import Setup

BLOCK_BYTES = 512


def simulate(*, quick: bool, setup: Setup) -> Found:  # nothing is run
    """Take areas and bits from the device of Table 1."""
    device = sled(setup)
    own = device.parameters
    region_cm2 = own["travel_x_um"] * own["travel_y_um"] * 1e-8
    addressed = own["tips"] * region_cm2
    if setup["addressed"] == "data":
        bits = own["tip_sector_bits"] + own["servo_bits"]
        addressed *= 8 * BLOCK_BYTES / own["tips_per_lbn"] / bits
    return Found(
        {
            "fixed_mb": 1e3 * setup["fixed_share"] * gigabytes_per_cm2(device),
            "addressed_percent": 100 * addressed,
        }
    )
