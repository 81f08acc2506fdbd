"""Figure 4(d): techniques of the MEMS caching disk under hplajw."""

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import figure4

draw = figure4.draw
KEYS = ("gain",)


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run each technique."""
    return figure4.simulate("hplajw", KEYS, quick=quick, setup=setup)
