"""The bar that tells what the colours of a map mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.plots import scales

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorizer import ColorizingArtist


def bar(axes: Axes, mapped: ColorizingArtist, label: str, unit: float = 1.0) -> None:
    """Draw a bar of colours beside axes, as high as they are.

    Parameters
    ----------
    axes
        Those of the map.
    mapped
        The map.
    label
        What the colours mean.
    unit
        What 1 on the bar stands for.
    """
    from matplotlib.ticker import FuncFormatter  # an extra

    figure = axes.get_figure(root=True)
    assert figure is not None
    beside = axes.inset_axes((1.03, 0.0, 0.045, 1.0))
    made = figure.colorbar(mapped, cax=beside, label=label)
    made.outline.set_visible(False)
    scales.linear(beside, "y")
    beside.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scales.plain(value / unit)))
