"""Section 3.2: the printed equations, and their corrections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sledsim as ss
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.example import example
from sledsim.plots import bars

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from sledsim.papers import Setup

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
"""Corrections, by the names of the readings."""


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


def mistaken(equations: Equations, *, quick: bool) -> dict[str, float]:
    """Return the shares of mistaken LBNs of both devices, by the keys of the values."""
    simple, g2 = example(), ss.device("cmu2003")
    columns = range(40) if quick else range(g2.parallelism.S_x)
    return {
        "simple_percent": mistaken_percent(equations, simple, range(simple.parallelism.S_x)),
        "g2_percent": mistaken_percent(equations, g2, columns),
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Evaluate the equations of a set-up against the map of the device."""
    own = setup["equations"]
    equations = Equations(remainder=own["divisor"], sets_of_tips=own["all_tracks"])
    g2 = ss.device("cmu2003")
    columns = range(40) if quick else range(g2.parallelism.S_x)
    lowest, highest = g2.boundaries(g2.blocks // 2)
    wider = example(micropositioning_cylinders=1)
    far = ss.device("cmu2003", micropositioning_cylinders=REACH)
    shown = {
        name: one
        for name, one in ({"printed": PRINTED} | READINGS).items()
        if equations in (one, PRINTED)
    }
    series = {name: mistaken(one, quick=quick) for name, one in shown.items()}
    return Found(
        {
            "place_percent": misplaced_percent(g2, columns[:: len(columns) // 20]),
            **next(series[name] for name, one in shown.items() if one == equations),
            "class_blocks": len(g2.equivalent(g2.blocks // 2)),
            "most_blocks": max(len(wider.equivalent(lbn)) for lbn in range(wider.blocks)),
            "far_blocks": len(far.equivalent(far.blocks // 2)),
            "track_blocks": highest - lowest,
        },
        series=series,
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
    devices = {"simple_percent": "device of Table 2", "g2_percent": "device of Table 3"}
    series = {
        label: [each[key] for each in found.series.values()] for key, label in devices.items()
    }
    bars.grouped(axes, [LABELS[name] for name in found.series], series, "{:.3g}".format)
    axes.set(ylabel="mistaken LBNs (%)", ylim=(0, 110))
