"""The search for readings: all pairs and triples of those that a paper declares.

It is a report that changes no verdict. A reading that it finds may be declared for whole items, and
says then that it was found by search.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from sledsim import executors
from sledsim.papers import engine, judge, model, nearness, simulations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sledsim.papers.model import Item, Reading, Setup, Simulated

MOST = 3
"""How many readings are combined."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What an item comes to under some readings together."""

    readings: tuple[str, ...]
    """Their names; none for the stated set-up."""
    settings: int
    """How many keys they change."""
    near: nearness.Nearness
    given: tuple[str, ...]
    """Values said to contradict others that come out here together with these."""


def run(
    item: Item,
    folder: Path,
    *,
    quick: bool = True,
    workers: int = 1,
    progress: Callable[[int, int | None], object] | None = None,
) -> list[Tried]:
    """Simulate an item under its readings, and under their pairs and triples; best first.

    Readings that set the same key to different values are not combined.

    Parameters
    ----------
    item, folder, quick, progress
        As for :func:`sledsim.papers.run`; only outcomes of simulations are written.
    workers
        How many processes.
    """
    beat = progress or (lambda _done, _of: None)
    tried = together(item)
    names = [tuple(reading.name for reading in own) for own in tried]
    outcomes = simulations.folder_of(folder)
    each = partial(_values, item.id, outcomes, quick=quick)
    found: dict[tuple[str, ...], Mapping[str, Simulated]] = {}

    def tell() -> None:
        beat(len(found), len(names))

    if workers > 1:
        with executors.workers(f"processes:{workers}") as pool:
            found |= executors.completed(pool, each, names, tell)
    else:
        for own in names:
            found[own] = each(own)
            tell()
    rows = [_tried(item, own, found[name]) for own, name in zip(tried, names, strict=True)]
    return sorted(
        rows, key=lambda row: (*(-count for count in nearness.rank(row.near)), row.settings)
    )


def together(item: Item) -> list[tuple[Reading, ...]]:
    """Return the readings of an item alone, in pairs and in triples that can hold at once."""
    return [
        own
        for count in range(MOST + 1)
        for own in combinations(item.readings, count)
        if not any(_exclude(one, other) for one, other in combinations(own, 2))
    ]


def _exclude(one: Reading, other: Reading) -> bool:
    """Return whether two readings set the same key, or a key and the table that it is in."""
    first, second = model.leaves(one.changes), model.leaves(other.changes)
    return any(
        a == b or a.startswith(f"{b}.") or b.startswith(f"{a}.") for a in first for b in second
    )


def _values(
    name: str, outcomes: Path, readings: tuple[str, ...], *, quick: bool
) -> Mapping[str, Simulated]:
    (item,) = model.find([name])
    setup: Setup = item.setup
    for reading in item.readings:
        if reading.name in readings:
            setup = model.merged(setup, reading.changes)
    with simulations.stored_in(outcomes):
        return dict(engine.found_of(item, setup, quick=quick).values)


def _tried(item: Item, readings: tuple[Reading, ...], values: Mapping[str, Simulated]) -> Tried:
    given = tuple(
        value.key
        for value in item.values
        if value.contradiction and judge.come_together(value, item.values, [values])
    )
    return Tried(
        tuple(reading.name for reading in readings),
        sum(reading.settings for reading in readings),
        nearness.of(item.values, values),
        given,
    )


def to_dict(row: Tried) -> dict[str, Any]:
    """Return a row for a document."""
    return {
        "readings": list(row.readings),
        "settings": row.settings,
        "nearness": row.near,
        "given": list(row.given),
    }
