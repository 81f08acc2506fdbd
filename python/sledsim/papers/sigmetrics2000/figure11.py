"""Figure 11: turnaround time at every displacement, with and without springs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.hardware import Sled
from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.devices import sled
from sledsim.plots import curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

EDGE_UM = 50
PLACES_UM = range(-EDGE_UM, EDGE_UM + 1)


def turnarounds_ms(device: Sled) -> list[float]:
    """Turn around at each place, moving up."""
    places_m = [1e-6 * place for place in PLACES_UM]
    return [1e3 * device.seek((0, y_m, "up"), (0, y_m, "down")).turnaround_s for y_m in places_m]


def simulate(*, quick: bool, setup: Setup) -> Found:  # it takes no time
    """Turn around with the springs of Table 1 and without any."""
    springs = turnarounds_ms(sled(setup))
    none = turnarounds_ms(sled(setup, spring_factor=0))
    change = [with_ms - without_ms for with_ms, without_ms in zip(springs, none, strict=True)]
    return Found(
        {
            "springs_ms": springs,
            "none_ms": none,
            "change_ms": [ms for place, ms in zip(PLACES_UM, change, strict=True) if place],
            "edges_ms": {"helping": -change[-1], "hurting": change[0]},
        },
        series={"place_um": list(PLACES_UM), "springs_ms": springs, "none_ms": none},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw both curves."""
    axes = figure.add_subplot()
    axes.set(xlabel="displacement (um), moving in positive direction")
    axes.set(ylabel="turnaround time (ms)")
    names = {"springs of 75 %": "springs_ms", "no springs": "none_ms"}
    places = found.series["place_um"]
    drawn = {label: (places, found.series[key]) for label, key in names.items()}
    curves.draw(axes, drawn, markers=False)
    axes.set_ylim(0, None)
