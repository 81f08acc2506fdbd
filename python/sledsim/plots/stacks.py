"""Mean response times by cause."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from sledsim._number_text import decimals_of, rounded
from sledsim.plots import curves, scales
from sledsim.plots.frame import begin
from sledsim.plots.style import CAUSES, INK, UNRELIABLE_HATCH, looks
from sledsim.plots.subjects import cautions_of, runs_of, subject
from sledsim.results import cautions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledsim.plots.frame import Place, Size
    from sledsim.plots.subjects import Subject
    from sledsim.simulation import Run

WIDE = 20.0
"""From this ratio of the longest mean to the shortest on, bars of means would vanish."""
_DIGITS = 3
_VISIBLE = 0.002
"""The share of a bar from which on a cause can be seen, and is in the legend."""
_LETTERS_PER_INCH = 11.4
_LABEL = 20
"""Characters of a line of a label beside a bar."""


def causes(of: Subject, *, ax: Place = None, size: Size = None, title: str | None = None) -> Figure:
    """Draw mean response times, split by their causes.

    A single run has a bar for each cause. Several have a bar each: of their means, or, where the
    means are further apart than 20 to 1, of shares, beside the means on a logarithmic axis. The
    values are written beside the bars, with half the width of their 95 % intervals.

    Parameters
    ----------
    of
        A run, a comparison, or runs by their labels.
    ax
        Axes to draw on; by default a new figure. The logarithmic panel is left out there.
    size, title
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For an unknown size, or a missing library.
    """
    runs = runs_of(of)
    panels = 2 if ax is None and is_wide(runs) else 1
    with begin(ax, size, panels=panels, height_in=height_in(runs)) as frame:
        draw(frame.axes, runs, across=frame.across)
        return frame.end(subject(of) if title is None else title, cautions_of(runs))


def is_wide(runs: Mapping[str, Run]) -> bool:
    """Return whether the means are too far apart for bars on a linear axis."""
    means = [mean for run in runs.values() if (mean := _mean(run))]
    return len(runs) > 1 and bool(means) and max(means) > WIDE * min(means)


def height_in(runs: Mapping[str, Run]) -> float:
    """Return the height that the bars of runs need, in inches."""
    if len(runs) == 1:
        return 3.0
    lines = sum(_label(label).count("\n") + 1 for label in runs)
    return max(2.6, 1.5 + 0.3 * len(runs) + 0.13 * (lines - len(runs)))


def draw(panels: Sequence[Axes], runs: Mapping[str, Run], *, across: bool = True) -> None:
    """Draw the bars of runs on axes; on two, the first has the means, logarithmic.

    Labels stand beside the first of panels that are side by side (``across``).
    """
    if len(runs) == 1:
        (run,) = runs.values()
        _of_one(panels[0], run)
        return
    wide = is_wide(runs)
    if len(panels) > 1:
        _means(panels[0], runs)
    handles = _stacks(panels[-1], runs, shares=wide)
    axes = panels[-1]
    if not wide:
        _values(axes, runs)
        axes.set_xlabel("mean response time, ms (\u00b1 95 % interval)")
    else:
        axes.set(xlabel="share of the mean response time, %", xlim=(0, 100))
        if len(panels) == 1:
            _values(axes, runs, at=101.0)
            axes.set_xlabel("share of the mean response time, %; beside it the mean, ms")
    if handles:  # requests were served
        curves.legend_above(axes, handles)
    if len(panels) > 1 and across:
        axes.set_yticklabels([])


def _of_one(axes: Axes, run: Run) -> None:
    summary = run.to_dict()["summary"]
    means = {cause: summary[f"{cause}_ms"]["mean"] for cause in CAUSES}
    means = {cause: mean for cause, mean in means.items() if mean}
    hatch = UNRELIABLE_HATCH if _unreliable(run) else None
    names = [cause.replace("_", " ") for cause in means]
    colours = [CAUSES[cause] for cause in means]
    axes.barh(names, list(means.values()), color=colours, hatch=hatch)
    for place, mean in enumerate(means.values()):
        _beside(axes, mean, place, _digits(mean))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    scales.linear(axes, "x")
    axes.set(xlabel="mean by cause, ms", xlim=(0, 1.28 * max(means.values(), default=1.0)))
    mark = cautions.mark(run.cautions)
    whole = f"mean response time {mean_text(run)} ms {mark}".rstrip()
    wide = int(scales.inches_of(axes)[0] * _LETTERS_PER_INCH)
    axes.set_title(textwrap.fill(whole, min(40, wide)), fontweight="normal")


def _stacks(axes: Axes, runs: Mapping[str, Run], *, shares: bool) -> dict[str, object]:
    """Draw a bar of causes for each run, and return what the legend shows."""
    places = list(range(len(runs)))
    ends = [0.0] * len(runs)
    handles: dict[str, object] = {}
    summaries = [run.to_dict()["summary"] for run in runs.values()]
    every = [_mean(run) or math.inf for run in runs.values()]
    wholes = [whole / 100 if shares else 1.0 for whole in every]
    for cause, colour in CAUSES.items():
        means = [summary[f"{cause}_ms"]["mean"] or 0.0 for summary in summaries]
        widths = [mean / whole for mean, whole in zip(means, wholes, strict=True)]
        if any(widths):
            bars = axes.barh(places, widths, 0.68, left=ends, color=colour)
            ends = [end + width for end, width in zip(ends, widths, strict=True)]
            if max(part / whole for part, whole in zip(means, every, strict=True)) >= _VISIBLE:
                handles[cause.replace("_", " ")] = bars
    for place, run, end in zip(places, runs.values(), ends, strict=True):
        if _unreliable(run) and end:
            axes.barh(place, end, 0.68, color="none", hatch=UNRELIABLE_HATCH)
    _rows(axes, runs)
    return handles


def _rows(axes: Axes, runs: Mapping[str, Run]) -> None:
    marked = [f"{label} {cautions.mark(run.cautions)}".rstrip() for label, run in runs.items()]
    axes.set_yticks(range(len(runs)), [_label(label) for label in marked])
    axes.set_ylim(len(runs) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _values(axes: Axes, runs: Mapping[str, Run], at: float | None = None) -> None:
    """Draw intervals, and the means beside them."""
    longest = 0.0
    for place, run in enumerate(runs.values()):
        mean = _mean(run) or 0.0
        low, high = _interval(run)
        if at is None and low is not None and high is not None:
            half = ([mean - low], [high - mean])
            style = ":" if _unreliable(run) else "-"
            bar = axes.errorbar(mean, place, xerr=half, color=INK, linewidth=1, linestyle="none")
            for line in bar[2]:
                line.set_linestyle(style)
        end = at if at is not None else max(mean, high or 0.0)
        longest = max(longest, end)
        _beside(axes, end, place, mean_text(run))
    if at is None:
        scales.linear(axes, "x")
        axes.set_xlim(0, 1.02 * longest or 1)


def _means(axes: Axes, runs: Mapping[str, Run]) -> None:
    """Draw the means on a logarithmic axis, with their intervals, the values beside them."""
    look = looks(list(runs))
    reach = []
    for place, (label, run) in enumerate(runs.items()):
        mean = _mean(run)
        if not mean:
            continue
        low, high = _interval(run)
        ends = (mean, mean) if low is None or high is None or low <= 0 else (low, high)
        reach += [mean, *ends]
        color = look[label].color
        style = ":" if _unreliable(run) else "-"
        axes.plot(ends, (place, place), color=color, linestyle=style, linewidth=1.6)
        face = "white" if _unreliable(run) else color
        axes.plot(mean, place, "o", color=color, markerfacecolor=face, markersize=5.5)
        _beside(axes, max(ends), place, mean_text(run), apart_pt=7)
    if reach:
        scales.logarithmic(axes, "x", min(reach), max(reach))
    axes.set_xlabel("mean response time, ms (\u00b1 95 % interval)")
    _rows(axes, runs)


def _beside(axes: Axes, end: float, place: float, text: str, apart_pt: float = 5) -> None:
    axes.annotate(
        text,
        (end, place),
        xytext=(apart_pt, 0),
        textcoords="offset points",
        va="center",
        fontsize="small",
        annotation_clip=False,
    )


def mean_text(run: Run) -> str:
    """Write the mean response time in ms with half its interval, in digits that match."""
    mean = _mean(run)
    if mean is None:
        return "none"
    low, high = _interval(run)
    if low is None or high is None:
        return _digits(mean)
    decimals = decimals_of((high - low) / 2)
    return f"{rounded(mean, decimals)} \u00b1 {rounded((high - low) / 2, decimals)}"


def _digits(value: float) -> str:
    return rounded(value, _DIGITS - 1 - math.floor(math.log10(value))) if value else "0"


def _label(label: str) -> str:
    return textwrap.fill(label, _LABEL, break_on_hyphens=False)


def _mean(run: Run) -> float | None:
    return run.summary["response_time_ms"]["mean"]


def _interval(run: Run) -> tuple[float | None, float | None]:
    found = run.summary["confidence"]["response_time_ms"]
    return found["low"], found["high"]


def _unreliable(run: Run) -> bool:
    return bool(cautions.codes(run.cautions, unreliable=True))
