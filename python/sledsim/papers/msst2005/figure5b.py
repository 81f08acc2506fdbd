"""Figure 5(b): sizes of the MEMS and of segments under TPCC."""

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import figure5

draw = figure5.draw


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run with all sizes."""
    return figure5.simulate("tpcc", figure5.small_requests, quick=quick, setup=setup)
