"""Section 5.2.3: capsules from the free list of a device that holds other tables."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice
from random import Random
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.hardware import Sled
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.figure5 import passes
from sledsim.papers.cmu_cs_03_125.memstore import memstore, replay
from sledsim.plots import bars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

    from sledsim.papers import Setup

PAGES, OTHER_PAGES = sum(sample.PAGES.values()), 5
"""Blocks of a capsule of the new table, and of the others."""
FILLS = (0, 25, 50, 75)
"""Percent of the blocks that other tables hold."""
HALF, AT_ONCE = FILLS.index(50), 270
"""The place of a fill, and the capsules that a scan reads in a batch."""


def classes(device: Sled, used: set[int]) -> Iterator[list[int]]:
    """Yield the free blocks of each equivalence class, as the sled comes to them."""
    shape = device.parallelism
    for cylinder in range(0, device.blocks, shape.S_C):
        for at in range(*device.boundaries(cylinder), shape.p):
            yield [lbn for lbn in device.equivalent(at) if lbn not in used]


def allocated(device: Sled, used: set[int], count: int) -> list[list[int]]:
    """Return the blocks of capsules that are each in one class, of which it begins at most p."""
    found: list[list[int]] = []
    for free in classes(device, used):
        several = min(device.parallelism.p, len(free) // PAGES)
        found += [free[first::several][:PAGES] for first in range(several)]
        if len(found) >= count:
            return found[:count]
    raise SledsimError(f"count = {count}: the free blocks of the device hold {len(found)} capsules")


def spilt(device: Sled, used: set[int], count: int, pages: int = PAGES) -> list[list[int]]:
    """Return the blocks of capsules that go on in the next class and leave no block free."""
    free = chain.from_iterable(classes(device, used))
    return [list(islice(free, pages)) for _ in range(count)]


def used_blocks(device: Sled, count: int, fill: int) -> dict[str, set[int]]:
    """Return the blocks of other tables, of which some were dropped, or some of their capsules.

    Those that are left fill a share of as many cylinders as the new capsules will need.
    """
    size, chance = device.parallelism.S_C, Random(sample.SEED)
    cylinders = count * PAGES * 130 // (100 - fill) // size + 2
    tables = chance.sample(range(cylinders), cylinders * fill // 100)
    others = spilt(device, set(), cylinders * size // OTHER_PAGES, OTHER_PAGES)
    return {
        "tables": {lbn for one in tables for lbn in range(one * size, (one + 1) * size)},
        "capsules": set(chain(*chance.sample(others, len(others) * fill // 100))),
    }


def read_s(device: Sled, batches: Sequence[Sequence[int]]) -> float:
    """Return the time to read batches of blocks, each when the one before has arrived."""
    reads = [(lbn, 1, at < len(own)) for own in batches for at, lbn in enumerate(own, 1)]
    return float(replay(reads, device)["simulated_s"])


def scan_s(device: Sled, capsules: list[list[int]], pages: int) -> float:
    """Return the time to read the first pages of all capsules."""
    parts = [capsules[first : first + AT_ONCE] for first in range(0, len(capsules), AT_ONCE)]
    return read_s(device, [[lbn for own in part for lbn in own[:pages]] for part in parts])


def access_ms(device: Sled, capsules: list[list[int]]) -> dict[str, float]:
    """Return the mean times to read random capsules of one pass, of two, and halves of two."""
    chance, half = Random(sample.SEED), PAGES // 2
    by_passes = {
        name: [own for own in capsules if passes(device, own) == count]
        for name, count in (("whole", 1), ("split", 2))
    }
    some = {name: chance.choices(own, k=1000) for name, own in by_passes.items()}
    others = zip(some["whole"], chance.sample(some["whole"], 1000), strict=True)
    some["apart"] = [one[:half] + two[half:] for one, two in others if one != two]
    return {name: 1e3 * read_s(device, own) / len(own) for name, own in some.items()}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Allocate capsules where others were dropped, and read them."""
    device, count = memstore(setup, command_overhead_ms=0), AT_ONCE * (10 if quick else 60)
    used = {fill: used_blocks(device, count, fill) for fill in FILLS}
    whole = {
        dropped: [allocated(device, own[dropped], count) for own in used.values()]
        for dropped in ("tables", "capsules")
    }
    split = [spilt(device, own["capsules"], count) for own in used.values()]
    seconds = {
        f"{what}, {dropped} dropped": [scan_s(device, own, pages) for own in each]
        for what, pages in (("all", PAGES), ("a1", 1))
        for dropped, each in whole.items()
    }
    taken = [Counter(passes(device, own) for own in each) for each in split]
    return Found(
        {
            "whole_passes": max(passes(device, own) for own in whole["capsules"][HALF]),
            "split_passes": max(map(max, taken)),
            "access_order": access_ms(device, split[HALF]),
            "a1_order": {
                "one piece": seconds["a1, tables dropped"][0],
                "tables": seconds["a1, tables dropped"][HALF],
                "capsules": seconds["a1, capsules dropped"][HALF],
            },
        },
        series={"seconds": seconds, "capsules_by_passes": [dict(each) for each in taken]},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the times of scans by those of a table in one piece."""
    axes = figure.add_subplot()
    series = {name: [one / own[0] for one in own] for name, own in found.series["seconds"].items()}
    bars.grouped(axes, [f"{fill} %" for fill in FILLS], series, "{:.2g}".format)
    axes.set(xlabel="blocks that other tables hold", ylabel="time by that in one piece")
