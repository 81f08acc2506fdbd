"""Section 6.2: small writes to RAID 5, and writes that are verified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim.hardware import Device, device
from sledsim.papers import Found, Setup, summary_of
from sledsim.papers.osdi2000 import faults, parts

if TYPE_CHECKING:
    from collections.abc import Mapping

ARRAY = Path(__file__).parent / "devices" / "raid5.toml"
THROUGH = {"buffer": {"write_back": "none"}}
"""A disk that reports a write when it is on the media."""


def small_write_ms(child: Mapping[str, Any], alone: Device, requests: int) -> float:
    """Return the extra time of a small write to RAID 5 against one to a child alone."""
    load = faults.small(requests, 0)
    array = device(ARRAY, child=dict(child))
    one, other = (summary_of(load, on)["response_time_ms"]["mean"] for on in (array, alone))
    return float(one - other)


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Write to arrays and to devices alone, and read what was written."""
    requests = 2_000 if quick else 20_000
    sled, disk = parts.sled(setup), parts.disk(setup, **THROUGH)
    verified, _ = faults.passes(setup, requests, {"verify_after_write": True}, read_fraction=0)
    verify_ms = sum(verified) / requests
    return Found(
        {
            "small_writes": {
                "MEMS": small_write_ms(setup["sled"], sled, requests),
                "disk": small_write_ms({**setup["disk"], **THROUGH}, disk, requests),
            },
            "verify": {"MEMS": verify_ms, "disk": disk.spec["derived"]["revolution_ms"]},
            "verify_reposition_ms": verify_ms - sled.spec["derived"]["row_time_ms"],
        }
    )
