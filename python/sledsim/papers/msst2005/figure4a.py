"""Figure 4(a): techniques of the MEMS caching disk under TPCD."""

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import figure4

draw = figure4.draw
KEYS = ("gain", "shortcut")


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run each technique."""
    return figure4.simulate("tpcd", KEYS, quick=quick, setup=setup)
