"""Shared code of both parts of Figure 7."""

from typing import Any

from matplotlib.figure import Figure

import sledsim as ss
from sledsim.papers.osdi2000 import curves
from sledsim.papers.osdi2000.traces import Scaled

LIMIT_MS, TOP_MS = 20, 100


def sweep(scaled: Scaled) -> dict[str, curves.Curve]:
    """Raise the scaling factor for each scheduler, up to 100 ms."""
    device = ss.device("osdi2000")
    return curves.sweep(scaled.load, device, scaled.factors, end_ms=TOP_MS)


def by_lbn(found: dict[str, curves.Curve]) -> str:
    """Return the better of the two schedulers that know LBNs only."""
    return max("C-LOOK", "SSTF_LBN", key=lambda name: found[name].knee(LIMIT_MS))


def margin(found: dict[str, curves.Curve]) -> float:
    """Return how many times as long as SPTF the better scheduler by LBN takes.

    That is at the factor at which the latter comes to the limit.
    """
    return LIMIT_MS / found["SPTF"].at(found[by_lbn(found)].knee(LIMIT_MS))


def series(scaled: Scaled, found: dict[str, curves.Curve]) -> dict[str, Any]:
    """Return the curves of the figure."""
    return {"load": scaled.name, "curves": curves.series(found)}


def draw(figure: Figure, drawn: Any) -> None:
    """Draw all four curves on the paper's axis of times."""
    axes = figure.add_subplot()
    curves.draw_means(axes, drawn["curves"], TOP_MS)
    axes.set(xlabel="trace scaling factor", xlim=(0, None))
    axes.set_title(drawn["load"], fontsize=10)
