"""Figure 5(c): sizes of the MEMS and of segments under cello."""

from sledsim.papers import Found, Simulated
from sledsim.papers.msst2005 import figure5, runs

draw = figure5.draw


def compare(curves: figure5.Curves) -> dict[str, Simulated]:
    """Say what larger segments do."""
    curve = curves[runs.MEMS_MIB]
    return {
        "best_kib": figure5.best(curve),
        "larger": min(ms for segment, ms in curve.items() if segment > 8) / curve[8],
        "sizes": [own[8] for own in curves.values()],
    }


def simulate(*, quick: bool) -> Found:
    """Run with all sizes."""
    return figure5.simulate("cello", compare, quick=quick, hypotheses={"cleaning": runs.CLEANING})
