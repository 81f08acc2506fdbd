"""Figure 13: run time of PostMark, split into I/O stall and computing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found, Simulated
from sledsim.papers.sigmetrics2000 import applications as apps
from sledsim.plots import run_times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup


def simulate(*, quick: bool, setup: Setup) -> Found:  # it takes no time
    """Run PostMark on a file system on three devices, or replay a recording of it."""
    recorded = setup["figure13"] == "recording"
    found = apps.outcomes("postmark", setup) if recorded else apps.postmark(setup)
    mems, atlas = found["MEMS"].facts, found["Atlas 10K"].facts
    values: dict[str, Simulated] = {
        **apps.compared(found),
        "disk_access_ms": atlas.access_ms or 0.0,
        "mems_access_ms": mems.access_ms or 0.0,
        "blocks": mems.mean_blocks or 0.0,
        "requests": mems.reads + mems.writes,
    }
    return Found(values, series=apps.series(found))


def draw(figure: Figure, found: Found) -> None:
    """Draw stacked bars."""
    run_times.draw(figure.add_subplot(), list(found.series), list(found.series.values()))
