"""Table 1 (note), sections 3.2, 3.3 and 5: claims about service times and settling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found, summary_of
from sledsim.papers.sigmetrics2000.devices import random_load, sled

if TYPE_CHECKING:
    from sledsim.papers import Setup


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run the random load, and take the settling times of both designs of the springs."""
    device = sled(setup)
    load = random_load(setup, device, requests=10_000 if quick else 200_000, warm_up_requests=1)
    summary = summary_of(load, device)
    kinds = ("service_time", "bus", "seek", "x_seek")
    at_sled, bus, seek, x_seek = (summary[f"{kind}_ms"]["mean"] for kind in kinds)
    service = at_sled + bus
    before_ms, after_ms = (
        sled(setup, resonance_hz=own).spec["derived"]["settle_ms"] for own in setup["springs_hz"]
    )
    return Found(
        {
            "seek_percent": 100 * seek / service,
            "settle_percent": 100 * device.spec["derived"]["settle_ms"] / x_seek,
            "service_ms": service,
            "settle_ratio": before_ms / after_ms,
        }
    )
