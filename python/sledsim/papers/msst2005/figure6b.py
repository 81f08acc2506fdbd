"""Figure 6(b): the architectures under TPCC."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure6

draw = figure6.draw
KEYS = (
    "best",
    "techniques",
    "disk_saturated",
    "mwb_saturated",
    "mcd_saturated",
    "none_ms",
    "all_ms",
    "ram_least",
    "ram_most",
)


def simulate(*, quick: bool) -> Found:
    """Run on each architecture."""
    return figure6.simulate("tpcc", KEYS, quick=quick)
