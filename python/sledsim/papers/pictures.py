"""The style of all figures, and their conversion to files."""

from __future__ import annotations

import io
import math
import textwrap
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from cycler import cycler
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from sledsim._core import SledsimError
from sledsim.papers.nearness import whole_of
from sledsim.papers.values import over
from sledsim.plots import curves
from sledsim.plots.frame import footnotes
from sledsim.plots.picture import METADATA
from sledsim.plots.scales import plain
from sledsim.plots.style import COLOURS, FAINT, INK, QUIET, SAVING, STYLE, VERDICTS
from sledsim.results import cautions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from sledsim.papers.judge import Verdict
    from sledsim.papers.model import Found, Item

_MARKERS: dict[Verdict, str] = {
    "reproduced": "o",
    "conditional": "D",
    "calibrated": "s",
    "input": "P",
    "repeat": "p",
    "erratum": "^",
    "contradiction": "v",
    "not_modelled": ".",
    "missed": "X",
}
_PUBLISHED: dict[str, Any] = {"facecolor": FAINT, "linewidth": 0}
_EXPECTED: dict[str, Any] = {
    "facecolor": "white",
    "edgecolor": QUIET,
    "hatch": "//////",
    "linewidth": 0.6,
}
_WIDTH_IN = 5.6  # wider, and its text becomes too small on a telephone
_DPI = 160
_FARTHEST = 1000.0
"""Percent; what is farther apart is drawn at the edge, its number beside it."""
_ROW_IN, _LINE_IN = 0.23, 0.2
_OWN_STYLE = {
    "figure.figsize": (_WIDTH_IN, 3.5),
    "font.size": 10.5,
    "axes.titlesize": 10.5,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "axes.prop_cycle": cycler(color=COLOURS),
}
"""What differs from other pictures: larger text, as pages show these narrow."""


def draw(item: Item, found: Found, document: dict[str, Any]) -> tuple[bytes, str]:
    """Draw an item, and return the picture as PNG and as SVG."""
    figure = figure_of(item, found, document)
    with mpl.rc_context({**SAVING, "svg.hashsalt": item.id}):
        png, svg = io.BytesIO(), io.StringIO()
        figure.savefig(png, format="png", dpi=_DPI, metadata=METADATA["png"])
        figure.savefig(svg, format="svg", transparent=True, metadata=METADATA["svg"])
    return png.getvalue(), svg.getvalue()


def figure_of(item: Item, found: Found, document: dict[str, Any]) -> Figure:
    """Draw an item.

    Its own ``draw`` does so; without one, its values are drawn against the published ones.
    """
    with style.context(["default", STYLE, _OWN_STYLE]):
        figure = Figure()
        own = getattr(item.module, "draw", None)
        if own is None:
            deviations(figure, document)
        else:
            own(figure, found)
            _published_points(item, figure)
            curves.fit(figure)
        width, height = figure.get_size_inches()
        height += footnotes(figure, cautions.lines({"": document["caution"]}))
        figure.set_size_inches(width, height)
    return figure


def _published_points(item: Item, figure: Figure) -> None:
    """Draw published points as hollow circles, their labels beside them."""
    for number in {point.axes for point in item.points}:
        if not 0 <= number < len(figure.axes):
            raise SledsimError(
                f"{item.id}: points.axes = {number}: its figure has {len(figure.axes)} axes"
            )
    look: dict[str, Any] = {"color": INK, "mfc": "white", "linestyle": "none", "marker": "o"}
    for point in item.points:
        axes = figure.axes[point.axes]
        axes.plot(point.x, point.y, **look, zorder=4)
        if point.what:
            axes.annotate(
                point.what,
                (point.x, point.y),
                (6, 5),
                textcoords="offset points",
                fontsize="small",
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6},
            )
    for number in sorted({point.axes for point in item.points}):
        curves.add_to_legend(figure.axes[number], "published", Line2D([], [], **look))


