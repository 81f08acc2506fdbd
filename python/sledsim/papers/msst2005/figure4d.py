"""Figure 4(d): techniques of the MEMS caching disk under hplajw."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure4

draw = figure4.draw
KEYS = ("gain_least", "gain_most")


def simulate(*, quick: bool) -> Found:
    """Run each technique."""
    return figure4.simulate("hplajw", KEYS, quick=quick)
