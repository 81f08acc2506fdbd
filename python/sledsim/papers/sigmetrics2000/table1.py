"""Table 1: the parameters of the default device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.hardware import Device
from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.devices import sled

if TYPE_CHECKING:
    from sledsim.papers import Setup


def parameters(device: Device) -> dict[str, float]:
    """Return the parameters of a device as in the table, and the derived capacity."""
    own, derived = device.parameters, device.spec["derived"]
    (travel_um,) = {own["travel_x_um"], own["travel_y_um"]}
    (acceleration_m_s2,) = {own["acceleration_x_m_s2"], own["acceleration_y_m_s2"]}
    block = 512
    return {
        "mobility_um": travel_um,
        "bit_nm": own["bit_cell_nm"],
        "bit_area_um2": (own["bit_cell_nm"] / 1000) ** 2,
        "tips": own["tips"],
        "active_tips": own["active_tips"],
        "tip_sector_bits": own["tip_sector_bits"],
        "tip_sector_bytes": block / own["tips_per_lbn"],
        "servo_bits": own["servo_bits"],
        "capacity_gbyte": derived["capacity_bytes"] / 2**30,
        "acceleration_m_s2": acceleration_m_s2,
        "tip_rate_kbit_s": own["tip_rate_kbit_s"],
        "settling_constants": own["settling_constants"],
        "resonance_hz": own["resonance_hz"],
        "spring_factor": 100 * own["spring_factor"],
    }


def simulate(*, quick: bool, setup: Setup) -> Found:  # nothing is run
    """Take the parameters out of the preset."""
    return Found(parameters(sled(setup)))
