"""Table 5: scans of a table of ten million records, and short ones."""

from __future__ import annotations

import random
from statistics import fmean

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample

SCANS = {"all": ("a1", "a2", "a3", "a4"), "a1": ("a1",), "a1_a2": ("a1", "a2")}
LAYOUTS = ("normal", "capsule")


def some_ms(layout: str, reads: int) -> float:
    """Return the mean time to scan a1 of 100 records at random places, from the parked sled."""
    chance = random.Random(sample.SEED)
    return 1e3 * fmean(
        table.scan(["a1"], first, sample.SOME).simulated_s
        for table in sample.tables(layout)
        for first in sample.parked(table, reads, sample.SOME, chance)
    )


def simulate(*, quick: bool) -> Found:
    """Load the table in both layouts and scan it; read 100 records at many places."""
    count = sample.QUICK_RECORDS if quick else sample.RECORDS
    times = sample.RECORDS / count
    data = sample.records(count)
    values: dict[str, float] = {}
    moved: dict[str, float] = {}
    for layout in LAYOUTS:
        found = sample.scans(data, layout, SCANS)
        values |= {f"{layout}_{name}_s": times * seconds for name, (seconds, _) in found.items()}
        moved[layout] = times * found["all"][1]
        values[f"{layout}_some_ms"] = some_ms(layout, 20 if quick else 200)
    full = values["capsule_all_s"]
    rates = {layout: moved[layout] / values[f"{layout}_all_s"] for layout in LAYOUTS}
    return Found(
        {
            **values,
            "a1_of_all": values["capsule_a1_s"] / full,
            "a1_a2_of_all": values["capsule_a1_a2_s"] / full,
            "capsule_of_normal": full / values["normal_all_s"],
            "normal_mb": moved["normal"],
            "capsule_mb": moved["capsule"],
            "capsule_mb_s": rates["capsule"],
            "normal_mb_s": rates["normal"],
            "advantage": rates["capsule"] / rates["normal"],
            "data_mb": sample.RECORDS * sum(sample.WIDTHS.values()) / 1e6,
            "some_saved_percent": 100 * (1 - values["capsule_some_ms"] / values["normal_some_ms"]),
        },
        hypotheses={
            "hold": {
                f"{layout}_{name}_s": times * seconds
                for layout in LAYOUTS
                for name, (seconds, _) in sample.scans(data, layout, SCANS, idle="hold").items()
            }
        },
        note=f"A table of {count:,} records, all of them loaded, scanned and returned.",
    )
