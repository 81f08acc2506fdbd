"""Figure 14: run time of query 4 of TPC-D, split into I/O stall and computing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found, Simulated
from sledsim.papers.sigmetrics2000 import applications as apps
from sledsim.plots import run_times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

HITS = {"disk_hits": "Atlas 10K", "superdisk_hits": "Superdisk", "mems_hits": "MEMS"}


def simulate(*, quick: bool, setup: Setup) -> Found:  # it takes no time
    """Replay the query on three devices."""
    found = apps.outcomes("tpch-q4", setup)
    values: dict[str, Simulated] = {
        **apps.compared(found),
        **{key: found[name].facts.read_hits or 0.0 for key, name in HITS.items()},
    }
    return Found(values, series=apps.series(found))


def draw(figure: Figure, found: Found) -> None:
    """Draw stacked bars."""
    run_times.draw(figure.add_subplot(), list(found.series), list(found.series.values()))
