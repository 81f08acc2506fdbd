"""Section 6.1.3: seek errors."""

from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import faults, parts

SHARE = 0.02
"""Of the passes that come down beside their cylinder."""


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read with seek errors."""
    requests = 2_000 if quick else 20_000
    took, _ = faults.passes(setup, requests, {"seek_error_rate": SHARE})
    revolution_ms = parts.disk(setup).spec["derived"]["revolution_ms"]
    return Found(
        {
            "longest_ms": {"MEMS": max(took), "disk": revolution_ms},
            "revolution_ms": revolution_ms,
        }
    )
