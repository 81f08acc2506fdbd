"""The bar that tells what the colours of a map mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.plots import scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colorizer import ColorizingArtist


def draw(of: Sequence[Axes], mapped: ColorizingArtist, label: str, unit: float = 1.0) -> None:
    """Draw a bar of colours beside axes, as high as they are.

    Parameters
    ----------
    of
        Those of the maps.
    mapped
        A map.
    label
        What the colours mean.
    unit
        What 1 on the bar stands for.
    """
    from matplotlib.colors import LogNorm  # an extra
    from matplotlib.ticker import FuncFormatter

    figure = of[0].get_figure(root=True)
    assert figure is not None
    if len(of) == 1:
        beside = of[0].inset_axes((1.03, 0.0, 0.045, 1.0))
        made = figure.colorbar(mapped, cax=beside)
    else:
        made = figure.colorbar(mapped, ax=list(of), aspect=30, pad=0.02)
    made.outline.set_visible(False)
    made.set_label(scales.wrapped(of[0], label, "y"))
    if isinstance(mapped.norm, LogNorm):
        low, high = mapped.norm.vmin or 1.0, mapped.norm.vmax or 1.0
        made.set_ticks([t for t in scales.log_ticks(low, high, 4) if low <= t <= high])
        made.minorticks_off()
    else:
        scales.linear(made.ax, "y")
    made.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scales.plain(value / unit)))
