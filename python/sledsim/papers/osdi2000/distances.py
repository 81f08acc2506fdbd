"""Section 2.4.4: short seeks and turnarounds by their place."""

from statistics import fmean

from sledsim.hardware import Sled
from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import parts

DISTANCE = 100
"""Cylinders, or bits."""
PLACES = 8


def x_ms(device: Sled, near_m: float, far_m: float) -> float:
    """Return the mean time of a move outwards and back."""
    ends = ((near_m, 0.0, "up"), (far_m, 0.0, "up"))
    return 1e3 * fmean(device.seek(one, other).x_seek_s for one, other in (ends, ends[::-1]))


def y_ms(device: Sled, near_m: float, far_m: float) -> float:
    """Return the mean time of moves outwards and back, from and to all directions."""
    ways = ("up", "down")
    return 1e3 * fmean(
        device.seek((0, start, before), (0, end, after)).seek_s
        for start, end in ((near_m, far_m), (far_m, near_m))
        for before in ways
        for after in ways
    )


def simulate(*, quick: bool, setup: Setup) -> Found:  # nothing is run
    """Move at the centre and at the edges."""
    device = parts.sled(setup)
    own = device.parameters
    length_m = 1e-9 * own["bit_cell_nm"] * DISTANCE
    edge_m = 1e-6 * own["travel_x_um"] / 2
    half_m = length_m / 2
    places = [place * (edge_m - half_m) / (PLACES - 1) for place in range(PLACES)]
    x = [x_ms(device, place - half_m, place + half_m) for place in places]
    y = [y_ms(device, place - half_m, place + half_m) for place in (0, edge_m - half_m)]
    turns = {
        name: 1e3 * device.seek((0, y_m, "up"), (0, y_m, "down")).turnaround_s
        for name, y_m in (
            ("edge, outwards", edge_m),
            ("centre", 0.0),
            ("edge, inwards", -edge_m),
        )
    }
    return Found(
        {
            "short_x_ms": {"centre": x[0], "edge": x[-1]},
            "by_place_ms": x,
            "short_y_ms": {"centre": y[0], "edge": y[1]},
            "turnaround_ms": turns,
        }
    )
