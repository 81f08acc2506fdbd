"""The style of all figures, and their conversion to files."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from cycler import cycler
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from sledsim import cautions
from sledsim._core import SledsimError
from sledsim.papers.values import over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from sledsim.papers.judge import Verdict
    from sledsim.papers.model import Found, Item

INK, FAINT = "#1b1f24", "#d3d7dc"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#56606b")
"""Colours that remain apart for the colour-blind. The report gives these, the two above, those of
the verdicts and white other values on a dark background. Black stays black: for what lies on a
picture that has colours of its own."""

VERDICTS: dict[Verdict, str] = {
    "reproduced": "#009e73",
    "conditional": "#0072b2",
    "calibrated": "#8a6d00",
    "input": "#56606b",
    "erratum": "#aa4499",
    "not_modelled": FAINT,
    "missed": "#c4314b",
}
_MARKERS: dict[Verdict, str] = {
    "reproduced": "o",
    "conditional": "D",
    "calibrated": "s",
    "input": "P",
    "erratum": "^",
    "not_modelled": ".",
    "missed": "X",
}
_EXPECTED: dict[str, Any] = {"color": VERDICTS["erratum"], "alpha": 0.45, "linewidth": 0}

STYLE = {
    "figure.constrained_layout.use": True,
    "figure.figsize": (5.6, 3.5),  # wider, and its text becomes too small on a telephone
    "svg.fonttype": "none",  # text stays text: it takes the font of the page
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "patch.edgecolor": INK,
    "hatch.color": INK,
    "axes.prop_cycle": cycler(color=COLOURS),
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}


def draw(item: Item, found: Found, document: dict[str, Any]) -> tuple[bytes, str]:
    """Draw an item, and return the picture as PNG and as SVG.

    Its own ``draw`` does so; without one, its values are drawn against the published ones.
    """
    with style.context(["default", STYLE]), mpl.rc_context({"svg.hashsalt": item.id}):
        figure = Figure()
        own = getattr(item.module, "draw", None)
        if own is None:
            deviations(figure, document)
        else:
            own(figure, found)
            _published_points(item, figure)
        cautions.below(figure, {"": document["caution"]}, fontsize=8)
        png, svg = io.BytesIO(), io.StringIO()
        figure.savefig(png, format="png", dpi=160, facecolor="white", metadata={"Software": None})
        nothing = dict.fromkeys(["Creator", "Date", "Format", "Type"])
        figure.savefig(svg, format="svg", transparent=True, metadata=nothing)
    return png.getvalue(), svg.getvalue()


def _published_points(item: Item, figure: Figure) -> None:
    """Draw published points as hollow circles, their labels beside them."""
    for number in {point.axes for point in item.points}:
        if not 0 <= number < len(figure.axes):
            msg = f"{item.id}: points.axes = {number}: its figure has {len(figure.axes)} axes"
            raise SledsimError(msg)
    named: set[int] = set()
    for point in item.points:
        axes = figure.axes[point.axes]
        label = "_" if point.axes in named else "published"
        named.add(point.axes)
        axes.plot(point.x, point.y, "o", color=INK, fillstyle="none", zorder=4, label=label)
        if point.what:
            at = (point.x, point.y)
            axes.annotate(point.what, at, (5, 4), textcoords="offset points", fontsize=9)
    for number in named:
        figure.axes[number].legend()


def deviations(figure: Figure, document: dict[str, Any]) -> None:
    """Draw the deviations of numbers from the published ones; orders and curves below."""
    kinds = {"order": _order, "shape": _curve}
    simulated = [value for value in document["values"] if value["simulated"] is not None]
    numbers = [value for value in simulated if value["kind"] not in kinds]
    others = [value for value in simulated if value["kind"] in kinds]
    labels = [textwrap.fill(value["what"], 30) for value in numbers]
    lines = [1.2 + label.count("\n") for label in labels]
    heights = [0.23 * sum(lines) + 0.7] * bool(numbers)
    heights += [0.8 + (0.2 * len(v["published"]) if v["kind"] == "order" else 0.8) for v in others]
    figure.set_size_inches(5.6, sum(heights) + (0.35 if numbers else 0))
    axes = list(
        figure.subplots(len(heights), squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    )
    if numbers:
        _percents(figure, axes.pop(0), numbers, labels, lines, list(document["readings"]))
    for own, value in zip(axes, others, strict=True):
        kinds[value["kind"]](own, value)


def _percents(
    figure: Figure,
    axes: Axes,
    numbers: Sequence[Mapping[str, Any]],
    labels: Sequence[str],
    lines: Sequence[float],
    readings: Sequence[str],
) -> None:
    """Draw a row for each number: tolerance, expected value, simulated value."""
    places = [sum(lines[:row]) + lines[row] / 2 for row in range(len(lines))]
    axes.set_xscale("symlog", linthresh=1, linscale=1)
    axes.axvline(0, color=INK, linewidth=1)
    reach = [-3.0, 3.0]
    for place, value in zip(places, numbers, strict=True):
        simulated, ends = value["simulated"], _ends(value)
        published = (ends[0] + ends[1]) / 2
        if not published:  # no percent of nothing
            text = f"{simulated:.3g} {value['unit']}".strip()
        else:
            left, right = (_percent(end, published) for end in ends)
            reach += [left, right]
            axes.barh(place, right - left, 0.8, left=left, color=FAINT)
            if expected := value["expected"]:
                apart = (expected["value"] - expected["tolerance"] * sign for sign in (1, -1))
                left, right = (_percent(end, published) for end in apart)
                reach += [left, right]
                axes.barh(place, right - left, 0.8, left=left, **_EXPECTED)
            for name, other in value["readings"].items():
                percent = _percent(other["simulated"], published)
                reach.append(percent)
                axes.plot(percent, place, **_hollow(readings.index(name)))
            percent = _percent(simulated, published)
            reach.append(percent)
            inside = value["kind"] == "between" and value["agrees"]
            text = "met" if inside else _signed(_percent(over(value) + published, published))
            axes.plot(percent, place, **_filled(value["verdict"]), zorder=3)
        where = (1.02, place)
        axes.annotate(
            text,
            where,
            xycoords=("axes fraction", "data"),
            va="center_baseline",
            fontsize=9,
            annotation_clip=False,
        )
    axes.set(xlim=(1.4 * min(reach), 1.4 * max(reach)), ylim=(sum(lines), 0))
    ticks = [sign * 10.0**power for power in range(7) for sign in (-1, 1)]
    ticks = [0.0, *(tick for tick in ticks if min(reach) <= tick <= max(reach))]
    axes.set_xticks(ticks, [_minus(f"{tick:+g}") if tick else "0" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(places, labels)
    axes.set_xlabel("simulated against published (%)\nlinear up to 1 %, logarithmic beyond")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    _legend(figure, numbers, readings)


def _legend(figure: Figure, numbers: Sequence[Mapping[str, Any]], readings: Sequence[str]) -> None:
    shown = {value["verdict"] for value in numbers}
    handles: list[Artist] = [
        Line2D([], [], **_filled(verdict), label=verdict.replace("_", " "))
        for verdict in VERDICTS
        if verdict in shown
    ]
    handles.append(Patch(color=FAINT, label="published"))
    if any(value["expected"] for value in numbers):
        handles.append(Patch(**_EXPECTED, label="by arithmetic or computation"))
    handles += [
        Line2D([], [], **_hollow(number), label=name.replace("_", " "))
        for number, name in enumerate(readings)
    ]
    longest = max(len(str(handle.get_label())) for handle in handles)
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=max(1, min(4, 68 // (longest + 4))),
        columnspacing=1.2,
        handletextpad=0.4,
    )


def _order(axes: Axes, value: Mapping[str, Any]) -> None:
    """Draw the numbers of an order, names as published from top to bottom."""
    simulated = value["simulated"]
    names = [*value["published"], *(name for name in simulated if name not in value["published"])]
    names = [name for name in names if name in simulated]
    look = _filled(value["verdict"])
    axes.plot([simulated[name] for name in names], names, **look)
    axes.invert_yaxis()
    _heading(axes, value)
    axes.set_xlabel(value["unit"])
    axes.margins(y=0.15)


def _curve(axes: Axes, value: Mapping[str, Any]) -> None:
    """Draw the numbers of a shape one after the other."""
    axes.plot(value["simulated"], color=VERDICTS[value["verdict"]])
    _heading(axes, value)
    axes.set_ylabel(value["unit"])
    axes.set_xticks([])


def _heading(axes: Axes, value: Mapping[str, Any]) -> None:
    """Write the title of a value above its axes, from the left edge of the figure."""
    where = ("figure fraction", "axes fraction")
    axes.annotate(textwrap.fill(value["what"], 58), (0.01, 1.06), xycoords=where, va="bottom")


def _ends(value: Mapping[str, Any]) -> tuple[float, float]:
    """Return between which numbers a value agrees with the published one."""
    printed = value["published"]
    low, high = (printed, printed) if isinstance(printed, str) else printed
    return float(low) - value["tolerance"], float(high) + value["tolerance"]


def _filled(verdict: Verdict) -> dict[str, Any]:
    return {"marker": _MARKERS[verdict], "color": VERDICTS[verdict], "linestyle": "none"}


def _hollow(number: int) -> dict[str, Any]:
    return {
        "marker": "s^vP<>"[number % 6],
        "color": COLOURS[number % len(COLOURS)],
        "fillstyle": "none",
        "linestyle": "none",
    }


def _percent(number: float, published: float) -> float:
    return 100 * (number - published) / abs(published)


def _signed(percent: float) -> str:
    if abs(percent) < 0.005:
        return "0 %"
    return _minus(f"{percent:+.{0 if abs(percent) >= 10 else 1 if abs(percent) >= 1 else 2}f} %")


def _minus(text: str) -> str:
    return text.replace("-", "\u2212")
