"""Figure 6(d): the architectures under hplajw."""

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import figure6

draw = figure6.draw
KEYS = ("techniques", "ram_first", "writes", "over_disk", "all_ms", "ram_saves")


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run on each architecture."""
    return figure6.simulate("hplajw", KEYS, quick=quick, setup=setup)
