"""Figure 4(b): techniques of the MEMS caching disk under TPCC."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure4

draw = figure4.draw
KEYS = ("gain_least", "gain_most", "none_ms", "all_ms", "ireport")


def simulate(*, quick: bool) -> Found:
    """Run each technique."""
    return figure4.simulate("tpcc", KEYS, quick=quick)
