"""Items of papers: their results and the values in their files.

Each item is run once for all tests of all processes, and again only if something has changed that
it depends on: its files are kept in ``out/tests``; conftest.py keeps outcomes beside them.
"""

import fcntl
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sledsim import papers
from sledsim.papers import Found, Item, Result, Setup, pictures

KEPT = Path(__file__).parents[1] / "out" / "tests"


@cache
def run(name: str) -> Result:
    """Run an item, named as in ``osdi2000/figure5``, in its quick form."""
    (item,) = papers.find([name])
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name.replace('/', '-')}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _drawn():
            (result,) = papers.run([item], KEPT / "papers", quick=True, workers=1)
    return result


_figures: dict[str, Figure] = {}


@contextmanager
def _drawn() -> Iterator[None]:
    """Keep the figures of items that are run."""
    draw = pictures.figure_of

    def kept(item: Item, found: Found, document: dict[str, Any]) -> Figure:
        _figures[item.id] = draw(item, found, document)
        return _figures[item.id]

    pictures.figure_of = kept
    try:
        yield
    finally:
        pictures.figure_of = draw


def figure(name: str) -> Figure:
    """Return the figure of a quick run of an item, to be looked at once."""
    document = run(name).document
    if name in _figures:
        return _figures.pop(name)
    (item,) = papers.find([name])
    return pictures.figure_of(item, simulate(name), document)


def simulate(name: str, reading: str = "") -> Found:
    """Return the values of a quick run of an item, as in its JSON file, also under a reading."""
    document = run(name).document
    values = {
        value["key"]: (value["readings"][reading] if reading else value)["simulated"]
        for value in document["values"]
        if value["simulated"] is not None
    }
    return Found(values, document["series"])


def stated(name: str) -> dict[str, dict[str, Any]]:
    """Return the values that the file of an item states, by their keys."""
    (item,) = papers.find([name])
    values: dict[str, dict[str, Any]] = tomllib.loads(item.data)["values"]
    return values


class Paper:
    """The items of a paper, by their names in it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def item(self, name: str) -> Item:
        """Return an item."""
        (one,) = papers.find([f"{self.name}/{name}"])
        return one

    def found(self, name: str, reading: str = "") -> Found:
        """Return the values of a quick run of an item."""
        return simulate(f"{self.name}/{name}", reading)

    def number(self, name: str, key: str, reading: str = "") -> float:
        """Return a value of a quick run of an item that is a number."""
        value = self.found(name, reading).values[key]
        assert isinstance(value, int | float)
        return value

    def stated(self, name: str, key: str) -> dict[str, Any]:
        """Return a value that the file of an item states."""
        return stated(f"{self.name}/{name}")[key]

    def setup(self, name: str, reading: str = "") -> Setup:
        """Return the set-up of an item, also under a reading."""
        item = self.item(name)
        return next((own.setup for own in item.readings if own.name == reading), item.setup)
