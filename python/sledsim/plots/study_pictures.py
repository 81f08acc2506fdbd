"""Pictures of studies: a result over a key."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim.plots import curves, names, scales
from sledsim.plots.frame import begin
from sledsim.plots.study_lines import lines_of, subject
from sledsim.plots.style import looks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledsim.plots.frame import Place, Size
    from sledsim.plots.study_lines import Point
    from sledsim.plots.style import Look
    from sledsim.studies.study import Study

_LOG_FROM = 30
"""From this ratio of the largest to the smallest on, the axis of results is logarithmic."""
_MARGIN = 1.15
"""Below the lowest mark of a logarithmic axis: marks are not cut."""
_APART = 0.6
"""The share of the room of a category in which its points lie beside each other."""
_CATEGORY = 28
"""Characters of the name of a category; a longer one is cut in the middle."""
_LETTER_IN = 0.08


def study(
    of: Study,
    x: str,
    y: str,
    by: str | None = None,
    *,
    ax: Place = None,
    size: Size = None,
    title: str | None = None,
) -> Figure:
    """Draw a result of a study over a key: a line for each value of another key.

    Points that are not to be relied on, as those of an overloaded device, are hollow. Bands and
    bars are 95 % intervals.

    Parameters
    ----------
    of
        The study.
    x, by
        Keys that vary; ``x`` may have values that are no numbers, such as schedulers. Of further
        keys that vary, each combination has a line of its own.
    y
        A result, as the column is called.
    ax
        Axes to draw on; by default a new figure.
    size, title
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For an unknown name, more lines than can be told apart, an unknown size, or a missing
        library.
    """
    if not hasattr(of, "means_table"):
        refuse("of", of, "a study, as sweep() returns it")
    lines = lines_of(of, x, y, by)
    places = list(dict.fromkeys(p.x for points in lines.values() for p in points))
    numbers = all(isinstance(p, int | float) and not isinstance(p, bool) for p in places)
    upright = 0 if numbers else _LETTER_IN * min(max(len(str(p)) for p in places), _CATEGORY)
    with begin(ax, size, height_in=3.6 + upright) as frame:
        axes = frame.axes[0]
        look = looks(list(lines))
        if numbers:
            drawn = _over_numbers(axes, lines, look)
            _scale(axes, sorted(places))
        else:
            drawn = _over_categories(axes, lines, look, places)
        _heights(axes, [point for points in lines.values() for point in points])
        axes.set_xlabel(scales.wrapped(axes, names.label(x)))
        axes.set_ylabel(scales.wrapped(axes, names.label(y), "y"))
        curves.name(axes, drawn, at_ends=numbers)
        others = [key for key in of.varied if key != x]
        heading = f"{subject(of)}: {names.described(y)[0]} by {names.described(x)[0]}"
        heading += "".join(f" and {names.described(key)[0]}" for key in others)
        found = [point for points in lines.values() for point in points]
        heading = heading.removeprefix(": ")
        return frame.end(heading if title is None else title, None, _notes(found, len(of.keys)))


def _over_numbers(
    axes: Axes, lines: Mapping[str, Sequence[Point]], look: Mapping[str, Look]
) -> dict[str, Any]:
    drawn = {}
    for name, points in lines.items():
        its, ordered = look[name], sorted(points, key=lambda point: point.x)
        places = [point.x for point in ordered]
        means = [point.mean for point in ordered]
        (drawn[name],) = axes.plot(
            places, means, label=name, marker=its.marker, markersize=5, **its.line()
        )
        known = [point for point in ordered if None not in (point.low, point.high)]
        at = [point.x for point in known]
        if len(known) > 1:
            low, high = (
                [end for p in known if (end := getattr(p, side)) is not None]
                for side in ("low", "high")
            )
            axes.fill_between(at, low, high, color=its.color, alpha=0.15, linewidth=0)
        else:
            _bars(axes, at, known, its)
        _hollow(axes, places, ordered, its)
    return drawn


def _over_categories(
    axes: Axes,
    lines: Mapping[str, Sequence[Point]],
    look: Mapping[str, Look],
    categories: Sequence[object],
) -> dict[str, Any]:
    drawn = {}
    step = _APART / max(1, len(lines))
    for number, (name, points) in enumerate(lines.items()):
        its, shift = look[name], step * (number - (len(lines) - 1) / 2)
        places = [categories.index(point.x) + shift for point in points]
        means = [point.mean for point in points]
        (drawn[name],) = axes.plot(
            places, means, its.marker, color=its.color, label=name, markersize=6
        )
        known = [at for at, point in enumerate(points) if None not in (point.low, point.high)]
        _bars(axes, [places[at] for at in known], [points[at] for at in known], its)
        _hollow(axes, places, points, its)
    texts = [curves.short(str(each).rpartition("/")[2], _CATEGORY) for each in categories]
    axes.set_xticks(range(len(categories)), texts)
    if max(map(len, texts)) * _LETTER_IN > scales.inches_of(axes)[0] / len(texts):
        for tick in axes.get_xticklabels():
            tick.set_rotation(90)
    axes.set_xlim(-0.5, len(categories) - 0.5)
    axes.grid(visible=False, axis="x")
    return drawn


def _bars(axes: Axes, places: Sequence[float], points: Sequence[Point], its: Look) -> None:
    below = [max(point.mean - (point.low or 0.0), 0.0) for point in points]
    above = [max((point.high or 0.0) - point.mean, 0.0) for point in points]
    means = [point.mean for point in points]
    if places:
        axes.errorbar(places, means, [below, above], color=its.color, linestyle="none", linewidth=1)


def _hollow(axes: Axes, places: Sequence[float], points: Sequence[Point], its: Look) -> None:
    marked = [(at, p.mean) for at, p in zip(places, points, strict=True) if p.unreliable]
    if marked:
        axes.plot(
            *zip(*marked, strict=True),
            its.marker,
            color=its.color,
            markerfacecolor="white",
            markersize=6,
            linestyle="none",
            zorder=3,
        )


def _scale(axes: Axes, places: Sequence[float]) -> None:
    """Make the axis of a key logarithmic if its values are more evenly apart there."""
    if places and places[0] > 0 and places[-1] > scales.LOG_FROM * places[0]:
        steps = [after - before for before, after in itertools.pairwise(places)]
        ratios = [after / before - 1 for before, after in itertools.pairwise(places)]
        if max(steps) / min(steps) >= max(ratios) / min(ratios) and len(places) > 2:
            scales.logarithmic(axes, "x", places[0], places[-1])
            return
    scales.linear(axes, "x", places)


def _heights(axes: Axes, points: Sequence[Point]) -> None:
    means = [point.mean for point in points]
    highs = [*means, *(point.high for point in points if point.high is not None)]
    least, most = min(means, default=0.0), max(means, default=0.0)
    if most > _LOG_FROM * least > 0:
        scales.logarithmic(axes, "y", least / _MARGIN, max(highs))
        return
    if least >= 0:
        axes.set_ylim(0, 1.06 * max(highs, default=0.0) or 1)
    scales.linear(axes, "y")


def _notes(points: Sequence[Point], runs: int) -> list[str]:
    notes = []
    codes = [code for point in points for code in point.unreliable]
    if codes:
        counts = [
            f"{code.replace('_', ' ')} ({codes.count(code)})" for code in dict.fromkeys(codes)
        ]
        notes.append(f"! hollow points are not to be relied on: {', '.join(counts)}")
    if not points:
        notes.append(f"none of the {runs:,} runs has a value")
    if any(point.low is not None for point in points):
        notes.append("bands and bars: 95 % intervals")
    return notes
