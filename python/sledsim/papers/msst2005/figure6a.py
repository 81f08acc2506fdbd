"""Figure 6(a): the architectures under TPCD."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure6

draw = figure6.draw
KEYS = (
    "best",
    "techniques",
    "slower",
    "mwb_is_disk",
    "ram",
)


def simulate(*, quick: bool) -> Found:
    """Run on each architecture."""
    readings = {"no_read_ahead": figure6.NO_READ_AHEAD}
    return figure6.simulate("tpcd", KEYS, quick=quick, readings=readings)
