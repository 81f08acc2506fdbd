"""Section 5.2.7: the gain of micropositioning for capsules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.memstore import memstore
from sledsim.tables import table

if TYPE_CHECKING:
    from sledsim.papers import Setup

WIDTHS = {"a1": 8, "a2": 68}
"""Sixty records have one page of a1 and nine of a2."""
REACHES = (0, 1, 5)
"""Cylinders; 5 as in section 2.2."""
SCANS = {"all": ("a1", "a2"), "a1": ("a1",)}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Scan a table of capsules of ten blocks, and count the blocks that tips can choose from."""
    data = sample.records(400_000 if quick else 4_000_000, WIDTHS)
    devices = [memstore(setup, micropositioning_cylinders=reach) for reach in REACHES]
    seconds = [sample.scans(table(data, device, "capsule"), SCANS) for device in devices]
    middle = devices[0].blocks // 2
    plain, wider = (len(device.equivalent(middle)) for device in (devices[0], devices[-1]))
    return Found(
        {
            "tenth": seconds[0]["all"] / seconds[0]["a1"],
            "unchanged": [each["a1"] / seconds[0]["a1"] for each in seconds],
            "more_choices": wider / plain - 1,
        }
    )
