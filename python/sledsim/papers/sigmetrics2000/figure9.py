"""Figure 9: seek time from the centre when X need not settle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.sigmetrics2000 import seeks
from sledsim.papers.sigmetrics2000.devices import sled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Compute the seeks of Figure 7(b) without settling, and compare with these."""
    points = seeks.points(quick=quick)
    settled = seeks.surface(sled(setup), seeks.CENTRE, points)
    device = sled(setup, settling_constants=0)
    surface = seeks.surface(device, seeks.CENTRE, points)
    saved_ms = [
        with_ms - without_ms
        for with_row, without_row in zip(settled.seek_ms, surface.seek_ms, strict=True)
        for with_ms, without_ms in zip(with_row, without_row, strict=True)
    ]
    return Found(
        {
            "saved_ms": [min(saved_ms), sum(saved_ms) / len(saved_ms), max(saved_ms)],
            "most_saved_ms": max(saved_ms),
            "by_x_percent": {
                "without settling": surface.share_by_x,
                "with settling": settled.share_by_x,
            },
        },
        series={"places_um": surface.places_um, "seek_ms": surface.seek_ms},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the surface from above."""
    seeks.draw_times(figure, found.series["places_um"], found.series["seek_ms"])
