"""Section 5.2.6: the time to read one random record."""

from __future__ import annotations

from functools import cache
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.memstore import memstore
from sledsim.papers.cmu_cs_03_125.table1 import seek_ms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sledsim.papers import Setup
    from sledsim.tables import Table

LAYOUTS = ("capsule", "normal", "vertical")


def capsule_s(table: Table, record: int) -> float:
    """Return the time of one batch of the capsule that holds a record."""
    first = record // sample.HELD * sample.HELD
    return table.scan(None, first, min(sample.HELD, table.records - first)).simulated_s


def accesses_s(table: Table, record: int) -> float:
    """Return the time of as many accesses as a capsule has pages, each at a random place."""
    chance = Random(record)
    names = [name for name, pages in sample.PAGES.items() for _ in range(pages)]
    return sum(table.read([chance.randrange(table.records)], [name]).simulated_s for name in names)


UNITS = {"capsule": capsule_s, "vertical": accesses_s}
"""How the report says that a record is read; one of normal is read with its page."""


def times_s(tables: Iterable[Table], reads: int, *, asleep: bool, blocks: str) -> Iterator[float]:
    """Yield the times to read random records of each of some tables."""
    chance = Random(sample.SEED)
    for table in tables:
        unit = UNITS.get(table.layout) if blocks == "unit" else None
        for record in sample.starts(table, reads, 1, chance, asleep=asleep):
            yield unit(table, record) if unit else table.record(record).simulated_s


@cache
def in_sample(key: str, layout: str, count: int, reads: int) -> dict[tuple[bool, str], float]:
    """Return mean times in the sample table, asleep or not, by the blocks that are read."""
    table = sample.sample(sample.setup_of(key), layout, count)
    return {
        (asleep, blocks): fmean(times_s([table], reads, asleep=asleep, blocks=blocks))
        for asleep in (False, True)
        for blocks in ("unit", "own")
    }


def latencies_ms(setup: Setup, *, quick: bool) -> dict[str, float]:
    """Return the mean times to read a random record, by layout."""
    count = sample.QUICK_RECORDS if quick else sample.RECORDS
    reads, own = 1000 if quick else 10_000, setup["records"]

    def seconds(layout: str) -> float:
        asleep, blocks = own["asleep"], own["blocks"]
        if own["spread"] and layout != "vertical":  # which has shares of the whole device
            tables, each = sample.spread(setup, layout), reads // sample.PLACES
            return fmean(times_s(tables, each, asleep=asleep, blocks=blocks))
        key = sample.table_key(setup)
        return in_sample(key, layout, count, reads)[asleep, blocks]

    return {layout: 1e3 * seconds(layout) for layout in LAYOUTS}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read records of every layout."""
    pages = sample.PAGES
    accesses = sum(pages.values()) if setup["records"]["blocks"] == "unit" else len(pages)
    seek = seek_ms(memstore(setup), 50_000)
    return Found({**latencies_ms(setup, quick=quick), "accesses": accesses, "seek_ms": seek})
