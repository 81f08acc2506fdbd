"""Section 2: capacities that follow from the size of a bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim import hardware
from sledsim.hardware import Device
from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.devices import sled

if TYPE_CHECKING:
    from sledsim.papers import Setup

BLOCK_BITS = 8 * 512


def gigabytes_per_cm2(device: Device) -> float:
    """Return the capacity of a square centimetre of bits, coded as on the device."""
    own = device.parameters
    coded_bits = own["tip_sector_bits"] * own["tips_per_lbn"]
    bits = (1e7 / own["bit_cell_nm"]) ** 2
    return float(bits * BLOCK_BITS / coded_bits / 8 / 1e9)


def simulate(*, quick: bool, setup: Setup) -> Found:  # nothing is run
    """Take the sizes of bits from the devices of the paper and of the third generation."""
    default, dense = sled(setup), hardware.device("g3")
    own = default.parameters
    row_bits = own["tip_sector_bits"] + own["servo_bits"]
    data_bytes = 512 / own["tips_per_lbn"]
    return Found(
        {
            "overhead_bits": own["tip_sector_bits"] / data_bytes - 8,
            "gigabytes_50nm": gigabytes_per_cm2(default),
            "gigabytes_30nm": gigabytes_per_cm2(dense),
            "region_bits": default.spec["derived"]["cylinders"],
            "servo_percent": 100 * own["servo_bits"] / row_bits,
        }
    )
