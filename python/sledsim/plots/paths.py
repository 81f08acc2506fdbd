"""Ways of arms and sleds over time."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim._arguments import real, refuse, whole
from sledsim._number_text import number
from sledsim.plots import curves, scales, texts
from sledsim.plots.frame import Panel, picture
from sledsim.plots.moves import services_of, stamps_of
from sledsim.plots.style import CAUSES, INK, QUIET
from sledsim.plots.subjects import cautions_of, facts, runs_of, subject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.moves import Axis, Service
    from sledsim.plots.picture import Picture
    from sledsim.plots.subjects import Subject
    from sledsim.simulation import Run

DRAWN = 200
"""So many requests are drawn unless more are asked for."""
STRAIGHT = "ways are drawn straight between their ends"
_LABELS = {"cylinder": "cylinder", "row": "boundary\nof rows"}
_PANEL_IN, _NAME_IN = 2.7, 1.8
_WIDEST, _THINNEST, _WIDE = 2.4, 0.9, 12.0
"""Widths of lines in points: the limits, and that of one request an inch."""
_OUTLINE, _GAP = 1.0, 0.8
_EDGE = 0.04
_ARRIVAL: Any = {
    "color": INK,
    "linestyle": "none",
    "marker": "|",
    "markersize": 5,
    "markeredgewidth": 0.8,
}


@dataclass(frozen=True, slots=True)
class Way:
    """What one device served for a run: a panel for each axis."""

    label: str
    device: str
    drawn: list[Service]
    """The requests that are drawn, in the order of arrivals."""
    of: int
    """How many there are."""

    @property
    def moved(self) -> list[Service]:
        """Those of the drawn that have a way, in the order in which they were served."""
        return sorted((one for one in self.drawn if one.moved), key=lambda one: one.start_ms)

    @property
    def whole(self) -> str:
        """The outermost device: its runs, and its parts, share the axis of time."""
        return self.device.partition(".")[0]

    @property
    def axes(self) -> Sequence[Axis]:
        """What is drawn over time."""
        return ("cylinder", "row") if self.moved[0].is_sled else ("cylinder",)

    def heading(self, axes: Axes) -> str:
        """Return the totals of what is drawn, in lines that fit above axes."""
        count = len(self.drawn)
        cylinders = sum(one.row["cylinders"] for one in self.moved)
        mean = number(sum(one.response_ms for one in self.drawn) / count, 3)
        whole = f"{count:,} request{'s' * (count != 1)}"
        totals = (whole, f"{cylinders:,} cylinders", f"mean response {mean} ms")
        text = f"{texts.cut(self.label, _NAME_IN)}: " + ", ".join(
            total.replace(" ", "\u00a0") for total in totals
        )
        return texts.wrapped(text, max(1.5, scales.inches_of(axes)[0]))


def path(
    of: Subject,
    *,
    requests: int | None = None,
    start_ms: float = 0.0,
    **how: Unpack[How],
) -> Picture:
    """Draw where the arm of a disk or a sled went over time, and why it took so long.

    Each run has a panel, and each sled one more, for Y: the boundaries between its rows. Runs of
    one device share their axes. Lines are coloured by cause, as in :func:`~sledsim.plots.causes`:
    a seek leads from one cylinder to another, and what follows it stays there. Marks show when
    requests arrived, and for which cylinder. The heading has the totals of what is drawn.

    Parameters
    ----------
    of
        A run, a comparison, or runs by their labels, with rows. Rows of a device made of devices
        must have its parts, of which each has panels of its own: ``simulate(..., parts=True)``.
    requests
        How many requests are drawn, those that arrive first; by default 200.
    start_ms
        Leave out what arrives earlier.
    **how
        As for :func:`~sledsim.plots.cdf`; on axes that were given there is no title by default.
        Panels are ``cylinder`` and ``row``, of several runs behind their labels.

    Raises
    ------
    SledsimError
        If rows were not kept, or none of them says where something moved; if nothing arrives so
        late; for an unknown size, or a missing library.
    """
    runs = runs_of(of)
    ways = [way for label, run in runs.items() for way in ways_of(label, run, requests, start_ms)]
    lines = max(len(way.axes) for way in ways)
    panels = panels_of(ways)
    across = len(panels) == lines * len(ways)
    given = how.get("ax") is not None
    if given:
        how = {"title": "", **how}
    return picture(
        how,
        panels,
        subject(of),
        facts=facts(of, intervals=False),
        found=cautions_of(runs),
        notes=notes(ways),
        lines=lines if across else 1,
        stacked=not across,
        width_in=max(5.2, min(4, len(ways)) * _PANEL_IN),
        height_in=2.3 if len(panels) > 1 else 2.6,
        key=lambda: keys(ways),
    )


def panels_of(
    ways: Sequence[Way], *, legend: bool = False, chosen: str | None = None
) -> dict[str, Panel]:
    """Return the panels of ways by their names; the first and the chosen have a legend if any."""
    shown = [(way, axis) for way in ways for axis in way.axes]
    found: dict[str, Panel] = {}
    for way, axis in shown:
        name = axis if len(ways) == 1 else f"{way.label} {axis}"
        first = legend and (not found or name == chosen)

        def draw_way(axes: Axes, way: Way = way, axis: Axis = axis, first: bool = first) -> None:
            draw([axes], [(way, axis)], ways)
            if first:
                title = axes.get_title(loc="left")
                curves.legend_above(axes, keys(ways))
                curves.heading(axes, title)

        what = f"{_LABELS[axis]} over time, by cause".replace("\n", " ")
        found[name] = Panel(draw_way, what, x=way.whole, y=(way.device, axis))
    return found


def ways_of(label: str, run: Run, requests: int | None = None, start_ms: float = 0.0) -> list[Way]:
    """Return the ways of the devices of a run; of several, the labels name the device."""
    most = DRAWN if requests is None else whole("requests", requests, 1)
    since = real("start_ms", start_ms, 0)
    served = stamps_of(run)
    ways = []
    for device, stamps in served.items():
        of_these = [stamp for stamp in stamps if stamp.arrival_ns >= since * 1e6][:most]
        drawn = services_of(run, of_these)
        name = label if len(served) == 1 else f"{label}, {device}"
        name = device if device.partition(".")[0] == label else name
        if any(one.moved for one in drawn):
            ways.append(Way(name, device, drawn, len(stamps)))
    if not ways:
        last = max(stamps[-1].arrival_ns for stamps in served.values()) / 1e6
        refuse("start_ms", start_ms, f"early enough: the last request arrives at {last:g} ms")
    return ways


def draw(panels: Sequence[Axes], shown: Sequence[tuple[Way, Axis]], ways: Sequence[Way]) -> None:
    """Draw ways on axes, each along one axis; those of one device share their limits."""
    for axes, (way, axis) in zip(panels, shown, strict=True):
        _lines(axes, way.moved, axis)
        _limits(axes, ways, way, axis)
        axes.set(xlabel="time, ms", ylabel=_LABELS[axis])
        scales.linear(axes, "x")
        scales.linear(axes, "y")
        if axis == "cylinder":
            axes.set_title(way.heading(axes), fontweight="normal")


def keys(ways: Sequence[Way]) -> dict[str, Any]:
    """Return what the legend of ways shows, in the order of the causes."""
    from matplotlib.lines import Line2D  # an extra
    from matplotlib.patches import Patch

    met = {leg.cause for way in ways for one in way.moved for leg in one.legs("cylinder")}
    causes = {
        cause.replace("_", " "): Patch(facecolor=colour)
        for cause, colour in CAUSES.items()
        if cause in met
    }
    found = {**causes, "arrival": Line2D([], [], **_ARRIVAL)}
    if any(len(way.moved) > 1 for way in ways):
        found["no request"] = Line2D([], [], color=QUIET, linewidth=_GAP)
    return found


def notes(ways: Sequence[Way]) -> list[str]:
    """Return what a reader of ways should know."""
    found = []
    for way in ways:
        if len(way.drawn) < way.of:
            found.append(f"drawn are {len(way.drawn):,} of {way.of:,} requests")
        if others := len(way.drawn) - len(way.moved):
            found.append(f"{way.label}: {others:,} have no way of their own, as in a buffer")
    return [*dict.fromkeys(found), STRAIGHT]


def _lines(axes: Axes, moved: Sequence[Service], axis: Axis) -> None:
    """Draw ways: an outline with all their places, and on it a piece for each cause."""
    from matplotlib.collections import LineCollection  # an extra

    legs = [one.legs(axis) for one in moved]
    room = _WIDE * scales.inches_of(axes)[0] / len(moved)
    width = min(_WIDEST, max(_THINNEST, room))
    for before, after in itertools.pairwise(legs):
        (*_, last), (first, *_) = before, after
        if first.start_ms > last.end_ms or first.start != last.end:
            gap = ((last.end_ms, first.start_ms), (last.end, first.start))
            axes.plot(*gap, color=QUIET, linewidth=_GAP, label="_no request")
    outline: list[tuple[float, float]] = []
    pieces: dict[str, list[Sequence[tuple[float, float]]]] = {}
    for way in legs:
        outline += [(way[0].start_ms, way[0].start), *((leg.end_ms, leg.end) for leg in way)]
        outline.append((math.nan, math.nan))
        for leg in way:
            ends = ((leg.start_ms, leg.start), (leg.end_ms, leg.end))
            pieces.setdefault(leg.cause, []).append(ends)
    whole = axes.plot(*zip(*outline, strict=True), color=INK, label="_way", solid_joinstyle="round")
    whole[0].set(linewidth=width + _OUTLINE, solid_capstyle="round")
    for cause, parts in pieces.items():
        line = LineCollection(parts, colors=CAUSES[cause], linewidths=width, zorder=2.1)
        line.set(label=f"_{cause}", capstyle="round")
        axes.add_collection(line)
    marks = [(one.arrival_ms, one.row[f"to_{axis}"]) for one in moved]
    axes.plot(*zip(*marks, strict=True), label="_arrival", **_ARRIVAL)


def _limits(axes: Axes, ways: Sequence[Way], own: Way, axis: Axis) -> None:
    """Show all of the ways that share an axis with one, with room at the edges."""
    of_time = [one for way in ways if way.whole == own.whole for one in way.moved]
    of_place = [one for way in ways if way.device == own.device for one in way.moved]
    every = {
        "x": [time for one in of_time for time in (one.arrival_ms, one.end_ms)],
        "y": [place for one in of_place for leg in one.legs(axis) for place in leg[-2:]],
    }
    for which, values in every.items():
        low, high = min(values), max(values)
        edge = _EDGE * (high - low) or 0.5
        axes.set(**{f"{which}lim": (low - edge, high + edge)})
