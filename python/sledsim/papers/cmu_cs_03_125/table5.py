"""Table 5: scans of a table of ten million records, and short ones."""

from __future__ import annotations

import random
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.memstore import memstore, replay

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledsim.papers import Setup
    from sledsim.tables import Table

SCANS = {"all": ("a1", "a2", "a3", "a4"), "a1": ("a1",), "a1_a2": ("a1", "a2")}
LAYOUTS = ("normal", "capsule")
Scanned = tuple[dict[str, float], int, dict[bool, float]]
"""Seconds of scans, blocks of the table, and times of short scans by whether the sled sleeps."""


def some_ms(tables: Iterable[Table], reads: int, *, asleep: bool) -> float:
    """Return the mean time to scan a1 of 100 records at random places."""
    chance = random.Random(sample.SEED)
    return 1e3 * fmean(
        table.scan(["a1"], first, sample.SOME).simulated_s
        for table in tables
        for first in sample.starts(table, reads, sample.SOME, chance, asleep=asleep)
    )


@cache
def scanned(key: str, layout: str, count: int, reads: int) -> Scanned:
    """Load the sample table and scan it, also for short ranges."""
    table = sample.sample(sample.setup_of(key), layout, count)
    seconds = sample.scans(table, SCANS)
    some = {asleep: some_ms([table], reads, asleep=asleep) for asleep in (False, True)}
    return seconds, table.blocks, some


@cache
def spread_some_ms(key: str, layout: str, reads: int, *, asleep: bool) -> float:
    """Return the mean time to scan a1 of 100 records in tables all over the device."""
    tables = sample.spread(sample.setup_of(key), layout)
    return some_ms(tables, reads // sample.PLACES, asleep=asleep)


def in_reads(setup: Setup, blocks: int) -> float:
    """Return the time to read blocks from LBN 0 on, some KB at a time."""
    step = 2 * setup["scans"]["normal_kib"]
    reads = [(lbn, min(step, blocks - lbn), False) for lbn in range(0, blocks, step)]
    seconds: float = replay(reads, memstore(setup))["simulated_s"]
    return seconds


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Load the table in both layouts and scan it; read 100 records at many places."""
    count = sample.QUICK_RECORDS if quick else sample.RECORDS
    reads = 1000 if quick else 10_000
    times, own = sample.RECORDS / count, setup["records"]
    key = sample.table_key(setup)
    values: dict[str, float] = {}
    moved: dict[str, float] = {}
    for layout in LAYOUTS:
        seconds, blocks, some = scanned(key, layout, count, reads)
        if layout == "normal" and setup["scans"]["normal_kib"]:
            seconds = dict.fromkeys(SCANS, in_reads(setup, blocks))
        values |= {f"{layout}_{name}_s": times * took for name, took in seconds.items()}
        moved[layout] = times * blocks * 512 / 1e6
        values[f"{layout}_some_ms"] = (
            spread_some_ms(sample.table_key(setup, "groups"), layout, reads, asleep=own["asleep"])
            if own["spread"]
            else some[own["asleep"]]
        )
    full = values["capsule_all_s"]
    rates = {layout: moved[layout] / values[f"{layout}_all_s"] for layout in LAYOUTS}
    user_mb = sample.RECORDS * sum(sample.WIDTHS.values()) / 1e6
    return Found(
        {
            **values,
            "ninth": full / values["capsule_a1_s"],
            "capsule_of_normal": full / values["normal_all_s"],
            **{f"{layout}_mb": moved[layout] for layout in LAYOUTS},
            **{f"{layout}_mb_s": rates[layout] for layout in LAYOUTS},
            **{f"{layout}_user_mb_s": user_mb / values[f"{layout}_all_s"] for layout in LAYOUTS},
            "advantage": rates["capsule"] / rates["normal"],
            "data_mb": user_mb,
            "some_faster_percent": 100 * (values["normal_some_ms"] / values["capsule_some_ms"] - 1),
        },
        note=f"A table of {count:,} records, all of them loaded, scanned and returned.",
    )
