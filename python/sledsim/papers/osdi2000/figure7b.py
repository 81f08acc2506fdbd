"""Figure 7(b): four schedulers on the sled, the load of TPC-C."""

from matplotlib.figure import Figure

from sledsim.papers import Found
from sledsim.papers.osdi2000 import figure7, traces


def simulate(*, quick: bool) -> Found:  # noqa: ARG001 (a trace is as long as it is)
    """Raise the scaling factor for each scheduler, and do so for Figure 7(a)."""
    scaled, other = traces.tpc_c(), traces.cello()
    found, cello = figure7.sweep(scaled), figure7.sweep(other)
    knees = {name: curve.knee(figure7.LIMIT_MS) for name, curve in found.items()}
    return Found(
        {
            "knees": {
                "FCFS": knees["FCFS"],
                "by LBN": knees[figure7.by_lbn(found)],
                "SPTF": knees["SPTF"],
            },
            "margin": {"Cello": figure7.margin(cello), "TPC-C": figure7.margin(found)},
        },
        series=figure7.series(scaled, found),
        note=f"{scaled.note} For Figure 7(a): {other.name}.",
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw all four curves."""
    figure7.draw(figure, found.series)
