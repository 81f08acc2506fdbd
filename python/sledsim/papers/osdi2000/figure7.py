"""Shared code of both parts of Figure 7."""

from typing import Any

from matplotlib.figure import Figure

from sledsim.papers import Setup
from sledsim.papers.osdi2000 import curves, parts
from sledsim.papers.osdi2000.traces import Scaled
from sledsim.plots.curves import heading

LIMIT_MS, TOP_MS = 20, 100


def sweep(scaled: Scaled, setup: Setup) -> dict[str, curves.Curve]:
    """Raise the scaling factor for each scheduler, up to 100 ms."""
    return curves.sweep(scaled.load, parts.sled(setup), scaled.factors, end_ms=TOP_MS)


def knees(found: dict[str, curves.Curve]) -> dict[str, float]:
    """Return the factors at which the schedulers come to the limit."""
    return {name: curve.knee(LIMIT_MS) for name, curve in found.items()}


def margin(found: dict[str, curves.Curve], other: str) -> float:
    """Return how many times as long as with SPTF a request takes, where it takes the limit."""
    return LIMIT_MS / found["SPTF"].at(found[other].knee(LIMIT_MS))


def series(scaled: Scaled, found: dict[str, curves.Curve]) -> dict[str, Any]:
    """Return the curves of the figure."""
    return {"load": scaled.name, "curves": curves.series(found)}


def draw(figure: Figure, drawn: Any) -> None:
    """Draw all four curves on the paper's axis of times."""
    axes = figure.add_subplot()
    curves.draw_means(axes, drawn["curves"], TOP_MS)
    axes.set(xlabel="trace scaling factor", xlim=(0, None))
    heading(axes, drawn["load"])
