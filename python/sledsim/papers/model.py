"""The data model: papers, their items and published values.

``<paper>/paper.toml`` describes a paper, ``<paper>/setup.toml`` the set-up of all its items and the
readings of what it leaves open, ``<paper>/<item>.toml`` what one of its tables, figures or passages
states, and ``<paper>/<item>.py`` beside it how sledsim comes to its own values::

    def simulate(*, quick: bool, setup: Setup) -> Found: ...
    def draw(figure: Figure, found: Found) -> None: ...  # if it is more than its values

``setup`` may be left out by an item that has no readings. An item uses the public API of sledsim
only. No published value stands in its code.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from sledsim._above import Shown
from sledsim._core import SpecError
from sledsim.papers.values import exponent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    from sledsim.show.sheet import Sheet

K = TypeVar("K")
T = TypeVar("T")

Kind: TypeAlias = Literal["within", "between", "order", "shape"]
"""How a value is compared: a number that is equal within a tolerance; a number between two; names
in the order of their numbers, smallest first; or the shape of a curve, one of :data:`SHAPES`."""

Class: TypeAlias = Literal["input", "calibrated", "erratum", "contradiction", "not_modelled"]
"""What keeps a value from being reproduced: it is handed in and read back; a free parameter was
chosen with it in view; other printed values say what it should be; other printed values exclude
it; sledsim has no such mechanism."""

Simulated: TypeAlias = float | Sequence[float] | Mapping[str, float]
"""What is compared: a number, the numbers of a curve for a shape, numbers by name for an order."""

Setup: TypeAlias = Mapping[str, Any]
"""What the items of a paper simulate with: presets, buses, keys. The paper's ``setup.toml`` tells
what each key is."""

SHAPES = (
    "rises",
    "falls",
    "rises ever less",
    "rises, then falls",
    "positive, then negative",
    "level",
    "not level",
)
"""Names of shapes; :mod:`sledsim.papers.judge` tells what each means."""

_FOLDER = Path(__file__).parent
_BESIDE = Path(__file__).parents[4] / "shared"
"""Beside the repository, if the package is used out of one."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What arithmetic on printed numbers, or an independent computation, leads to.

    A value of sledsim's own model is none.
    """

    value: float
    tolerance: float
    because: str = ""
    """Where the tolerance is from, if it is not half a unit of the last digit."""
    arithmetic: str = ""
    """An expression of printed numbers, as :mod:`sledsim.papers.arithmetic` takes it."""
    computed: str = ""
    """``module.function`` of ``tests/independent``, which imports nothing of sledsim."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Arithmetic on values that an item prints, which excludes another value of it."""

    arithmetic: str
    """An expression of names, as :func:`sledsim.papers.arithmetic.between` takes it."""
    numbers: Mapping[str, str]
    """The keys of the values of the item that the names stand for."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a target, a tolerance, a kind or a class after the first results."""

    key: str
    old: str
    new: str
    why: str


@dataclass(frozen=True, slots=True)
class Published:
    """A value that a paper states."""

    key: str
    what: str
    published: str | tuple[str, ...]
    """Of ``within`` the digits as printed, of ``between`` those of both ends, of ``order`` names,
    of ``shape`` its name."""
    place: str
    """Where it stands in the paper."""
    unit: str = ""
    kind: Kind = "within"
    exact: bool = False
    """Whether it is a count, a parameter or a range of limits, which have no tolerance."""
    words: bool = False
    """Whether the paper says it in words or by an equation. The number, or the range, is then ours;
    it has no tolerance and counts with the orders, not with the numbers."""
    percent: Literal["", "more", "less"] = ""
    """What a value in % adds to a time, or takes from it: its distance is that of the times."""
    error: float = 0.0
    """An allowance beyond half a unit of the last digit: see ``error_from``. Of a shape: how far
    the largest and the smallest number of a level curve lie apart, and else how far a curve may go
    the wrong way."""
    error_from: Literal["", "sampling", "figure", "similar"] = ""
    """``sampling``: two standard errors of a sample; ``figure``: the value is read off a plot;
    ``similar``: the paper says "similar" or "as well as", which are 5 %."""
    error_because: str = ""
    judged_as: Class | None = None
    """The key ``class`` of the data file."""
    because: str = ""
    """Why it has its class; of a value without one, what is known of why it is missed, if it is."""
    repeats: str = ""
    """The value of the paper, as ``item.key``, that has this printed number first."""
    cause: str = ""
    """The common cause of misses, one of those of the paper, that it has if it is missed."""
    expected: Expected | None = None
    contradiction: Contradiction | None = None
    history: tuple[Change, ...] = ()

    @property
    def numbers(self) -> tuple[float, ...]:
        """The number, or the two of a range; nothing for an order or a shape."""
        if self.kind == "within":
            return (float(str(self.published)),)
        return tuple(map(float, self.published)) if self.kind == "between" else ()

    @property
    def tolerance(self) -> float:
        """Half a unit of the last digit of what is rounded, and the allowance."""
        if self.exact or self.words or not self.numbers:
            return self.error
        printed = self.published if self.kind == "within" else self.published[0]
        return self.error + half_unit(str(printed))

    @property
    def limits(self) -> tuple[float, float]:
        """Both ends of a number or a range, with the tolerance."""
        return self.numbers[0] - self.tolerance, self.numbers[-1] + self.tolerance


