"""Sections 1 and 5.2.7: cases in which parallelism could gain a hundredfold."""

from __future__ import annotations

import random
from statistics import fmean
from typing import TYPE_CHECKING

from sledsim import tables
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.memstore import memstore, replay

if TYPE_CHECKING:
    from sledsim.papers import Setup

ATTRIBUTES = 100
REACH, COLUMNS, EACH = 5, 10, 10
"""Micropositioning in section 2.2; ten blocks in each of ten cylinders are a hundred."""


def one_of_many(setup: Setup, groups: int) -> float:
    """Return the time of a scan of all attributes by that of one of them."""
    widths = {f"a{number}": 8 for number in range(1, ATTRIBUTES + 1)}
    data = sample.records(sample.HELD * 270 * groups, widths)
    table = tables.table(data, memstore(setup), "capsule")  # a capsule is in ten classes
    took = sample.scans(table, {"all": tuple(widths), "one": ("a1",)})
    return took["all"] / took["one"]


def together(setup: Setup, chance: random.Random) -> float:
    """Return the time of a hundred blocks of an enlarged class one by one, by that of a batch."""
    device = memstore(setup, micropositioning_cylinders=REACH, command_overhead_ms=0)
    cylinder = device.parallelism.S_C
    columns: dict[int, list[int]] = {}
    for lbn in device.equivalent(chance.randrange(device.blocks)):
        columns.setdefault(lbn // cylinder, []).append(lbn)
    chosen = chance.sample(sorted(columns), min(COLUMNS, len(columns)))
    blocks = [lbn for column in chosen for lbn in chance.sample(columns[column], EACH)]
    chance.shuffle(blocks)
    single = replay([(lbn, 1, False) for lbn in blocks], device)["simulated_s"]
    last = len(blocks) - 1
    batch = replay([(lbn, 1, at < last) for at, lbn in enumerate(blocks)], device)["simulated_s"]
    return float(single / batch)


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Scan one attribute of a hundred, and read a hundred blocks of a class together."""
    chance = random.Random(sample.SEED)
    return Found(
        {
            "bandwidth_times": one_of_many(setup, 2 if quick else 12),
            "specific_times": fmean(together(setup, chance) for _ in range(5 if quick else 100)),
        }
    )
