"""Section 5.1: free blocks per request, and the bandwidth used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.scans import CONFIGURATIONS, scan

if TYPE_CHECKING:
    from sledsim.papers import Setup

MOST = 95
BLOCK_KIB = 0.5


def used_percent(setup: Setup, name: str, percent: int) -> float:
    """Return the share of the parallelism that requests and background use, up to a percent."""
    requests = scan(setup, name, seed=1).requests[percent]
    part = scan(setup, name, seed=1, requests=requests)
    (at_once, _) = CONFIGURATIONS[name]
    blocks: float = setup["requests"]["kib"] / BLOCK_KIB + part.free_per_request(percent)
    return 100 * blocks / (at_once * part.rows)


def simulate(*, quick: bool, setup: Setup) -> Found:  # one scan of each is quick
    """Scan the device with p = 10 and p = 20, as Table 4 does, and look at most of it."""
    free = {name: scan(setup, name, seed=1).free_per_request(MOST) for name in ("p10_m0", "p20_m0")}
    used = {
        "first_percent": used_percent(setup, "p10_m0", 1),
        "most_percent": used_percent(setup, "p10_m0", MOST),
    }
    return Found(free | used)