def half_unit(printed: str) -> float:
    """Return half a unit of the last digit of a printed number.

    >>> half_unit("1.60"), half_unit("7e1")
    (0.005, 5.0)
    """
    return float(Decimal(5).scaleb(exponent_of(printed) - 1))


@dataclass(frozen=True, slots=True)
class Point:
    """A published point of a curve; it is drawn into the figure of its item."""

    x: float
    y: float
    place: str
    what: str = ""
    axes: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of what a paper leaves open: applied to whole items, never to single values."""

    name: str
    what: str
    setup: Setup
    """The set-up of the paper with what this reading changes."""
    changes: Setup
    """What it changes."""
    found_by: Literal["", "search"] = ""
    """``search``: it was found by trying many with the published values in view."""

    @property
    def settings(self) -> int:
        """How many keys it changes: its free parameters."""
        return len(leaves(self.changes))


@dataclass(frozen=True, slots=True)
class Item(Shown):
    """A table, a figure or a passage of a paper."""

    paper: str
    name: str
    title: str
    place: str
    how: str
    """Under which conditions sledsim comes to its values."""
    values: tuple[Published, ...]
    setup: Setup = field(default_factory=dict)
    """The set-up of the paper."""
    readings: tuple[Reading, ...] = ()
    """Those of the paper that change something here."""
    disksim: Reading | None = None
    """The set-up with which DiskSim 4, the authors' later simulator, gives the same times."""
    open: str = ""
    """What the paper leaves open or does not publish, on which the values depend."""
    points: tuple[Point, ...] = ()
    external: tuple[str, ...] = ()
    """Names of files that do not come with sledsim and are used where they are: see
    :func:`external_file`."""

    def __repr__(self) -> str:
        return f"<sledsim item {self.id}: {self.title}, values: {len(self.values)}>"

    def _sheet(self) -> Sheet:
        from sledsim.papers import shown  # it imports this

        return shown.item(self)

    @property
    def id(self) -> str:
        """Paper and name, as in ``sigmetrics2000/table2``."""
        return f"{self.paper}/{self.name}"

    @property
    def folder(self) -> str:
        """The folder of its files: the paper, as Python can import it."""
        return self.paper.replace("-", "_")

    @property
    def module(self) -> ModuleType:
        """The module that has ``simulate``, and perhaps ``draw``."""
        return importlib.import_module(f"{__package__}.{self.folder}.{self.name}")

    @property
    def code(self) -> str:
        """The source of :attr:`module`."""
        return (folder_of(self.folder) / f"{self.name}.py").read_text("utf-8")

    @property
    def data(self) -> str:
        """The text of the data file."""
        return (folder_of(self.folder) / f"{self.name}.toml").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A table or figure that is no item, and why."""

    place: str
    because: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A headline claim of an abstract or a conclusion: the value of an item that it rests on."""

    claim: str
    item: str
    """The id of the item."""
    key: str
    quick: bool = False
    """Whether ``sledsim papers claims`` simulates fewer requests, as a full run takes minutes."""

    @property
    def command(self) -> str:
        """The command that simulates it."""
        return f"sledsim papers run {self.item}{' --quick' * self.quick}"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper."""

    name: str
    title: str
    authors: str
    published: str
    summary: str
    """What comes out, what does not, and what that says about the paper and about the model."""
    how: str
    """The set-up of all items, in prose."""
    items: tuple[Item, ...]
    readings: tuple[Reading, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    causes: Mapping[str, str] = field(default_factory=dict)
    """Causes that several misses have in common, by name: what each is."""
    claims: tuple[Claim, ...] = ()


def merged(base: Setup, changes: Setup) -> Setup:
    """Return a set-up with the tables of another laid over its own."""
    both = dict(base)
    for key, value in changes.items():
        own = both.get(key)
        tables = isinstance(own, Mapping) and isinstance(value, Mapping)
        both[key] = merged(own, value) if tables and own is not None else value
    return both


def leaves(setup: Setup, at: str = "") -> dict[str, Any]:
    """Return the keys of a set-up that are no tables, with their places, and their values."""
    found: dict[str, Any] = {}
    for key, value in setup.items():
        own = leaves(value, f"{at}{key}.") if isinstance(value, Mapping) else {f"{at}{key}": value}
        found |= own
    return found


class Later(Mapping[K, T]):
    """Values by name, each computed when it is first asked for.

    Parameters
    ----------
    names
        The names, in their order.
    compute
        Returns the value of a name.
    """

    def __init__(self, names: Iterable[K], compute: Callable[[K], T]) -> None:
        self._names = tuple(names)
        self._compute = compute
        self._done: dict[K, T] = {}

    def __getitem__(self, name: K) -> T:
        if name not in self._done:
            if name not in self._names:
                raise KeyError(name)
            self._done[name] = self._compute(name)
        return self._done[name]

    def __iter__(self) -> Iterator[K]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, slots=True)
class Found:
    """The simulated values of an item under a set-up.

    Parameters
    ----------
    values
        For every published value of the item that is not ``not_modelled``.
    series
        More data for the figure; part of the JSON document. No reading beside the set-up of the
        paper needs them: see :class:`Later`.
    note
        A remark on this run, such as the files it used; goes behind ``how``.
    """

    values: Mapping[str, Simulated]
    series: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


def folder_of(folder: str) -> Path:
    """Return the folder of the items of a paper, by its name."""
    return _FOLDER / folder


def external_file(name: str) -> Path | None:
    """Return a file that does not come with sledsim, or ``None`` where it is not.

    It is looked for in the folder ``SLEDSIM_SHARED`` of the environment, or else in ``../shared``
    beside the repository, and in the folder ``traces`` of either.
    """
    given = os.environ.get("SLEDSIM_SHARED")
    folder = Path(given) if given is not None else _BESIDE
    places = (folder / name, folder / "traces" / name)
    return next((place for place in places if place.is_file()), None)


@cache
def papers() -> tuple[Paper, ...]:
    """Return the papers, oldest first."""
    from sledsim.papers import data_files  # it makes what is defined here

    found = [data_files.paper(file) for file in sorted(_FOLDER.glob("*/paper.toml"))]
    return tuple(paper for _, paper in sorted(found, key=lambda entry: entry[0]))


def find(names: Sequence[str]) -> list[Item]:
    """Return the items that are named, by paper or ``paper/item``, each once; all without a name.

    Raises
    ------
    SledsimError
        For a name that is neither; the message lists the names.
    """
    items = {item.id: item for paper in papers() for item in paper.items}
    by_paper = {paper.name: paper for paper in papers()}
    chosen: dict[str, Item] = {}
    for name in names or by_paper:
        if name in by_paper:
            chosen |= {item.id: item for item in by_paper[name].items}
        elif name in items:
            chosen[name] = items[name]
        else:
            raise SpecError(_unknown(name, list(by_paper), list(items)))
    return [item for item in items.values() if item.id in chosen]


def _unknown(name: str, by_paper: list[str], items: list[str]) -> str:
    paper, slash, _ = name.partition("/")
    if slash and paper in by_paper:
        own = [item for item in items if item.startswith(f"{paper}/")]
        return f"unknown item '{name}'; {paper} has {', '.join(own)}"
    kind = "item" if slash else "paper"
    return f"unknown {kind} '{name}'; there are the papers {', '.join(by_paper)}"
