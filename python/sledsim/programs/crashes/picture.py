"""The picture of an experiment: outcomes by stratum, and the time to be back in service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.plots import curves
from sledsim.plots.frame import begin
from sledsim.programs.crashes.outcomes import OUTCOMES
from sledsim.programs.crashes.strata import STRATA
from sledsim.programs.crashes.trial import PHASES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledsim.plots.frame import Place, Size
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


def draw(
    result: Result, *, ax: Place = None, size: Size = None, title: str | None = None
) -> Figure:
    """Draw how the cuts ended, by stratum, and what the time to be back in service is made of.

    Parameters
    ----------
    result
        What `experiment` returns.
    ax
        Two axes to draw on; by default a new figure.
    size, title
        As for :func:`sledsim.plots.cdf`.
    """
    with begin(
        ax, size, panels=2, height_in=1.2 + 0.32 * len(result.strata), stacked=True
    ) as frame:
        _outcomes(frame.axes[0], result)
        _times(frame.axes[1], result)
        return frame.end(result.title if title is None else title)


def _outcomes(axes: Axes, result: Result) -> None:
    from matplotlib.ticker import MaxNLocator  # an extra

    strata = result.strata
    places = list(range(len(strata)))
    counts = [result.counts(name) for name in strata]
    ends = [0.0] * len(strata)
    handles = {}
    for name, text in OUTCOMES.items():
        widths = [float(count[name]) for count in counts]
        if any(widths):
            handles[text] = axes.barh(places, widths, 0.66, left=ends, color=COLOURS[name])
            ends = [end + width for end, width in zip(ends, widths, strict=True)]
    _rows(axes, [STRATA[name] for name in strata])
    axes.set_xlabel("cuts")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    curves.legend_above(axes, handles)


def _times(axes: Axes, result: Result) -> None:
    times = result.times_ms()
    means = [times[name]["mean"] or 0.0 for name in PHASES]
    most = [times[name]["max"] or 0.0 for name in PHASES]
    places = list(range(len(PHASES)))
    axes.barh(places, means, 0.66, color=_TIME)
    for place, (mean, longest) in enumerate(zip(means, most, strict=True)):
        axes.plot([mean, longest], [place, place], color="black", linewidth=0.9, marker="|")
        axes.annotate(
            f"{number(mean, 3)} ms",
            (longest, place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    _rows(axes, list(PHASES.values()))
    axes.set(xlabel="time to be back in service, ms: mean, and to the longest")
    axes.set_xlim(0, 1.25 * max(*most, 1e-3))


def _rows(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
