"""Figure 4(c): techniques of the MEMS caching disk under cello."""

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import figure4

draw = figure4.draw
KEYS = ("gain", "ireport", "pwrite", "shortcut", "fetched")


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run each technique."""
    return figure4.simulate("cello", KEYS, quick=quick, setup=setup)
