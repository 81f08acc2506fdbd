"""Section 2.4.2: settling and seek times."""

from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import parts

EDGE_M = 50e-6


def simulate(*, quick: bool, setup: Setup) -> Found:  # nothing is run
    """Take the seek curves of both devices."""
    sled, disk = parts.sled(setup), parts.disk(setup)
    bit_m = 1e-9 * sled.parameters["bit_cell_nm"]
    curve_ms = disk.seek_curve_ms()[1:]
    return Found(
        {
            "settle_ms": sled.spec["derived"]["settle_ms"],
            "seek_min_ms": 1e3 * sled.seek((0, 0, "up"), (bit_m, 0, "up")).x_seek_s,
            "seek_max_ms": 1e3 * sled.seek((-EDGE_M, 0, "up"), (EDGE_M, 0, "up")).x_seek_s,
            "disk_settle_ms": disk.parameters["write_settle_ms"],
            "disk_seek_min_ms": min(curve_ms),
            "disk_seek_max_ms": max(curve_ms),
        }
    )
