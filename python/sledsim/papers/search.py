"""The search for readings: all pairs and triples of those that a paper declares.

It is a report that changes no verdict. A reading that it finds may be declared for whole items, and
says then that it was found by search.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from sledsim._progress import told
from sledsim.papers import engine, judge, model, nearness, simulations

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sledsim._progress import ProgressLike
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
    nearness: nearness.Nearness
    given: tuple[str, ...]
    """Values said to contradict others that come out here together with these."""


def run(
    item: Item,
    folder: Path,
    *,
    quick: bool = True,
    workers: int | None = None,
    progress: ProgressLike = None,
) -> list[Tried]:
    """Simulate an item under its readings, and under their pairs and triples; best first.

    Readings that set the same key to different values are not combined.

    Parameters
    ----------
    item, folder, quick, workers, progress
        As for :func:`sledsim.papers.run`; only outcomes of simulations are written.
    """
    tried = {tuple(reading.name for reading in own): own for own in together(item)}
    each = partial(_values, item.id, simulations.folder_of(folder), quick=quick)
    rows: list[Tried] = []

    with told(progress, "readings") as beat:

        def tell() -> None:
            if beat is not None:
                beat(len(rows), len(tried))

        for names, values in engine.spread(each, list(tried), workers, tell):
            rows.append(_tried(item, tried[names], values))
            tell()
    places = {names: place for place, names in enumerate(tried)}
    return sorted(
        rows,
        key=lambda row: (
            *(-count for count in nearness.rank(row.nearness)),
            row.settings,
            places[row.readings],
        ),
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
