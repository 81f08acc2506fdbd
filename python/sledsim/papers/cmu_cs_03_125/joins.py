"""Sections 5.2.1 and 5.2.6: joins of two tables that read only the attributes they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.memstore import memstore
from sledsim.plots import bars
from sledsim.tables import table

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

KEY, OWN, OTHER = "a1", list(sample.WIDTHS), ["a1", "b2", "b3", "b4"]
"""The attribute that both tables have, and those of each."""
NEEDED = {
    "keys": ([KEY], [KEY]),
    "one each": ([KEY, "a3"], [KEY, "b4"]),
    "all": (OWN, OTHER),
}
"""Attributes of both tables that a join needs, by what it returns."""
LAYOUTS = ("normal", "vertical", "capsule")


def two_tables(groups: int) -> tuple[Any, Any]:
    """Return Arrow tables with random keys: each key once in the second, half of them in neither.

    The first is four times as long, the second as long as some tracks of capsules.
    """
    array, chance = sample.arrow_library().array, np.random.default_rng(sample.SEED)
    few = 270 * sample.HELD * groups
    data = sample.records(5 * few)
    keys, known = chance.integers(2 * few, size=4 * few), chance.permutation(2 * few)[:few]
    second = data.slice(4 * few).rename_columns(OTHER).set_column(0, KEY, array(known))
    return data.slice(0, 4 * few).set_column(0, KEY, array(keys)), second


def joined(first: pl.LazyFrame, second: pl.LazyFrame, name: str) -> pl.DataFrame:
    """Join two tables in the order of the first."""
    one, other = NEEDED[name]
    left = first.select(one)
    return left.join(second.select(other), on=KEY, maintain_order="left").collect()


def expected(data: tuple[Any, Any], name: str) -> pl.DataFrame:
    """Return the same by looking each key up in the sorted keys of the second table."""
    import polars as pl  # an extra

    first, second = map(pl.DataFrame, data)
    keys, known = first[KEY].to_numpy(), second[KEY].to_numpy()
    order = known.argsort()
    places = order[np.searchsorted(known, keys, sorter=order).clip(max=len(known) - 1)]
    held = np.flatnonzero(known[places] == keys)
    one, other = NEEDED[name]
    return first[held].select(one).hstack(second[places[held]].select(other).drop(KEY))


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Join two tables of each layout, for some attributes and for all."""
    device, data = memstore(setup), two_tables(4 if quick else 20)
    seconds: dict[str, dict[str, float]] = {}
    wrong = 0
    for layout in LAYOUTS:
        keys = {"split": setup["records"]["split"]} if layout == "capsule" else {}
        first = table(data[0], device, layout, **keys)
        second = table(data[1], device, layout, first_lbn=first.facts["last_lbn"] + 1, **keys)
        seconds[layout] = {}
        for name in NEEDED:
            found = joined(first.lazy(None), second.lazy(None), name)
            seconds[layout][name] = first.spent().simulated_s + second.spent().simulated_s
            wrong += not found.equals(expected(data, name))
    capsule, normal = seconds["capsule"], seconds["normal"]
    pages = [
        sum(sample.PAGES[f"a{own[1]}"] for own in one + other) for one, other in NEEDED.values()
    ]
    by_page = [own / count for own, count in zip(capsule.values(), pages, strict=True)]
    return Found(
        {
            "wrong": wrong,
            "by_data": [each / by_page[-1] for each in by_page],
            "normal": [each / normal["all"] for each in normal.values()],
            "order": {layout: seconds[layout]["one each"] for layout in ("capsule", "normal")},
        },
        series={"seconds": seconds},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw how long the device takes for each join."""
    axes = figure.add_subplot()
    series = {layout: list(own.values()) for layout, own in found.series["seconds"].items()}
    bars.grouped(axes, list(NEEDED), series, "{:.2g}".format)
    axes.set(ylabel="time of the device (s)")
