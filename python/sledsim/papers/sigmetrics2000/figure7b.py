"""Figure 7(b): seek time from the centre to every point of the sled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.sigmetrics2000 import seeks
from sledsim.papers.sigmetrics2000.devices import sled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Compute the seeks from the device alone, without requests."""
    device = sled(setup)
    surface = seeks.surface(device, seeks.CENTRE, seeks.points(quick=quick))
    middle = len(surface.places_um) // 2
    return Found(
        {
            "by_x_percent": surface.share_by_x,
            "along_x_ms": surface.seek_ms[middle][middle:],
        },
        series={"places_um": surface.places_um, "seek_ms": surface.seek_ms},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the surface from above."""
    seeks.draw_times(figure, found.series["places_um"], found.series["seek_ms"])
