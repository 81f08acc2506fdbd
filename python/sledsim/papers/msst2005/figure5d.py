"""Figure 5(d): sizes of the MEMS and of segments under hplajw."""

from sledsim.papers import Found, Simulated
from sledsim.papers.msst2005 import figure5, runs

draw = figure5.draw


def compare(curves: figure5.Curves) -> dict[str, Simulated]:
    """Return the effects of larger segments, with less and more MEMS."""
    smallest = curves[64]
    return {
        "to_64": [ms for segment, ms in smallest.items() if 8 <= segment <= 64],
        "from_64": [ms for segment, ms in smallest.items() if segment >= 64],
        "best_kib": figure5.best(curves[runs.MEMS_MIB]),
        "best_infinite_kib": figure5.best(curves[runs.INFINITE_MIB]),
        "sizes": [own[64] for own in curves.values()],
    }


def simulate(*, quick: bool) -> Found:
    """Run with all sizes."""
    return figure5.simulate("hplajw", compare, quick=quick, hypotheses={"cleaning": runs.CLEANING})
