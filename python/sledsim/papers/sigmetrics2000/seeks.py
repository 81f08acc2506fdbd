"""Seek times from one point of the sled to all others, for Figures 7, 9 and 10."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sledsim.hardware import Sled
from sledsim.plots import maps

EDGE_UM = 50
CORNER = (-EDGE_UM, EDGE_UM)
"""Figure 10 names it: <-1000, 1000> in bits of 50 nm."""
CENTRE = (0, 0)
LONGEST_MS = 2.25
"""Where the scale of all maps of seek times ends: Figures 7 and 9 share it."""
LEVELS = 8
LEVELS_MS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
"""Lines of equal height, of differences and of seek times."""


@dataclass(frozen=True)
class Surface:
    """Seek times in ms to the points of a grid over the travel of the sled."""

    places_um: list[float]
    """Of the points, in X and in Y."""
    seek_ms: list[list[float]]
    """Rows of one Y each."""
    by_x: list[list[bool]]
    """Whether X takes longer than Y, turnarounds included."""

    @property
    def share_by_x(self) -> float:
        """Percentage of the points for which X takes longer."""
        points = [decides for row in self.by_x for decides in row]
        return 100 * sum(points) / len(points)

    @property
    def longest_ms(self) -> float:
        """The longest seek."""
        return max(max(row) for row in self.seek_ms)


def surface(device: Sled, start_um: tuple[float, float], points: int) -> Surface:
    """Seek from a start, moving down, to ``points`` x ``points`` places.

    At each point the sled arrives in the direction that takes less time.
    """
    step_um = 2 * EDGE_UM / (points - 1)
    places_um = [round(-EDGE_UM + step_um * point, 9) for point in range(points)]
    start = (1e-6 * start_um[0], 1e-6 * start_um[1], "down")
    seeks = [
        [
            min(
                (device.seek(start, (1e-6 * x_um, 1e-6 * y_um, way)) for way in ("up", "down")),
                key=lambda seek: seek.seek_s,
            )
            for x_um in places_um
        ]
        for y_um in places_um
    ]
    return Surface(
        places_um,
        [[round(1e3 * seek.seek_s, 6) for seek in row] for row in seeks],
        [[seek.x_seek_s >= seek.y_seek_s for seek in row] for row in seeks],
    )


def points(*, quick: bool) -> int:
    """How many places along each axis; the centre is one of them."""
    return 41 if quick else 101


def draw_times(
    figure: Figure, places_um: Sequence[float], seek_ms: Sequence[Sequence[float]]
) -> None:
    """Draw seek times from above, on the scale of all such maps."""
    draw(figure, places_um, seek_ms, "seek time (ms)", LEVELS_MS, (0, LONGEST_MS))


def draw(
    figure: Figure,
    places_um: Sequence[float],
    heights: Sequence[Sequence[float]],
    label: str,
    levels: int | Sequence[float] = LEVELS,
    limits: tuple[float, float] | None = None,
) -> Axes:
    """Draw a surface from above: lines of equal height on shades."""
    figure.set_size_inches(6.4, 5.2)
    axes: Axes = figure.add_subplot()
    shades = maps.draw(axes, heights, EDGE_UM, limits)
    maps.contours(axes, (places_um, places_um), heights, levels)
    axes.set(xlabel="X (um from the centre)", ylabel="Y (um from the centre)")
    figure.colorbar(shades, label=label)
    return axes
