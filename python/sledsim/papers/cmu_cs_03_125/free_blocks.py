"""Section 5.1: free blocks per request."""

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.scans import scan

MOST = 95
REQUESTS = 700_000
"""Requests that suffice for it."""


def simulate(*, quick: bool) -> Found:  # noqa: ARG001 (one scan of each is quick)
    """Scan the device with p = 10 and p = 20, until most of it has been read."""
    found = {name: scan(name, seed=1, requests=REQUESTS) for name in ("p10_m0", "p20_m0")}
    return Found({name: one.free_per_request(MOST) for name, one in found.items()})
