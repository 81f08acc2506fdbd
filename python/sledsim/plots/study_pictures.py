"""Pictures of studies: a result over a key."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim.plots import curves, names, scales, texts
from sledsim.plots.frame import WIDTHS_IN, Panel, picture, size_in
from sledsim.plots.study_lines import (
    are_numbers,
    by_line,
    by_panel,
    check_keys,
    check_lines,
    facts,
    points_of,
    subject,
    values_of,
    written,
)
from sledsim.plots.style import NARROW_IN, in_order, looks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture
    from sledsim.plots.study_lines import Point
    from sledsim.plots.style import Look
    from sledsim.studies.study import Study

_LOG_FROM = 30
"""From this ratio of the largest to the smallest on, the axis of results is logarithmic."""
_MARGIN = 1.15
"""Below the lowest mark of a logarithmic axis: marks are not cut."""
_APART, _APART_PT = 0.6, 3.5
"""The share of the room of a category in which its points lie beside each other; between the bars
of two lines in points."""
_BANDS = 3
"""More lines have bars in place of bands."""
_CATEGORY_IN = 1.6
"""Width of the name of a category; a longer one is cut in the middle."""


def study(
    of: Study,
    x: str,
    y: str,
    by: str | None = None,
    *,
    col: str | None = None,
    row: str | None = None,
    **how: Unpack[How],
) -> Picture:
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
    col, row
        Keys that vary: each value has a panel, side by side, or below each other. Panels share
        their axes. Without ``row``, panels that have no room side by side go on below.
    **how
        As for :func:`~sledsim.plots.cdf`. Panels are called as their titles, as in
        ``panel="rate = 200 requests/s"``.

    Raises
    ------
    SledsimError
        For an unknown name, more lines in a panel than can be told apart, an unknown size, or a
        missing library.
    """
    check_study(of)
    given = {"x": x, "by": by, "col": col, "row": row}
    rest = check_keys(of, given)
    keys = ([] if by is None else [by]) + rest
    points = points_of(of, y, "y")
    panels = by_panel(points, row, col)
    check_lines(panels.values(), keys, [name for name in ("col", "row") if given[name] is None])
    numbers = are_numbers(values_of(points, x))
    labels = list(by_line(points, keys))
    ordered = bool(keys) and are_numbers(values_of(points, keys[0]))
    look = (in_order if ordered else looks)(labels)
    drawn: dict[str, Any] = {}

    def draw(axes: Axes, title: str) -> None:
        lines = by_line(panels[title], keys)
        places = values_of(points, x)
        if numbers and places:
            scales.at_values(axes, places)
        _heights(axes, points)
        axes.set_xlabel(scales.wrapped(axes, names.label(x)))
        axes.set_ylabel(scales.wrapped(axes, names.label(y), "y"))
        own = (_over_numbers if numbers else _over_categories)(axes, lines, look, x, places)
        drawn.update(own)
        head(axes, title, panels)
        if len(panels) == 1:
            curves.name(axes, own, direct=numbers)

    return faceted(
        of,
        dict.fromkeys(panels, draw),
        how,
        heading(of, y, x, by, *rest, col, row),
        notes=_notes(points, len(of.keys)),
        columns=len(values_of(points, col)) if col else 1,
        forced=row is not None,
        height_in=3.6,
        key=(lambda: {n: drawn[n] for n in labels if n in drawn}) if len(labels) > 1 else None,
    )


def heading(of: Study, result: str, *keys: str | None) -> str:
    """Return the title of a picture: what it is of, the result, and the keys."""
    *others, last = [names.described(key)[0] for key in keys if key]
    varied = f"{', '.join(others)} and {last}" if others else last
    return f"{subject(of)}: {names.described(result)[0]} by {varied}".removeprefix(": ")


def head(axes: Axes, title: str, panels: Iterable[str]) -> None:
    """Write the title of a panel, with breaks at the same places as in those of the others."""
    room = 1.08 * scales.inches_of(axes)[0]
    if any(texts.width_in(each) > room for each in panels):
        parts = [each.split(", ") for each in panels]
        wide = {
            of[0]
            for each in parts
            for part in each
            if texts.width_in(part) > room
            for of in [part.split(" = ")]
        }
        lines = [
            part.replace(" = ", "\n= ") if part.split(" = ")[0] in wide else part
            for part in title.split(", ")
        ]
        title = "\n".join(texts.cut(line, room) for line in ",\n".join(lines).split("\n"))
    axes.set_title(title, fontweight="normal", fontsize=texts.points())


def check_study(of: object) -> None:
    """Refuse what is no study."""
    if not hasattr(of, "means_table"):
        refuse("of", of, "a study, as sweep() returns it")


