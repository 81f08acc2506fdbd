"""Section 3.2: the printed equations, and their corrections."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sledsim as ss
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.example import example

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

GEOMETRIES, SEED = 20, 1
"""Random devices of either kind."""
REACH = 5
"""Cylinders of micropositioning in section 2.2."""


@dataclass(frozen=True)
class Equations:
    """A reading of the equations; as printed without changes."""

    remainder: str = "S_x"
    """Divisor of ``i`` for its place in the row."""
    sets_of_tips: bool = False
    """Whether the parity of ``LBN_{l,i}`` counts all tracks before, as that of ``y_l`` does."""

    def place(self, shape: ss.Parallelism, lbn: int) -> tuple[int, int]:
        """Return ``x_l`` and ``y_l``: the first step."""
        row = lbn // shape.N_x % shape.S_y
        upwards = lbn // shape.S_T % 2 == 0
        return lbn // shape.S_C, row if upwards else shape.S_y - 1 - row

    def block(self, shape: ss.Parallelism, x: int, y: int, i: int) -> int:
        """Return ``LBN_{l,i}``, the block in square ``i``: the second step."""
        tips = i // shape.N_x
        tracks = tips + x * (shape.N_y if self.sets_of_tips else 1)
        row = y if tracks % 2 == 0 else shape.S_y - 1 - y
        cell = i % int(getattr(shape, self.remainder))
        return x * shape.S_C + cell + tips * shape.S_T + row * shape.N_x

    def equivalent(self, shape: ss.Parallelism, lbn: int) -> list[int]:
        """Return the class of a block, over all columns that tips reach on the sled."""
        x, y = self.place(shape, lbn)
        columns = range(max(0, x - shape.M), min(shape.S_x, x + shape.M + 1))
        return [self.block(shape, column, y, i) for column in columns for i in range(shape.N)]


PRINTED = Equations()
READINGS = {
    "remainder": Equations(remainder="N_x"),
    "parity": Equations(sets_of_tips=True),
    "both": Equations(remainder="N_x", sets_of_tips=True),
}
"""Corrections, by the names of the hypotheses."""


def mistaken_percent(equations: Equations, device: ss.Sled, columns: Iterable[int]) -> float:
    """Return the share of wrong LBNs in the classes of some columns, in %."""
    shape = device.parallelism
    wrong = blocks = 0
    for x in columns:
        for y in range(shape.S_y):
            own = equations.equivalent(shape, device.lbn(x, 0, y, 0))
            true = device.equivalent(device.lbn(x, 0, y, 0))
            wrong += sum(one != other for one, other in zip(own, true, strict=True))
            blocks += len(true)
    return 100 * wrong / blocks


def misplaced_percent(device: ss.Sled, columns: Iterable[int]) -> float:
    """Return the share of LBNs of some columns that the first step misplaces, in %."""
    shape = device.parallelism
    lbns = [x * shape.S_C + offset for x in columns for offset in range(shape.S_C)]
    places = [(device.locate(lbn), PRINTED.place(shape, lbn)) for lbn in lbns]
    wrong = sum((true.cylinder, true.row) != own for true, own in places)
    return 100 * wrong / len(lbns)


def geometries(parity: int) -> Iterable[ss.Sled]:
    """Yield small devices with an odd or even number of squares in Y, some micropositioned."""
    chance = random.Random(SEED)
    own = ss.device("cmu2003").parameters
    bit_um, tips = own["bit_cell_nm"] / 1000, own["tips_per_lbn"]
    row_bits = own["servo_bits"] + own["tip_sector_bits"]
    for _ in range(GEOMETRIES):
        cells, sets = chance.randint(1, 7), 2 * chance.randint(1, 4) - parity
        columns, rows = chance.randint(1, 7), chance.randint(1, 7)
        yield ss.device(
            "cmu2003",
            tips=cells * sets * tips,
            active_tips=cells * tips,
            travel_x_um=columns * bit_um,
            travel_y_um=(rows * row_bits + own["servo_bits"]) * bit_um,
            micropositioning_cylinders=chance.randint(0, 2),
        )


def mean_percent(equations: Equations, devices: Iterable[ss.Sled]) -> float:
    """Return the mean share of mistaken LBNs over devices, each with all its columns."""
    shares = [
        mistaken_percent(equations, device, range(device.parallelism.S_x)) for device in devices
    ]
    return sum(shares) / len(shares)


def simulate(*, quick: bool) -> Found:
    """Evaluate the equations, as printed and corrected, against the map of the device."""
    simple, g2 = example(), ss.device("cmu2003")
    first = range(40) if quick else range(g2.parallelism.S_x)
    shape = simple.parallelism

    def mistaken(equations: Equations) -> dict[str, float]:
        return {
            "simple_percent": mistaken_percent(equations, simple, range(shape.S_x)),
            "g2_percent": mistaken_percent(equations, g2, first),
        }

    both = READINGS["both"]
    lowest, highest = g2.boundaries(g2.blocks // 2)
    wider = example(micropositioning_cylinders=1)
    far = ss.device("cmu2003", micropositioning_cylinders=REACH)
    found = mistaken(PRINTED)
    corrected = {name: mistaken(equations) for name, equations in READINGS.items()}
    return Found(
        {
            "place_percent": misplaced_percent(g2, first[:: len(first) // 20]),
            **found,
            "odd_percent": mean_percent(both, geometries(1)),
            "even_percent": mean_percent(both, geometries(0)),
            "class_blocks": len(g2.equivalent(g2.blocks // 2)),
            "most_blocks": max(len(wider.equivalent(lbn)) for lbn in range(wider.blocks)),
            "far_blocks": len(far.equivalent(far.blocks // 2)),
            "track_blocks": highest - lowest,
        },
        hypotheses=corrected,
        series={"printed": found, **corrected},
    )


LABELS = {
    "printed": "as printed",
    "remainder": "i % N_x",
    "parity": "parity",
    "both": "both corrected",
}


def draw(figure: Figure, found: Found) -> None:
    """Draw the share of mistaken LBNs for every reading and both devices."""
    axes = figure.add_subplot()
    devices = {"simple_percent": "Table 2", "g2_percent": "Table 3"}
    for number, (key, label) in enumerate(devices.items()):
        places = [reading + 0.36 * number - 0.18 for reading in range(len(LABELS))]
        heights = [found.series[reading][key] for reading in LABELS]
        bars = axes.bar(places, heights, 0.34, label=f"device of {label}")
        axes.bar_label(bars, fmt="%.3g", padding=2, fontsize=8)
    axes.set_xticks(range(len(LABELS)), list(LABELS.values()))
    axes.set(ylabel="mistaken LBNs (%)", ylim=(0, 110))
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside upper center", ncols=2)
