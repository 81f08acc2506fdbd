"""The data model: papers, their items and published values, read from data files.

``<paper>/paper.toml`` describes a paper, ``<paper>/<item>.toml`` what one of its tables, figures
or passages states, and ``<paper>/<item>.py`` beside it how sledsim comes to its own values::

    def simulate(quick: bool) -> Found: ...
    def draw(figure: Figure, found: Found) -> None: ...  # if it is more than its values

An item uses the public API of sledsim only. No published value stands in its code.
"""

from __future__ import annotations

import importlib
import os
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, get_args

from sledsim._core import SledsimError

if TYPE_CHECKING:
    from types import ModuleType

Kind: TypeAlias = Literal["within", "at_most", "at_least", "order", "shape"]
"""How a value is compared: a number that is equal within a tolerance, or a bound; names in the
order of their numbers, smallest first; or the shape of a curve, one of :data:`SHAPES`."""

Simulated: TypeAlias = float | Sequence[float] | Mapping[str, float]
"""What is compared: a number, the numbers of a curve for a shape, numbers by name for an order."""

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
class Explained:
    """Why a published value does not come out, and what must come out instead.

    Either another value, and an explanation covers those near ``expected`` only, so that it hides
    no other mistake; or the published one, where the item assumes something else that the paper
    leaves open.
    """

    because: str
    expected: float | str | tuple[str, ...] | None = None
    source: str = ""
    """Where ``expected`` is from."""
    tolerance: float = 0.0
    hypothesis: str = ""
    """Under which hypothesis of the item the published value must come out; then nothing else is
    expected."""


@dataclass(frozen=True, slots=True)
class Published:
    """A value that a paper states."""

    key: str
    what: str
    published: float | str | tuple[str, ...]
    place: str
    """Where it stands in the paper."""
    unit: str = ""
    kind: Kind = "within"
    tolerance: float = 0.0
    """In ``unit``: largest difference of a number. For a curve: how far the largest and the
    smallest number of a level one lie apart, and else how far it may go the wrong way."""
    tolerance_because: str = ""
    """Where the tolerance is from."""
    explained: Explained | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A table, a figure or a passage of a paper."""

    paper: str
    name: str
    title: str
    place: str
    how: str
    """Under which conditions sledsim comes to its values."""
    values: tuple[Published, ...]
    hypotheses: dict[str, str] = field(default_factory=dict)
    """Other assumptions, each with its own results. They are shown, and count for nothing but
    explanations that name them."""
    real_time: bool = False
    """Whether it takes real time, and the machine for itself, unless it is quick."""
    external: tuple[str, ...] = ()
    """Names of files that do not come with sledsim and are used where they are: see
    :func:`external_file`."""

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
class Paper:
    """A paper."""

    name: str
    title: str
    authors: str
    published: str
    items: tuple[Item, ...]
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The simulated values of an item.

    Parameters
    ----------
    values
        For every published value of the item.
    hypotheses
        The same, or some of them, under other assumptions.
    series
        More data for the figure; part of the JSON document.
    note
        A remark on this run, such as the files it used; goes behind ``how``.
    """

    values: Mapping[str, Simulated]
    hypotheses: Mapping[str, Mapping[str, Simulated]] = field(default_factory=dict)
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
    """Return the papers, oldest first.

    Raises
    ------
    SledsimError
        For a data file with something unknown, missing or of another type.
    """
    found = [_paper(file) for file in sorted(_FOLDER.glob("*/paper.toml"))]
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
            raise SledsimError(_unknown(name, list(by_paper), list(items)))
    return [item for item in items.values() if item.id in chosen]


def _unknown(name: str, by_paper: list[str], items: list[str]) -> str:
    paper, slash, _ = name.partition("/")
    if slash and paper in by_paper:
        own = [item for item in items if item.startswith(f"{paper}/")]
        return f"unknown item '{name}'; {paper} has {', '.join(own)}"
    kind = "item" if slash else "paper"
    return f"unknown {kind} '{name}'; there are the papers {', '.join(by_paper)}"


def _load(file: Path) -> _Table:
    try:
        return _Table(file, "", tomllib.loads(file.read_text("utf-8")))
    except (OSError, ValueError) as error:  # of TOML or of UTF-8
        msg = f"{file}: {error.strerror if isinstance(error, OSError) else error}"
        raise SledsimError(msg) from None


def _paper(file: Path) -> tuple[float, Paper]:
    """Return a paper, and its sort key."""
    table = _load(file)
    order = table.number("order")
    name = _name(file)
    paper = Paper(
        name=name,
        title=table.take("title", str),
        authors=table.take("authors", str),
        published=table.take("published", str),
        items=tuple(_item(file.with_name(f"{item}.toml")) for item in table.names("items")),
        left_out=tuple(_left_out(part) for part in table.tables("left_out", list)),
    )
    table.end()
    return order, paper


def _name(file: Path) -> str:
    """Return the name of the paper that a file belongs to."""
    return file.parent.name.replace("_", "-")


