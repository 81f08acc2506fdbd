"""Section 6.1.2: errors of reading, codes and second passes."""

from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import faults, parts

OFTEN, SELDOM = 2e-3, 1e-3
"""Chances that a tip sector is read wrong."""
RETRIES = 10


def second_passes(setup: Setup, requests: int, *, ecc_tips: int, vertical: bool) -> float:
    """Return how many second passes a thousand reads need."""
    keys = {
        "read_error_rate": OFTEN,
        "ecc_tips": ecc_tips,
        "vertical_check": vertical,
        "retries": RETRIES,
    }
    return 1e3 * faults.passes(setup, requests, keys)[1]["retries"] / requests


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read with errors, with codes and without."""
    requests = 5_000 if quick else 50_000
    with_ecc, unchecked, bare = (
        second_passes(setup, requests, ecc_tips=tips, vertical=vertical)
        for tips, vertical in ((2, True), (2, False), (0, True))
    )
    took, counts = faults.passes(setup, requests, {"read_error_rate": SELDOM, "retries": RETRIES})
    reread_ms = sum(took) / counts["retries"]
    return Found(
        {
            "uncorrected": {"vertical": with_ecc, "none": unchecked},
            "horizontal": {"ECC tips": with_ecc, "none": bare},
            "reposition_ms": reread_ms - parts.sled(setup).spec["derived"]["row_time_ms"],
            "reread": {
                "MEMS": reread_ms,
                "disk": parts.disk(setup).spec["derived"]["revolution_ms"],
            },
        }
    )
