"""Mean response times by cause."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sledsim._number_text import decimals_of, rounded
from sledsim.plots import bars, curves, scales
from sledsim.plots.frame import Panel, picture
from sledsim.plots.style import CAUSES, INK, UNRELIABLE_HATCH, looks
from sledsim.plots.subjects import cautions_of, facts, runs_of, subject
from sledsim.results import cautions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture
    from sledsim.plots.subjects import Subject
    from sledsim.simulation import Run

WIDE = 20.0
"""From this ratio of the longest mean to the shortest on, bars of means would vanish."""
_DIGITS = 3
_VISIBLE = 0.002
"""The share of a bar from which on a cause can be seen, and is in the legend."""
_LABEL = 20
"""Characters of a line of a label beside a bar, about."""
_MEAN = "mean response time, ms (\u00b1 95 % interval)"


def causes(of: Subject, **how: Unpack[How]) -> Picture:
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
    return picture(
        how,
        panels_of(runs, how),
        subject(of),
        facts=facts(of),
        found=cautions_of(runs),
        height_in=height_in(runs),
    )


def panels_of(runs: Mapping[str, Run], how: How) -> dict[str, Panel]:
    """Return the panels of causes by their names, as many as are asked for."""
    chosen, given = how.get("panel"), how.get("ax") is not None
    alone = given or chosen == "causes"

    def causes_of(axes: Axes) -> None:
        draw(axes, runs, alone=alone)

    shown = {"causes": Panel(causes_of, "mean response time by cause", y="runs")}
    if not is_wide(runs) or (given and chosen is None):
        return shown
    means = Panel(lambda axes: _means(axes, runs), "mean response times", y="runs")
    return {"means": means, **shown}


def is_wide(runs: Mapping[str, Run]) -> bool:
    """Return whether the means are too far apart for bars on a linear axis."""
    means = [mean for run in runs.values() if (mean := _mean(run))]
    return len(runs) > 1 and bool(means) and max(means) > WIDE * min(means)


def height_in(runs: Mapping[str, Run]) -> float:
    """Return the height that the bars of runs need, in inches."""
    if len(runs) == 1:
        return 3.0
    lines = sum(1 + len(label) // _LABEL for label in runs)
    return max(2.6, 1.5 + 0.3 * len(runs) + 0.13 * (lines - len(runs)))


def draw(axes: Axes, runs: Mapping[str, Run], *, alone: bool) -> None:
    """Draw the bars of runs; of shares with the means beside them if they stand alone."""
    if len(runs) == 1:
        _of_one(axes, *runs.values())
        return
    wide = is_wide(runs)
    handles = _stacks(axes, runs, shares=wide)
    if not wide:
        _values(axes, runs)
        axes.set_xlabel(_MEAN)
    else:
        share = "share of the mean response time, %"
        axes.set(xlabel=share, xlim=(0, 100))
        if alone:
            _values(axes, runs, at=101.0)
            axes.set_xlabel(f"{share}; beside it the mean, ms")
    if handles:  # requests were served
        curves.legend_above(axes, handles)


def _of_one(axes: Axes, run: Run) -> None:
    summary = run.to_dict()["summary"]
    means = {cause: summary[f"{cause}_ms"]["mean"] for cause in CAUSES}
    means = {cause: mean for cause, mean in means.items() if mean}
    hatch = UNRELIABLE_HATCH if _unreliable(run) else None
    names = [cause.replace("_", " ") for cause in means]
    colours = [CAUSES[cause] for cause in means]
    axes.barh(range(len(names)), list(means.values()), color=colours, hatch=hatch)
    for place, mean in enumerate(means.values()):
        bars.beside(axes, mean, place, _digits(mean))
    bars.rows(axes, names)
    scales.linear(axes, "x")
    axes.set(xlabel="mean by cause, ms", xlim=(0, 1.28 * max(means.values(), default=1.0)))
    mark = cautions.mark(run.cautions)
    whole = f"mean response time {mean_text(run)} ms {mark}".rstrip()
    axes.set_title(scales.wrapped(axes, whole), fontweight="normal")


def _stacks(axes: Axes, runs: Mapping[str, Run], *, shares: bool) -> dict[str, object]:
    """Draw a bar of causes for each run, and return what the legend shows."""
    summaries = [run.to_dict()["summary"] for run in runs.values()]
    wholes = [(_mean(run) or math.inf) / 100 if shares else 1.0 for run in runs.values()]
    both = [*zip(summaries, wholes, strict=True)]
    parts = {
        cause: [(summary[f"{cause}_ms"]["mean"] or 0.0) / whole for summary, whole in both]
        for cause in CAUSES
    }
    drawn, ends = bars.stacked(axes, parts, CAUSES)
    for place, (run, end) in enumerate(zip(runs.values(), ends, strict=True)):
        if _unreliable(run) and end:
            axes.barh(place, end, bars.THICK, color="none", hatch=UNRELIABLE_HATCH)
    _rows(axes, runs)
    return {
        cause.replace("_", " "): bar
        for cause, bar in drawn.items()
        if any(w >= _VISIBLE * end > 0 for w, end in zip(parts[cause], ends, strict=True))
    }


def _rows(axes: Axes, runs: Mapping[str, Run]) -> None:
    bars.rows(
        axes, [f"{label} {cautions.mark(run.cautions)}".rstrip() for label, run in runs.items()]
    )


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
        bars.beside(axes, end, place, mean_text(run))
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
        bars.beside(axes, max(ends), place, mean_text(run), apart_pt=7)
    if reach:
        scales.logarithmic(axes, "x", min(reach), max(reach))
    axes.set_xlabel(_MEAN)
    _rows(axes, runs)


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


def _mean(run: Run) -> float | None:
    return run.summary["response_time_ms"]["mean"]


def _interval(run: Run) -> tuple[float | None, float | None]:
    found = run.summary["confidence"]["response_time_ms"]
    return found["low"], found["high"]


def _unreliable(run: Run) -> bool:
    return bool(cautions.codes(run.cautions, unreliable=True))