def deviations(figure: Figure, document: dict[str, Any]) -> None:
    """Draw the deviations of numbers from the published ones; orders and curves below."""
    kinds = {"order": _order, "shape": _curve}
    simulated = [value for value in document["values"] if value["simulated"] is not None]
    numbers = [value for value in simulated if value["kind"] not in kinds]
    others = [value for value in simulated if value["kind"] in kinds]
    labels = [textwrap.fill(value["what"], 30) for value in numbers]
    lines = [1.2 + label.count("\n") for label in labels]
    heights = [_ROW_IN * sum(lines) + 0.75] * bool(numbers)
    heights += [_height_in(value) for value in others]
    legend = _legend(numbers, list(document["readings"])) if numbers else {}
    figure.set_size_inches(_WIDTH_IN, sum(heights) + _LINE_IN * legend.get("lines", 0))
    axes = list(
        figure.subplots(len(heights), squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    )
    if numbers:
        legend.pop("lines")
        figure.legend(loc="outside upper center", columnspacing=1.2, handletextpad=0.4, **legend)
        _percents(axes.pop(0), numbers, labels, lines, list(document["readings"]))
    for own, value in zip(axes, others, strict=True):
        kinds[value["kind"]](own, value)


def _percents(
    axes: Axes,
    numbers: Sequence[Mapping[str, Any]],
    labels: Sequence[str],
    lines: Sequence[float],
    readings: Sequence[str],
) -> None:
    """Draw a row for each number: tolerance, expected value, simulated value.

    Between two limits nothing is off; beyond them counts from the nearer one.
    """
    places = [sum(lines[:row]) + lines[row] / 2 for row in range(len(lines))]
    axes.set_xscale("symlog", linthresh=1, linscale=1)
    axes.axvline(0, color=INK, linewidth=1)
    reach = [-3.0, 3.0]
    late: list[Any] = []  # what is drawn when the ends of the axis are known
    for place, value in zip(places, numbers, strict=True):
        simulated = value["simulated"]
        apart = value["distance"]
        if apart is None:  # no percent of nothing
            text = f"{simulated:.3g} {value['unit']}".strip()
        else:
            bars: list[Any] = [((-value["tolerance"], value["tolerance"]), 0.8, _PUBLISHED)]
            if expected := value["expected"]:
                middle = expected["value"] - _stated(value)
                ends = (middle - expected["tolerance"], middle + expected["tolerance"])
                bars.append((ends, 0.5, _EXPECTED))
            for ends, height, look in bars if _stated(value) else ():
                whole = whole_of(_stated(value), value["percent"])
                left, right = (100 * end / whole for end in ends)
                reach += [left, right]
                axes.barh(place, right - left, height, left=left, **look)
            for name, other in value["readings"].items():
                late.append((100 * other["distance"], place, _hollow(readings.index(name))))
            late.append((100 * apart, place, {**_filled(value["verdict"]), "zorder": 3}))
            inside = value["kind"] == "between" and value["agrees"]
            text = "met" if inside else _signed(100 * apart)
        where = (1.02, place)
        axes.annotate(
            text,
            where,
            xycoords=("axes fraction", "data"),
            va="center_baseline",
            annotation_clip=False,
        )
    reach = [min(max(end, -_FARTHEST), _FARTHEST) for end in (*reach, *(one[0] for one in late))]
    low, high = min(reach), max(reach)
    for percent, place, look in late:
        axes.plot(min(max(percent, low), high), place, **look)
    axes.set(xlim=(1.4 * low, 1.4 * high), ylim=(sum(lines), 0))
    powers = [power for power in range(4) if power % 2 == 0 or low * high > -300]
    ticks = [sign * 10.0**power for power in powers for sign in (-1, 1)]
    ticks = [0.0, *(tick for tick in ticks if low <= tick <= high)]
    axes.set_xticks(ticks, [_minus(f"{tick:+g}") if tick else "0" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(places, labels)
    axes.set_xlabel("simulated against published (%)\nlinear up to 1 %, logarithmic beyond")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _legend(numbers: Sequence[Mapping[str, Any]], readings: Sequence[str]) -> dict[str, Any]:
    """Return the entries of the legend of numbers, its columns and its lines."""
    shown = {value["verdict"] for value in numbers}
    handles: list[Artist] = [
        Line2D([], [], **_filled(verdict), label=verdict.replace("_", " "))
        for verdict in _MARKERS
        if verdict in shown
    ]
    handles.append(Patch(**_PUBLISHED, label="published"))
    if any(value["expected"] for value in numbers):
        handles.append(Patch(**_EXPECTED, label="by arithmetic or computation"))
    handles += [
        Line2D([], [], **_hollow(number), label=name.replace("_", " "))
        for number, name in enumerate(readings)
    ]
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, min(4, 68 // (longest + 4)))
    return {"handles": handles, "ncols": columns, "lines": 1 + -(-len(handles) // columns)}


def _height_in(value: Mapping[str, Any]) -> float:
    rows = len(value["simulated"]) if value["kind"] == "order" else 3
    return 0.9 + _LINE_IN * (_title(value).count("\n") + 1.1 * rows)


def _order(axes: Axes, value: Mapping[str, Any]) -> None:
    """Draw the numbers of an order, names as published from top to bottom."""
    simulated = value["simulated"]
    names = [*value["published"], *(name for name in simulated if name not in value["published"])]
    names = [name for name in names if name in simulated]
    numbers = [simulated[name] for name in names]
    axes.plot(numbers, range(len(names)), **_filled(value["verdict"]))
    axes.set_yticks(range(len(names)), names)
    apart = [abs(a - b) for place, a in enumerate(numbers) for b in numbers[:place] if a != b]
    digits = 3
    if apart and (top := max(map(abs, numbers))):  # as many as tell the numbers apart
        digits = min(max(digits, 1 + math.ceil(math.log10(top / min(apart)))), 7)
    for place, number in enumerate(numbers):
        axes.annotate(
            _minus(f"{number:,.{digits}g}"),
            (number, place),
            (8, 0),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
        )
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.locator_params(axis="x", nbins=4)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    _heading(axes, value)
    axes.set_xlabel(value["unit"])
    axes.margins(x=0.12, y=0.3)


def _curve(axes: Axes, value: Mapping[str, Any]) -> None:
    """Draw the numbers of a shape one after the other."""
    numbers = value["simulated"]
    few: Any = {"marker": "o", "markersize": 4} if len(numbers) <= 12 else {}
    axes.plot(numbers, color=VERDICTS[value["verdict"]], **few)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.locator_params(axis="y", nbins=4)
    _heading(axes, value)
    axes.set_ylabel(value["unit"])
    axes.set_xticks([])


def _heading(axes: Axes, value: Mapping[str, Any]) -> None:
    """Write the title of a value above its axes, from the left edge of the figure."""
    where = ("figure fraction", "axes fraction")
    axes.annotate(_title(value), (0.01, 1.05), xycoords=where, va="bottom")


def _title(value: Mapping[str, Any]) -> str:
    return textwrap.fill(value["what"], 58)


def _filled(verdict: Verdict) -> dict[str, Any]:
    return {"marker": _MARKERS[verdict], "color": VERDICTS[verdict], "linestyle": "none"}


def _hollow(number: int) -> dict[str, Any]:
    return {
        "marker": "s^vP<>"[number % 6],
        "color": COLOURS[number % len(COLOURS)],
        "fillstyle": "none",
        "linestyle": "none",
    }


def _stated(value: Mapping[str, Any]) -> float:
    """Return what a number is compared with: the published one, or the nearer limit."""
    number: float = value["simulated"] - over(value)
    return number


def _signed(percent: float) -> str:
    if abs(percent) < 0.005:
        return "0 %"
    if percent >= _FARTHEST:
        return f"{plain(float(f'{1 + percent / 100:.2g}'))} times"
    return _minus(f"{percent:+.{0 if abs(percent) >= 10 else 1 if abs(percent) >= 1 else 2}f} %")


def _minus(text: str) -> str:
    return text.replace("-", "\u2212")
