"""The look of all figures, and how they become files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from cycler import cycler
from matplotlib import style
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sledsim.papers.model import Found, Item

INK, FAINT = "#1b1f24", "#d3d7dc"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#56606b")
"""Colours that remain apart for the colour-blind, and on white as well as on black (the report
replaces each by its own)."""

VERDICTS = {"reproduced": "#009e73", "explained": "#8a6d00", "missed": "#c4314b"}

STYLE = {
    "figure.constrained_layout.use": True,
    "figure.figsize": (6.4, 3.8),
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
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
        png, svg = io.BytesIO(), io.StringIO()
        figure.savefig(png, format="png", dpi=160, facecolor="white", metadata={"Software": None})
        nothing = dict.fromkeys(["Creator", "Date", "Format", "Type"])
        figure.savefig(svg, format="svg", transparent=True, metadata=nothing)
    return png.getvalue(), svg.getvalue()


def deviations(figure: Figure, document: dict[str, Any]) -> None:
    """Draw how far the numbers of an item are from the published ones."""
    numbers = [
        value
        for value in document["values"]
        if isinstance(value["simulated"], int | float) and value["published"]
    ]
    figure.set_size_inches(6.4, 1.3 + 0.34 * len(numbers))
    axes = figure.add_subplot()
    axes.axvline(0, color=INK, linewidth=1)
    for place, value in enumerate(numbers):
        band = 100 * value["tolerance"] / abs(value["published"])
        axes.barh(place, 2 * band, 0.6, left=-band, color=FAINT)
        for name, other in value["hypotheses"].items():
            number = list(document["hypotheses"]).index(name)
            percent = _percent(other["simulated"], value)
            axes.plot(
                percent,
                place,
                "os^v"[number],
                color=COLOURS[number],
                fillstyle="none",
                label=name.replace("_", " "),
            )
        percent = _percent(value["simulated"], value)
        axes.plot(percent, place, "D", color=VERDICTS[value["verdict"]], zorder=3)
    _without_repeats(axes, figure)
    axes.set_yticks(range(len(numbers)), [value["what"] for value in numbers])
    axes.set(ylim=(len(numbers) - 0.4, -0.6), xlabel="simulated against published (%)")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _percent(simulated: float, value: Mapping[str, Any]) -> float:
    return 100 * (simulated / float(value["published"]) - 1)


def _without_repeats(axes: Axes, figure: Figure) -> None:
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    if once:
        figure.legend(once.values(), once.keys(), loc="outside upper center", ncols=3)
