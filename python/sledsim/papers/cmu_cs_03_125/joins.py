"""Sections 5.2.1 and 5.2.6: joins of two tables that read only the attributes they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import sledsim as ss
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.memstore import memstore
from sledsim.plots import bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

GROUP = 270 * sample.HELD
"""Records of a track of capsules for each of their pages."""
KEY = "a1"
NEEDED = {
    "keys": (("a1",), ("a1",)),
    "one each": (("a1", "a3"), ("a1", "a4")),
    "all": (tuple(sample.WIDTHS), tuple(sample.WIDTHS)),
}
"""Attributes of both tables that a join needs, by what it returns."""
LAYOUTS = ("normal", "vertical", "capsule")


def two_tables(groups: int) -> tuple[Any, Any]:
    """Return Arrow tables with random keys: each key once in the second, half of them in neither.

    The first is four times as long.
    """
    arrow, chance = sample.arrow_library(), np.random.default_rng(sample.SEED)
    many, few = 4 * groups * GROUP, groups * GROUP
    data = sample.records(many + few)
    keys = chance.integers(2 * few, size=many), chance.permutation(2 * few)[:few]
    parts = data.slice(0, many), data.slice(many)
    first, second = (
        part.set_column(0, KEY, arrow.array(own)) for part, own in zip(parts, keys, strict=True)
    )
    return first, second


def joined(first: pl.LazyFrame, second: pl.LazyFrame, name: str) -> pl.DataFrame:
    """Join two tables in the order of the first."""
    one, other = (
        frame.select(own) for frame, own in zip((first, second), NEEDED[name], strict=True)
    )
    return one.join(other, on=KEY, suffix=" of second", maintain_order="left").collect()


def expected(tables: Sequence[pl.DataFrame], name: str) -> pl.DataFrame:
    """Return the same by looking each key up in the sorted keys of the second table."""
    first, second = tables
    keys, known = first[KEY].to_numpy(), second[KEY].to_numpy()
    order = known.argsort()
    places = order[np.searchsorted(known, keys, sorter=order).clip(max=len(known) - 1)]
    held = np.flatnonzero(known[places] == keys)
    one, other = NEEDED[name]
    found = second[places[held]].select(other).drop(KEY)
    names = {own: f"{own} of second" for own in found.columns if own in one}
    return first[held].select(one).hstack(found.rename(names))


def wrong_rows(own: pl.DataFrame, right: pl.DataFrame) -> int:
    """Return how many rows differ, or are there in one of the two alone."""
    least = min(len(own), len(right))
    same = np.ones(least, dtype=bool)
    for name in right.columns:
        same &= (own[name][:least] == right[name][:least]).to_numpy()
    return max(len(own), len(right)) - int(same.sum())


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Join two tables of each layout, for some attributes and for all."""
    try:
        import polars as pl  # noqa: PLC0415 (an extra)
    except ImportError:
        msg = "the joins of CMU-CS-03-125 need polars: pip install 'sledsim[papers]'"
        raise ss.SledsimError(msg) from None
    device, data = memstore(setup), two_tables(4 if quick else 40)
    frames = [pl.DataFrame(part) for part in data]
    right = {name: expected(frames, name) for name in NEEDED}
    seconds: dict[str, dict[str, float]] = {}
    wrong = 0
    for layout in LAYOUTS:
        keys = {"split": setup["records"]["split"]} if layout == "capsule" else {}
        first = ss.table(data[0], device, layout, **keys)
        second = ss.table(data[1], device, layout, first_lbn=first.facts["last_lbn"] + 1, **keys)
        seconds[layout] = {}
        for name in NEEDED:
            wrong += wrong_rows(joined(first.lazy(), second.lazy(), name), right[name])
            seconds[layout][name] = first.spent().simulated_s + second.spent().simulated_s
    pages = {
        name: sum(sample.PAGES[own] for each in both for own in each)
        for name, both in NEEDED.items()
    }
    capsule, normal = seconds["capsule"], seconds["normal"]
    each = {name: capsule[name] / pages[name] for name in NEEDED}
    return Found(
        {
            "wrong_rows": wrong,
            "by_data": [one / each["all"] for one in each.values()],
            "normal": [one / normal["all"] for one in normal.values()],
            "order": {layout: seconds[layout]["one each"] for layout in ("capsule", "normal")},
        },
        series={"seconds": seconds, "rows": len(right["all"])},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw how long the device takes for each join."""
    axes = figure.add_subplot()
    seconds = found.series["seconds"]
    names = ("keys", "one attribute\nof each", "all attributes")
    series = {layout: list(own.values()) for layout, own in seconds.items()}
    bars.grouped(axes, names, series, "{:.2g}".format)
    axes.set(ylabel="time of the device (s)")
