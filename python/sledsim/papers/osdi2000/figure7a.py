"""Figure 7(a): four schedulers on the sled, the load of a Unix server."""

from matplotlib.figure import Figure

from sledsim.papers import Found
from sledsim.papers.osdi2000 import figure7, traces


def simulate(*, quick: bool) -> Found:  # noqa: ARG001 (a trace is as long as it is)
    """Raise the scaling factor for each scheduler."""
    scaled = traces.cello()
    found = figure7.sweep(scaled)
    knees = {name: curve.knee(figure7.LIMIT_MS) for name, curve in found.items()}
    at = knees["SPTF"]
    return Found(
        {"knees": {"FCFS": knees["FCFS"], "by LBN": knees[figure7.by_lbn(found)], "SPTF": at}},
        series=figure7.series(scaled, found),
        note=scaled.note,
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw all four curves."""
    figure7.draw(figure, found.series)
