"""Pictures of crash tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.plots.frame import begin
from sledsim.plots.style import OPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.failures.crashes import CrashReport
    from sledsim.plots.frame import Place, Size


def crash(
    test: CrashReport, *, ax: Place = None, size: Size = None, title: str | None = None
) -> Figure:
    """Draw what became of the writes that were under way when the power failed.

    Parameters
    ----------
    test
        The crash test.
    ax
        Axes to draw on; by default a new figure.
    size, title
        As for :func:`sledsim.plots.cdf`.
    """
    way = test.to_dict()["under_way"]
    counts = {name: way[name] for name in ("kept", "torn", "lost")}
    with begin(ax, size, height_in=2.4) as frame:
        (axes,) = frame.axes
        axes.barh(list(counts), list(counts.values()), color=OPS["write"])
        for place, count in enumerate(counts.values()):
            axes.annotate(
                f"{count:,}", (count, place), (4, 0), textcoords="offset points", va="center"
            )
        axes.invert_yaxis()
        axes.margins(x=0.15)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("writes under way at a power failure")
        return frame.end(
            f"{test.to_dict()['device']}: writes under way" if title is None else title
        )
