"""Section 3.3: springs make seek times more uniform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found, summary_of
from sledsim.papers.sigmetrics2000.devices import random_load, sled
from sledsim.papers.sigmetrics2000.table2 import ONE_BLOCK

if TYPE_CHECKING:
    from sledsim.papers import Setup

COLUMNS = {
    "sd_ms": "seek_ms",
    "x_sd_ms": "x_seek_ms",
    "turnaround_sd_ms": "turnaround_ms",
}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run the random load with and without springs."""
    devices = {"springs": sled(setup), "no springs": sled(setup, spring_factor=0)}
    keys = {"requests": 10_000 if quick else 200_000, "warm_up_requests": 1} | ONE_BLOCK
    found = {
        name: summary_of(random_load(setup, device, **keys), device)
        for name, device in devices.items()
    }
    return Found(
        {
            key: {name: own[column]["sd"] for name, own in found.items()}
            for key, column in COLUMNS.items()
        }
    )
