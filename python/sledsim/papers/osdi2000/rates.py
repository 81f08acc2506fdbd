"""Sections 2.4.12 and 5.2: media rates."""

from sledsim.hardware import Sled
from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import parts


def track_rates_mb_s(device: Sled) -> list[float]:
    """Return the media rates of tracks in the first, the middle and the last cylinder."""
    shape = device.spec["derived"]
    blocks = shape["rows_per_track"] * shape["blocks_per_row"]
    last = shape["cylinders"] - 1
    lbns = [device.lbn(cylinder, 0, 0, 0) for cylinder in (0, last // 2, last)]
    return [512e-6 * blocks / device.access(lbn, blocks).transfer_s for lbn in lbns]


def simulate(*, quick: bool, setup: Setup) -> Found:  # nothing is run
    """Compare tracks."""
    sled = parts.sled(setup)
    rates = [zone.media_mb_s for zone in parts.disk(setup).zones()]
    tracks = track_rates_mb_s(sled)
    return Found(
        {
            "sled_mb_s": sled.spec["derived"]["streaming_mb_s"],
            "disk_outer_mb_s": max(rates),
            "disk_inner_mb_s": min(rates),
            "disk_bands_percent": 100 * (max(rates) / min(rates) - 1),
            "sled_bands_percent": 100 * (max(tracks) / min(tracks) - 1),
        }
    )
