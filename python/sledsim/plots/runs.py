"""Pictures of whole results: of a run, of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.plots import distributions, stacks
from sledsim.plots.frame import begin
from sledsim.plots.subjects import cautions_of, runs_of, subject

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.comparison import Comparison
    from sledsim.plots.frame import Place, Size
    from sledsim.simulation import Run


def run(of: Run, *, ax: Place = None, size: Size = None, title: str | None = None) -> Figure:
    """Draw a run: the distribution of its response times, and their mean by cause.

    Parameters
    ----------
    of
        The run.
    ax
        Two axes to draw on; by default a new figure.
    size, title
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For an unknown size, or a missing library.
    """
    return _both(of, ax, size, title)


def comparison(
    of: Comparison, *, ax: Place = None, size: Size = None, title: str | None = None
) -> Figure:
    """Draw a comparison: the distributions of response times, and their means by cause.

    Parameters
    ----------
    of
        The comparison.
    ax
        Two axes to draw on; by default a new figure, of three panels where the means are further
        apart than 20 to 1: see :func:`~sledsim.plots.causes`.
    size, title
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For an unknown size, or a missing library.
    """
    return _both(of, ax, size, title)


def _both(of: Run | Comparison, ax: Place, size: Size, title: str | None) -> Figure:
    runs = runs_of(of)
    panels = 3 if ax is None and stacks.is_wide(runs) else 2
    height = max(3.0, stacks.height_in(runs))
    width = 9.6 if panels == 3 else 7.4
    with begin(ax, size, panels=panels, width_in=width, height_in=height) as frame:
        distributions.draw(frame.axes[0], runs)
        stacks.draw(frame.axes[1:], runs, across=frame.across)
        return frame.end(subject(of) if title is None else title, cautions_of(runs))
