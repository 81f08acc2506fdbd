"""The picture of an experiment: outcomes by stratum, and the time to be back in service."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.plots import bars, curves
from sledsim.plots.frame import Panel, picture
from sledsim.programs.crashes.outcomes import OUTCOMES
from sledsim.programs.crashes.strata import STRATA
from sledsim.programs.crashes.trial import PHASES

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture
    from sledsim.programs.crashes.result import Result

COLOURS = {
    "whole": "#dcffe4",
    "lost_unacknowledged": "#669ad9",
    "lost_acknowledged": "#f2b533",
    "corrupt_detected": "#ce7231",
    "corrupt_silent": "#9e1d1c",
    "not_mounted": "#5a2886",
    "check_hung": "#b38ba3",
    "check_failed": "#22504e",
}
"""The fill of each outcome; all have an outline."""
_TIME = "#b58a5f"


def draw(result: Result, **how: Unpack[How]) -> Picture:
    """Draw how the cuts ended, by stratum, and what the time to be back in service is made of.

    Parameters
    ----------
    result
        What `experiment` returns.
    **how
        As for :func:`sledsim.plots.cdf`. Panels are ``outcomes`` and ``times``.
    """
    return picture(
        how,
        {
            "outcomes": Panel(partial(_outcomes, result=result), "outcomes of failures of power"),
            "times": Panel(partial(_times, result=result), "time to be back in service"),
        },
        result.title,
        facts=[result.title],
        height_in=1.2 + 0.32 * len(result.strata),
        stacked=True,
    )


def _outcomes(axes: Axes, result: Result) -> None:
    from matplotlib.ticker import MaxNLocator  # an extra

    strata = result.strata
    counts = [result.counts(name) for name in strata]
    parts = {name: [float(count[name]) for count in counts] for name in OUTCOMES}
    drawn, _ = bars.stacked(axes, parts, COLOURS)
    bars.rows(axes, [STRATA[name] for name in strata])
    axes.set_xlabel("cuts")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    curves.legend_above(axes, {OUTCOMES[name]: bar for name, bar in drawn.items()})


def _times(axes: Axes, result: Result) -> None:
    times = result.times_ms()
    means = [times[name]["mean"] or 0.0 for name in PHASES]
    most = [times[name]["max"] or 0.0 for name in PHASES]
    places = list(range(len(PHASES)))
    axes.barh(places, means, 0.66, color=_TIME)
    for place, (mean, longest) in enumerate(zip(means, most, strict=True)):
        axes.plot([mean, longest], [place, place], color="black", linewidth=0.9, marker="|")
        bars.beside(axes, longest, place, f"{number(mean, 3)} ms", 6)
    bars.rows(axes, list(PHASES.values()))
    axes.set(xlabel="time to be back in service, ms: mean, and to the longest")
    axes.set_xlim(0, 1.25 * max(*most, 1e-3))
