"""Figure 7(b): four schedulers on the sled, the load of TPC-C."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import figure7, traces

BY_LBN = {"c_look": "C-LOOK", "sstf": "SSTF_LBN"}


def simulate(*, quick: bool, setup: Setup) -> Found:  # a trace is as long as it is
    """Raise the scaling factor for each scheduler, and do so for Figure 7(a)."""
    scaled, other = traces.tpc_c(**setup["tpc_c"]), traces.cello()
    found, cello = figure7.sweep(scaled, setup), figure7.sweep(other, setup)
    knees = figure7.knees(found)
    values = {}
    for key, name in BY_LBN.items():
        values[f"knees_{key}"] = {each: knees[each] for each in ("FCFS", name, "SPTF")}
        values[f"margin_{key}"] = {
            "Cello": figure7.margin(cello, name),
            "TPC-C": figure7.margin(found, name),
        }
    return Found(
        values,
        series=figure7.series(scaled, found),
        note=f"{scaled.note} For Figure 7(a): {other.name}.",
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw all four curves."""
    figure7.draw(figure, found.series)
