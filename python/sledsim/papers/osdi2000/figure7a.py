"""Figure 7(a): four schedulers on the sled, the load of a Unix server."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import figure7, traces


def simulate(*, quick: bool, setup: Setup) -> Found:  # a trace is as long as it is
    """Raise the scaling factor for each scheduler."""
    scaled = traces.cello()
    found = figure7.sweep(scaled, setup)
    knees = figure7.knees(found)
    by_name = {name: found[name].at(knees["C-LOOK"]) for name in ("SPTF", "SSTF_LBN", "C-LOOK")}
    return Found(
        {"knees": knees, "high_ms": by_name},
        series=figure7.series(scaled, found),
        note=scaled.note,
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw all four curves."""
    figure7.draw(figure, found.series)
