"""Section 3.2: the printed equations, and their corrections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sledsim import hardware
from sledsim.hardware import Parallelism, Sled
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.example import example
from sledsim.plots import bars

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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

    def place(self, shape: Parallelism, lbn: Any) -> tuple[Any, Any]:
        """Return ``x_l`` and ``y_l``: the first step."""
        row = lbn // shape.N_x % shape.S_y
        return lbn // shape.S_C, _turned(shape, row, lbn // shape.S_T)

    def block(self, shape: Parallelism, x: int, y: Any, i: Any) -> Any:
        """Return ``LBN_{l,i}``, the block in square ``i``: the second step."""
        tips = i // shape.N_x
        tracks = tips + x * (shape.N_y if self.sets_of_tips else 1)
        row = _turned(shape, y, tracks)
        cell = i % int(getattr(shape, self.remainder))
        return x * shape.S_C + cell + tips * shape.S_T + row * shape.N_x

    def equivalent(self, shape: Parallelism, lbns: Sequence[int]) -> Any:
        """Return the classes of some blocks of a column, over all columns that tips reach.

        They are the rows of an array.
        """
        xs, ys = self.place(shape, np.array(lbns)[:, np.newaxis])
        (x,) = set(xs.flat)
        columns = range(max(0, x - shape.M), min(shape.S_x, x + shape.M + 1))
        squares = np.arange(shape.N)
        return np.hstack([self.block(shape, column, ys, squares) for column in columns])


def _turned(shape: Parallelism, row: Any, track: Any) -> Any:
    """Return a row, counted from the other end on odd tracks."""
    return row + track % 2 * (shape.S_y - 1 - 2 * row)


PRINTED = Equations()
READINGS = {
    "remainder": Equations(remainder="N_x"),
    "parity": Equations(sets_of_tips=True),
    "both": Equations(remainder="N_x", sets_of_tips=True),
}
"""Corrections, by the names of the readings."""
ALL = {"printed": PRINTED} | READINGS


def mistaken_percent(device: Sled, columns: Iterable[int]) -> dict[str, float]:
    """Return the shares of wrong LBNs in the classes of some columns, in %, of all equations."""
    shape = device.parallelism
    wrong, blocks = dict.fromkeys(ALL, 0), 0
    for x in columns:
        lbns = [device.lbn(x, 0, y, 0) for y in range(shape.S_y)]
        true = np.array([device.equivalent(lbn) for lbn in lbns])
        blocks += true.size
        for name, one in ALL.items():
            own = one.equivalent(shape, lbns)
            wrong[name] += int(np.count_nonzero(np.not_equal(own, true)))
    return {name: 100 * each / blocks for name, each in wrong.items()}


def checked_columns(device: Sled, *, quick: bool) -> range:
    """Return the columns of the large device whose classes are compared."""
    return range(40) if quick else range(device.parallelism.S_x)


@cache
def misplaced_percent(*, quick: bool) -> float:
    """Return the share of LBNs of some columns that the first step misplaces, in %."""
    device = hardware.device("cmu2003")
    shape, columns = device.parallelism, checked_columns(device, quick=quick)
    some = columns[:: len(columns) // 20]
    lbns = [x * shape.S_C + offset for x in some for offset in range(shape.S_C)]
    places = [(device.locate(lbn), PRINTED.place(shape, lbn)) for lbn in lbns]
    wrong = sum((true.cylinder, true.row) != own for true, own in places)
    return 100 * wrong / len(lbns)


@cache
def mistaken(*, quick: bool) -> dict[str, dict[str, float]]:
    """Return the shares of mistaken LBNs of both devices by the keys of the values, of all."""
    small, g2 = example(), hardware.device("cmu2003")
    simple = mistaken_percent(small, range(small.parallelism.S_x))
    large = mistaken_percent(g2, checked_columns(g2, quick=quick))
    return {name: {"simple_percent": simple[name], "g2_percent": large[name]} for name in ALL}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Evaluate the equations of a set-up against the map of the device."""
    own = setup["equations"]
    equations = Equations(remainder=own["divisor"], sets_of_tips=own["all_tracks"])
    g2 = hardware.device("cmu2003")
    lowest, highest = g2.boundaries(g2.blocks // 2)
    wider = example(micropositioning_cylinders=1)
    far = hardware.device("cmu2003", micropositioning_cylinders=REACH)
    shown = {name: one for name, one in ALL.items() if equations in (one, PRINTED)}
    series = {name: mistaken(quick=quick)[name] for name in shown}
    return Found(
        {
            "place_percent": misplaced_percent(quick=quick),
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
