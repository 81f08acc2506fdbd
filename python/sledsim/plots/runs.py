"""Pictures of whole results: of a run, of a comparison."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.comparison import Comparison
from sledsim.plots import distributions, pair_differences, paths, stacks
from sledsim.plots.frame import Panel, picture
from sledsim.plots.subjects import cautions_of, facts, runs_of, subject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from sledsim.plots.frame import How
    from sledsim.plots.paths import Way
    from sledsim.plots.picture import Picture
    from sledsim.simulation import Run


def run(of: Run, **how: Unpack[How]) -> Picture:
    """Draw a run: the distribution of its response times, and their mean by cause.

    Of up to 200 requests whose rows were kept it shows the way of the arm or the sled, too, as
    :func:`~sledsim.plots.path`.

    Parameters
    ----------
    of
        The run.
    **how
        As for :func:`~sledsim.plots.cdf`. ``ax`` is two axes, where the way is left out. Panels
        are ``cdf``, ``causes`` and, of the way, ``cylinder`` and ``row``.

    Raises
    ------
    SledsimError
        For an unknown size, or a missing library.
    """
    return _drawn(of, how, _ways(of) if how.get("ax") is None else [])


def comparison(of: Comparison, **how: Unpack[How]) -> Picture:
    """Draw a comparison: the distributions of response times, and their means by cause.

    Of a trace a footnote states the ratios of the means on it. Where requests were paired it shows
    the distributions of their differences, too, as :func:`~sledsim.plots.differences`.

    Parameters
    ----------
    of
        The comparison.
    **how
        As for :func:`~sledsim.plots.cdf`. ``ax`` is two axes, where differences are left out.
        Panels are ``cdf``, ``causes``, ``means`` where the means are further apart than 20 to 1
        (see :func:`~sledsim.plots.causes`), and ``differences``.

    Raises
    ------
    SledsimError
        For an unknown size, or a missing library.
    """
    return _drawn(of, how)


def _ways(run: Run) -> list[Way]:
    """Return the ways of a run of few requests, if its rows have them."""
    if run._rows is None or len(run._rows) > paths.DRAWN:
        return []
    try:
        return paths.ways_of(run.to_dict()["device"], run)
    except SledsimError:  # nothing moves, or it is inside
        return []


def _drawn(of: Run | Comparison, how: How, ways: Sequence[Way] = ()) -> Picture:
    runs = runs_of(of)
    panels = {
        "cdf": Panel(
            lambda axes: distributions.draw(axes, runs), "distribution of the response time"
        ),
        **stacks.panels_of(runs, how),
    }
    width = 9.6 if len(panels) == 3 else 7.4
    for name, panel in paths.panels_of(ways, legend=True, chosen=how.get("panel")).items():
        panels[name] = panel._replace(wide=True)
    more = paths.notes(ways) if ways else []
    if isinstance(of, Comparison):
        if how.get("ax") is None and of.has_pairs:
            draw = partial(pair_differences.draw, of=of)
            panels["differences"] = Panel(draw, pair_differences.WHAT, wide=True)
        more = [f"{of.on_trace}."] if of.on_trace else []
    return picture(
        how,
        panels,
        subject(of),
        facts=facts(of),
        found=cautions_of(runs),
        notes=more,
        width_in=width,
        height_in=max(3.0, stacks.height_in(runs)),
    )
