"""Sections 5.2.1 and 5.2.6: what it costs to write and to read single records."""

from __future__ import annotations

import random
from statistics import fmean
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample

if TYPE_CHECKING:
    from sledsim.papers import Setup

LAYOUTS = ("capsule", "vertical")


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Update, append and read records in both layouts."""
    data = sample.records(sample.QUICK_RECORDS)
    times: dict[str, dict[str, float]] = {"update": {}, "append": {}}
    requests: dict[str, dict[str, int]] = {"update": {}, "append": {}, "read": {}}
    for layout in LAYOUTS:
        table = sample.sample(setup, layout, sample.QUICK_RECORDS)
        table.append(data.slice(0, 1))  # where the next one goes, every page is begun
        appended = table.append(data.slice(1, 1))
        chance = random.Random(sample.SEED)
        places = sample.starts(table, 100 if quick else 10_000, 1, chance, asleep=False)
        updated = [table.update(place, data.slice(0, 1)) for place in places]
        times["update"][layout] = 1e3 * fmean(one.simulated_s for one in updated)
        times["append"][layout] = 1e3 * appended.simulated_s
        requests["update"][layout] = updated[0].requests
        requests["append"][layout] = appended.requests
        requests["read"][layout] = table.record(0).requests
    accesses = requests["read"]["vertical"]
    return Found(
        {
            **{
                f"{call}_times": requests[call]["vertical"] / requests[call]["capsule"]
                for call in times
            },
            **{f"{call}_order": each for call, each in times.items()},
            "read_accesses": accesses,
            "joins": accesses - 1,
        }
    )
