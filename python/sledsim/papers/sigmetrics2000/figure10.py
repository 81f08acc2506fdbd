"""Figure 10: effect of springs on seek times from a corner."""

from matplotlib.figure import Figure

import sledsim as ss
from sledsim.papers import Found
from sledsim.papers.sigmetrics2000 import seeks


def simulate(*, quick: bool) -> Found:
    """Take the seeks of Figure 7(a) without springs from those with springs."""
    points = seeks.points(quick=quick)
    springs, none = (
        seeks.surface(ss.device("sigmetrics2000", spring_factor=factor), seeks.CORNER, points)
        for factor in (0.75, 0)
    )
    delta_ms = [
        [with_ms - without_ms for with_ms, without_ms in zip(with_row, without_row, strict=True)]
        for with_row, without_row in zip(springs.seek_ms, none.seek_ms, strict=True)
    ]
    along_x = delta_ms[-1][1:]  # the edge from the corner on, without the seek to nowhere
    return Found(
        {"along_x_ms": along_x, "longest_ms": along_x[-1], "shortest_ms": along_x[0]},
        series={"places_um": springs.places_um, "delta_ms": delta_ms},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the differences from above."""
    label = "with springs - without (ms)"
    axes = seeks.draw(figure, found.series["places_um"], found.series["delta_ms"], label)
    axes.contour(
        found.series["places_um"],
        found.series["places_um"],
        found.series["delta_ms"],
        [0],
        colors="#d55e00",
        linewidths=2,
    )
    axes.set_title("orange: no difference", fontsize=9)