def faceted(
    of: Study, panels: Mapping[str, Any], how: How, title: str, *, forced: bool, **options: Any
) -> Picture:
    """Draw the panels of a study: they share their axes, and one legend if they are several.

    Parameters
    ----------
    of, title
        The study; the title by default.
    panels
        What draws each panel on axes, by its title.
    how
        What the user asks for.
    forced
        Whether the panels stand in columns that may not wrap.
    options
        As for ``picture``.
    """
    several = len(panels) > 1
    width = size_in(how.get("size"), WIDTHS_IN["page"])[0]
    narrow = width <= NARROW_IN
    if several:
        rows = -(-len(panels) // options["columns"])
        options["height_in"] = 2.5 if rows == 1 and len(panels) <= 3 else 1.8
        options["panel_in"] = 0.1 if forced else 0.95 if narrow else 1.6
    else:
        options |= {"key": None, "columns": None}
    what = title.rpartition(": ")[2]
    return picture(
        how,
        {
            name or "study": Panel(partial(draw, title=name), what, x="x", y="y")
            for name, draw in panels.items()
        },
        title,
        facts=facts(of),
        **options,
    )


def _over_numbers(
    axes: Axes,
    lines: Mapping[str, Sequence[Point]],
    look: Mapping[str, Look],
    x: str,
    _places: Sequence[object],
) -> dict[str, Any]:
    drawn = {}
    bands = len(lines) <= _BANDS
    for number, (name, found) in enumerate(lines.items()):
        its, points = look[name], sorted(found, key=lambda point: point.at[x])
        places = [point.at[x] for point in points]
        shift = 0.0 if bands else _APART_PT * (number - (len(lines) - 1) / 2)
        known = [place for place, point in enumerate(points) if None not in (point.low, point.high)]
        if bands and len(known) > 1:
            low, high = ([getattr(points[at], end) for at in known] for end in ("low", "high"))
            at = [places[place] for place in known]
            axes.fill_between(at, low, high, color=its.color, alpha=0.15, linewidth=0)
        drawn[name] = _marks(
            axes, name, places, points, its, shift, bars=not (bands and len(known) > 1)
        )
        drawn[name].set_linestyle(its.dash)
    return drawn


def _over_categories(
    axes: Axes,
    lines: Mapping[str, Sequence[Point]],
    look: Mapping[str, Look],
    x: str,
    categories: Sequence[object],
) -> dict[str, Any]:
    drawn = {}
    step = _APART / max(1, len(lines))
    for number, (name, points) in enumerate(lines.items()):
        shift = step * (number - (len(lines) - 1) / 2)
        places = [categories.index(point.at[x]) + shift for point in points]
        drawn[name] = _marks(axes, name, places, points, look[name])
    label_categories(axes, "x", categories)
    axes.set_xlim(-0.5, len(categories) - 0.5)
    axes.grid(visible=False, axis="x")
    return drawn


def label_categories(
    axes: Axes, which: str, categories: Sequence[object], first: float = 0.0
) -> None:
    """Name places of an axis, from ``first`` on; upright where names have no room otherwise."""
    said = [texts.cut(written(each), _CATEGORY_IN, "medium") for each in categories]
    getattr(axes, f"set_{which}ticks")([first + place for place in range(len(said))], said)
    longest = max((texts.width_in(each, "medium") for each in said), default=0.0)
    if which == "x" and longest + 0.06 > scales.inches_of(axes)[0] / max(1, len(said)):
        axes.tick_params(axis="x", labelrotation=90)


def _marks(
    axes: Axes,
    name: str,
    places: Sequence[Any],
    points: Sequence[Point],
    its: Look,
    shift_pt: float = 0.0,
    *,
    bars: bool = True,
) -> Any:
    """Draw the marks of a line and their intervals, moved to the right by so many points."""
    from matplotlib.transforms import ScaledTranslation  # an extra

    figure = axes.get_figure(root=True)
    assert figure is not None
    moved = axes.transData + ScaledTranslation(shift_pt / 72, 0, figure.dpi_scale_trans)
    look: Any = {"color": its.color, "transform": moved, "clip_on": False}  # marks at the edge
    means = [point.mean for point in points]
    (line,) = axes.plot(places, means, its.marker, label=name, markersize=4.5, **look)
    known = [at for at, point in enumerate(points) if None not in (point.low, point.high)]
    if bars and known:
        sides = [
            [max(sign * ((getattr(points[at], end) or 0.0) - means[at]), 0.0) for at in known]
            for sign, end in ((-1, "low"), (1, "high"))
        ]
        at, of = [places[place] for place in known], [means[place] for place in known]
        axes.errorbar(at, of, sides, linestyle="none", linewidth=1, capsize=2, **look)
    if marked := [(at, p.mean) for at, p in zip(places, points, strict=True) if p.unreliable]:
        hollow: Any = {"markerfacecolor": "white", "markersize": 5.5, "zorder": 3}
        axes.plot(*zip(*marked, strict=True), its.marker, **look, **hollow)
    return line


def _heights(axes: Axes, points: Sequence[Point]) -> None:
    means = [point.mean for point in points]
    highs = [*means, *(point.high for point in points if point.high is not None)]
    least, most = min(means, default=0.0), max(means, default=0.0)
    if most > _LOG_FROM * least > 0:
        scales.logarithmic(axes, "y", least / _MARGIN, max(highs))
        return
    if least >= 0:
        axes.set_ylim(0, 1.06 * max(highs, default=0.0) or 1)
    else:
        lows = [*means, *(point.low for point in points if point.low is not None)]
        edge = 0.06 * (max(highs) - min(lows)) or 1.0
        axes.set_ylim(min(lows) - edge, max(highs) + edge)
    scales.linear(axes, "y")


def _notes(points: Sequence[Point], runs: int) -> list[str]:
    notes = []
    if codes := [code for point in points for code in point.unreliable]:
        notes.append(f"! hollow points are not to be relied on: {counted(codes)}")
    if not points:
        notes.append(f"none of the {runs:,} runs has a value")
    if any(point.low is not None for point in points):
        notes.append("bands and bars: 95 % intervals")
    return notes


def counted(codes: Sequence[str]) -> str:
    """Tell how often each caution is met."""
    return ", ".join(
        f"{code.replace('_', ' ')} ({codes.count(code)})" for code in dict.fromkeys(codes)
    )
