"""Figure 6(b): the architectures under TPCC."""

from sledsim.papers import Found, Setup
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
    "ram_saves",
    "traffic",
)


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run on each architecture."""
    return figure6.simulate("tpcc", KEYS, quick=quick, setup=setup)
