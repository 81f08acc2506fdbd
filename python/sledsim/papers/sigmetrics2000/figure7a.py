"""Figure 7(a): seek time from the corner to every point of the sled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.sigmetrics2000 import seeks
from sledsim.papers.sigmetrics2000.devices import sled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup


def farthest_um(surface: seeks.Surface) -> float:
    """Return the longest way in X for which Y takes longer somewhere."""
    columns = zip(surface.places_um, zip(*surface.by_x, strict=True), strict=True)
    return max(x_um - seeks.CORNER[0] for x_um, decides in columns if not all(decides))


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Compute the seeks from the device alone, without requests."""
    device = sled(setup)
    surface = seeks.surface(device, seeks.CORNER, seeks.points(quick=quick))
    return Found(
        {
            "by_x_percent": surface.share_by_x,
            "by_y_um": farthest_um(surface),
        },
        series={"places_um": surface.places_um, "seek_ms": surface.seek_ms},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the surface from above."""
    seeks.draw_times(figure, found.series["places_um"], found.series["seek_ms"])
