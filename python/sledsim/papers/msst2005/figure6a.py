"""Figure 6(a): the architectures under TPCD."""

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import figure6

draw = figure6.draw
KEYS = ("best", "techniques", "slower", "mwb_is_disk", "ram", "ram_saves")


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run on each architecture."""
    return figure6.simulate("tpcd", KEYS, quick=quick, setup=setup)
