"""Figure 4(c): techniques of the MEMS caching disk under cello."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure4

draw = figure4.draw
KEYS = ("gain_least", "gain_most", "ireport", "pwrite", "shortcut", "fetched")


def simulate(*, quick: bool) -> Found:
    """Run each technique."""
    return figure4.simulate("cello", KEYS, quick=quick)
