"""Figure 10: effect of springs on seek times from a corner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.sigmetrics2000 import seeks
from sledsim.papers.sigmetrics2000.devices import sled
from sledsim.plots.style import VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Take the seeks of Figure 7(a) without springs from those with springs."""
    points = seeks.points(quick=quick)
    springs, none = (
        seeks.surface(own, seeks.CORNER, points)
        for own in (sled(setup), sled(setup, spring_factor=0))
    )
    delta_ms = [
        [with_ms - without_ms for with_ms, without_ms in zip(with_row, without_row, strict=True)]
        for with_row, without_row in zip(springs.seek_ms, none.seek_ms, strict=True)
    ]
    along_x = delta_ms[-1][1:]  # the edge from the corner on, without the seek to nowhere
    edges = {"springs": springs.seek_ms[-1], "no springs": none.seek_ms[-1]}
    return Found(
        {
            "along_x_ms": along_x,
            "shortest_ms": {name: edge[1] for name, edge in edges.items()},
            "longest_ms": {name: edge[-1] for name, edge in edges.items()},
        },
        series={"places_um": springs.places_um, "delta_ms": delta_ms},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the differences from above."""
    places, delta = found.series["places_um"], found.series["delta_ms"]
    axes = seeks.draw(figure, places, delta, "with springs \u2212 without (ms)")
    axes.contour(places, places, delta, [0], colors=VERMILION, linewidths=2)
    axes.set_title("orange: no difference")
