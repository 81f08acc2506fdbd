"""Section 8: what is concluded about layouts."""

from __future__ import annotations

import random
from statistics import fmean

from sledsim.hardware import Sled
from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import figure9, figure11, parts

BLOCKS, COLUMN = 512, 100
SEED = 1
AROUND = [(column, row) for row in (1, 2, 3) for column in (1, 2, 3)]
"""The centremost square of Figure 9, and those around it."""


def large_ms(device: Sled, setup: Setup, columns: list[range], samples: int) -> float:
    """Return the mean time of large reads in some cylinders, from places in the centre square."""
    shape = device.spec["derived"]
    per_cylinder = shape["blocks"] // shape["cylinders"]
    half_m = 1e-9 * device.parameters["bit_cell_nm"] * setup["square_bits"] / 2
    chance = random.Random(SEED)
    times = []
    for sample in range(samples):
        start = (
            chance.uniform(-half_m, half_m),
            chance.uniform(-half_m, half_m),
            chance.choice(("up", "down")),
        )
        block, place = chance.randrange(per_cylinder), chance.random()
        column = columns[sample % len(columns)]
        lbn = column[int(place * len(column))] * per_cylinder + block
        times.append(1e3 * device.access(lbn, BLOCKS, start=start).total_s)
    return fmean(times)


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read large data far out, small data in squares, and both in layouts."""
    device = parts.sled(setup)
    last = device.spec["derived"]["cylinders"] - 1  # a read may reach into it, and begins before
    samples, middle = 4000 if quick else 40_000, last // 2
    centre = [range(middle - COLUMN // 2, middle + COLUMN // 2)]
    far = [range(COLUMN), range(last - COLUMN, last)]
    near_ms, far_ms, any_ms = (
        large_ms(device, setup, columns, samples) for columns in (centre, far, [range(last)])
    )
    squares = figure9.grid(setup, AROUND, 500 if quick else 2_500)[figure9.SETTLED]
    centremost = squares.pop(figure9.CENTRE)
    layouts = figure11.layouts_ms(parts.bare_sled(setup), 5 if quick else 20, setup)
    best = min(layouts[name] for name in (figure11.COLUMNS, figure11.SUBREGIONS))
    return Found(
        {
            "farthest_percent": 100 * (far_ms / near_ms - 1),
            "anywhere_percent": 100 * (any_ms / near_ms - 1),
            "small_ms": {"centremost": centremost, "around it": fmean(squares.values())},
            "most_percent": figure11.gain(best, layouts[figure11.SIMPLE]),
        }
    )
