"""Figure 5(c): sizes of the MEMS and of segments under cello."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure5, runs

draw = figure5.draw


def simulate(*, quick: bool) -> Found:
    """Run with all sizes."""
    return figure5.simulate(
        "cello",
        figure5.larger_segments,
        quick=quick,
        hypotheses={"cleaning": runs.CLEANING},
    )
