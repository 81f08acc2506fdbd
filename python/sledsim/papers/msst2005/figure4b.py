"""Figure 4(b): techniques of the MEMS caching disk under TPCC."""

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import figure4

draw = figure4.draw
KEYS = ("gain", "ireport", "none_ms", "all_ms")


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run each technique."""
    return figure4.simulate("tpcc", KEYS, quick=quick, setup=setup)
