"""Figure 6(c): the architectures under cello."""

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import figure6

draw = figure6.draw
KEYS = (
    "best",
    "techniques",
    "writes",
    "over_disk",
    "mwb_over_disk",
    "over_mwb",
    "ram_saves",
    "traffic",
)


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run on each architecture."""
    return figure6.simulate("cello", KEYS, quick=quick, setup=setup)
