"""Pictures of whole results: of a run, of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.comparison import Comparison
from sledsim.plots import curves, distributions, pair_differences, paths, stacks
from sledsim.plots.frame import begin
from sledsim.plots.subjects import cautions_of, runs_of, subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sledsim.plots.frame import Place, Size
    from sledsim.plots.paths import Way
    from sledsim.simulation import Run


def run(of: Run, *, ax: Place = None, size: Size = None, title: str | None = None) -> Figure:
    """Draw a run: the distribution of its response times, and their mean by cause.

    Of up to 200 requests whose rows were kept it shows the way of the arm or the sled, too, as
    :func:`~sledsim.plots.path`.

    Parameters
    ----------
    of
        The run.
    ax
        Two axes to draw on; by default a new figure. The way is left out there.
    size, title
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For an unknown size, or a missing library.
    """
    ways = _ways(of) if ax is None else []
    return _both(of, ax, size, title, ways)


def comparison(
    of: Comparison, *, ax: Place = None, size: Size = None, title: str | None = None
) -> Figure:
    """Draw a comparison: the distributions of response times, and their means by cause.

    Of a trace a footnote states the ratios of the means on it. Where requests were paired it shows
    the distributions of their differences, too, as :func:`~sledsim.plots.differences`.

    Parameters
    ----------
    of
        The comparison.
    ax
        Two axes to draw on; by default a new figure, of three panels where the means are further
        apart than 20 to 1: see :func:`~sledsim.plots.causes`. Differences are left out on given
        axes.
    size, title
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For an unknown size, or a missing library.
    """
    return _both(of, ax, size, title)


def _ways(run: Run) -> list[Way]:
    """Return the ways of a run of few requests, if its rows have them."""
    if run._rows is None or len(run._rows) > paths.DRAWN:
        return []
    try:
        return paths.ways_of(run.to_dict()["device"], run)
    except SledsimError:  # nothing moves, or it is inside
        return []


def _both(
    of: Run | Comparison, ax: Place, size: Size, title: str | None, ways: Sequence[Way] = ()
) -> Figure:
    runs = runs_of(of)
    compared = of if isinstance(of, Comparison) else None
    paired = compared if ax is None and compared and compared.has_pairs else None
    panels = 3 if ax is None and stacks.is_wide(runs) else 2
    shown = [(way, axis) for way in ways for axis in way.axes]
    height = max(3.0, stacks.height_in(runs))
    width = 9.6 if panels == 3 else 7.4
    wide = len(shown) + bool(paired)
    with begin(ax, size, panels=panels, width_in=width, height_in=height, wide=wide) as frame:
        distributions.draw(frame.axes[0], runs)
        across = not frame.own or frame.columns == panels
        stacks.draw(frame.axes[1:panels], runs, across=across)
        if shown:
            paths.draw(frame.axes[panels:], shown)
            curves.legend_above(frame.axes[panels], paths.keys(ways))
            curves.heading(frame.axes[panels], ways[0].heading(frame.axes[panels]))
        if paired:
            pair_differences.draw(frame.axes[-1], paired)
        more = paths.notes(ways) if ways else []
        if compared and compared.on_trace:
            more = [f"{compared.on_trace}."]
        return frame.end(subject(of) if title is None else title, cautions_of(runs), more)
