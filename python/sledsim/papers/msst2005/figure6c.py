"""Figure 6(c): the architectures under cello."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure6

draw = figure6.draw
KEYS = (
    "best",
    "techniques",
    "writes",
    "over_disk",
    "mwb_over_disk",
    "over_mwb",
    "ram_least",
    "ram_most",
)


def simulate(*, quick: bool) -> Found:
    """Run on each architecture."""
    return figure6.simulate("cello", KEYS, quick=quick)