def _left_out(table: _Table) -> LeftOut:
    part = LeftOut(place=table.take("place", str), because=_lines(table.take("because", str)))
    table.end()
    return part


def _item(file: Path) -> Item:
    table = _load(file)
    place = table.take("place", str)
    values = table.tables("values", dict)
    if not values:
        table.refuse("values", {}, "one value or more")
    hypotheses = table.take("hypotheses", dict, default={})
    texts = _Table(file, "hypotheses.", hypotheses)
    item = Item(
        paper=_name(file),
        name=file.stem,
        title=table.take("title", str),
        place=place,
        how=_lines(table.take("how", str)),
        values=tuple(_published(value, place, hypotheses) for value in values),
        hypotheses={key: _lines(texts.take(key, str)) for key in list(hypotheses)},
        real_time=table.take("real_time", bool, default=False),
        external=tuple(table.take("external", list, default=[])),
    )
    table.end()
    return item


def _published(table: _Table, place: str, hypotheses: Collection[str]) -> Published:
    kind = table.take("kind", str, default="within")
    if kind not in get_args(Kind):
        table.refuse("kind", kind, f"one of {', '.join(get_args(Kind))}")
    explained = table.take("explained", dict, default=None)
    value = Published(
        key=table.at.removeprefix("values.").removesuffix("."),
        what=table.take("what", str),
        published=_value(table, "published", kind),
        place=table.take("place", str, default=place),
        unit=table.take("unit", str, default=""),
        kind=kind,
        tolerance=table.number("tolerance", default=0.0, least=0.0),
        tolerance_because=_lines(table.take("tolerance_because", str, default="")),
        explained=explained
        and _explained(_Table(table.file, f"{table.at}explained.", explained), kind, hypotheses),
    )
    table.end()
    return value


def _explained(table: _Table, kind: Kind, hypotheses: Collection[str]) -> Explained:
    because = _lines(table.take("because", str))
    hypothesis = table.take("hypothesis", str, default=None)
    if hypothesis is not None:
        if hypothesis not in hypotheses:
            known = ", ".join(hypotheses) or "of the item, which has none"
            table.refuse("hypothesis", hypothesis, known)
        explained = Explained(because, hypothesis=hypothesis)
    else:
        explained = Explained(
            because,
            expected=_value(table, "expected", kind),
            source=_lines(table.take("source", str)),
            tolerance=table.number("tolerance", default=0.0, least=0.0),
        )
    table.end()
    return explained


def _value(table: _Table, key: str, kind: Kind) -> float | str | tuple[str, ...]:
    if kind == "order":
        names = table.names(key)
        if len(names) < 2:
            table.refuse(key, names, "two names or more")
        return tuple(names)
    if kind == "shape":
        shape: str = table.take(key, str)
        if shape not in SHAPES:
            table.refuse(key, shape, f"one of {', '.join(SHAPES)}")
        return shape
    return table.number(key)


def _lines(text: str) -> str:
    """Join the lines of each paragraph."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


@dataclass
class _Table:
    """A table of a data file whose keys are taken one by one."""

    file: Path
    at: str
    keys: dict[str, Any]

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """Take a key out; ``...`` as default says that it must be there."""
        value = self.keys.pop(key, default)
        if value is ...:
            msg = f"{self.file}: {self.at}{key} is missing"
            raise SledsimError(msg)
        wanted = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if value is not default and not wanted:
            names = kind if isinstance(kind, tuple) else (kind,)
            self.refuse(key, value, " or ".join(name.__name__ for name in names))
        return value

    def number(self, key: str, default: Any = ..., least: float = -inf) -> float:
        """Take out a finite number that is not less than another."""
        value = float(self.take(key, (int, float), default))
        if not isfinite(value) or value < least:
            self.refuse(key, value, "finite" if least == -inf else f"finite and {least} or more")
        return value

    def names(self, key: str) -> list[str]:
        """Take out a list of strings, each another."""
        names: list[str] = self.take(key, list)
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            self.refuse(key, names, "strings, each once")
        return names

    def tables(self, key: str, kind: type) -> list[_Table]:
        """Take out a table or a list of tables, if it is there: a table for each entry."""
        value = self.take(key, kind, default=kind())
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        tables = []
        for name, entry in entries:
            if not isinstance(entry, dict):
                self.refuse(f"{key}.{name}", entry, "a table")
            tables.append(_Table(self.file, f"{self.at}{key}.{name}.", entry))
        return tables

    def refuse(self, key: str, value: object, must: str) -> NoReturn:
        """Raise the error for a value that is not allowed."""
        msg = f"{self.file}: {self.at}{key} = {value!r}: must be {must}"
        raise SledsimError(msg)

    def end(self) -> None:
        """Refuse keys that were not taken."""
        for key in self.keys:
            msg = f"{self.file}: unknown key {self.at}{key}"
            raise SledsimError(msg)
