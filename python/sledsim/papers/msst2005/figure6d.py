"""Figure 6(d): the architectures under hplajw."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure6

draw = figure6.draw
KEYS = (
    "techniques",
    "ram_first",
    "writes",
    "over_disk",
    "all_ms",
    "ram_least",
    "ram_most",
)


def simulate(*, quick: bool) -> Found:
    """Run on each architecture."""
    return figure6.simulate("hplajw", KEYS, quick=quick)
