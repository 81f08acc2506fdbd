"""Figure 6(d): the architectures under hplajw."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure6, runs

draw = figure6.draw
BEST_KIB = 16
"""As Figure 5(d) finds it, of 256 MB and this load."""
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
    """Run on each architecture, also with the best segments, and on the public trace."""
    return figure6.simulate(
        "hplajw",
        KEYS,
        quick=quick,
        readings=figure6.READINGS | {"best_segment": {"mcd": {"segment_kib": BEST_KIB}}},
        more={"week_1992": runs.of_week()},
    )
