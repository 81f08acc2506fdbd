"""Maps: values over a square, as shades and as lines of equal height."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledsim.plots import texts
from sledsim.plots.style import INK, heat_colours

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

_PALEST, _DARKEST = 16, 205
"""Of 256 shades: the palest is no background, and the darkest is not black."""
_APART_IN = 0.4
"""Of the middles of two heights on lines."""


def draw(
    axes: Axes,
    values: Sequence[Sequence[float]],
    edge: float,
    limits: tuple[float, float] | None = None,
) -> AxesImage:
    """Draw values as shades, the larger the darker.

    Parameters
    ----------
    axes
        Where.
    values
        Rows from bottom to top.
    edge
        The square reaches from ``-edge`` to ``edge`` on both axes.
    limits
        The values of the palest and of the darkest shade, for maps that share a scale; by default
        the least and the largest one.
    """
    from matplotlib import colormaps  # an extra
    from matplotlib.colors import ListedColormap

    low, high = limits or (None, None)
    axes.grid(visible=False)
    return axes.imshow(
        values,
        origin="lower",
        extent=(-edge, edge, -edge, edge),
        cmap=ListedColormap(colormaps[heat_colours()].reversed()(range(_PALEST, _DARKEST))),
        interpolation="nearest",
        vmin=low,
        vmax=high,
    )


def contours(
    axes: Axes,
    places: tuple[Sequence[float], Sequence[float]],
    values: Sequence[Sequence[float]],
    levels: int | Sequence[float],
    *,
    labelled: bool = True,
) -> None:
    """Draw lines of equal height on a map, with their heights."""
    keys: Any = {"colors": INK, "linewidths": 0.8}
    lines = axes.contour(*places, values, levels, **keys)
    lines.set_path_effects(halo(2.0))
    figure = axes.get_figure(root=True)
    assert figure is not None
    kept: list[tuple[float, float]] = []
    for text in (
        axes.clabel(lines, fontsize=texts.points(), fmt="%g", inline=False) if labelled else ()
    ):
        at = axes.transData.transform(text.get_position()) / figure.dpi
        text.set_path_effects(halo(2.5))
        if all(math.dist(at, other) >= _APART_IN for other in kept):
            kept.append((float(at[0]), float(at[1])))
        else:  # it would touch another one
            text.set_visible(False)


def write(axes: Axes, place: tuple[float, float], text: str, **keys: Any) -> None:
    """Write a text on a map, its middle at a place unless ``ha`` and ``va`` say otherwise."""
    keys = {"ha": "center", "va": "center", "fontsize": texts.points(), **keys}
    axes.text(*place, text, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}, **keys)


def halo(width: float) -> Any:
    """Return what gives lines and letters a white edge."""
    from matplotlib.patheffects import withStroke  # an extra

    return [withStroke(linewidth=width, foreground="white")]
