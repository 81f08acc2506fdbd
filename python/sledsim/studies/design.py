"""The points of a study: which values the keys have at each."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sledsim._arguments import MOST_ITEMS, limited, refuse
from sledsim._core import SledsimError
from sledsim._load import Load
from sledsim._values import printable
from sledsim.hardware import Device, dotted_keys
from sledsim.hardware.labels import absolute

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

Kind: TypeAlias = Literal["number", "text", "truth"]
Cell: TypeAlias = str | float | bool
"""A value as it stands in a table."""
Point: TypeAlias = dict[str, Any]
"""The value of every key at a point: of the base, and of what varies."""

_TABLES = ("device", "scheduler", "layout", "workload", "crash", "cache")
"""Keys whose mappings are values of their own: what is inside is not spread over keys."""


class Design:
    """The points of a study, in order; they are made one by one as they are needed.

    Parameters
    ----------
    base
        Keys with the same value at all points.
    grid
        A sequence of values for each key: all combinations are points, the last key varying
        fastest.
    zip
        Sequences of equal lengths: their first values belong together, then the second ones, ...
    rows
        A data frame, an Arrow table or a sequence of mappings: a row gives the values of its keys.
    where
        Called with each point; those for which it is false are left out.
    exclude
        Mappings of keys to a value or a list of values: points that agree with one in all of its
        keys are left out.

    Every row is combined with every step of ``zip`` and every combination of ``grid``.
    """

    def __init__(
        self,
        base: Mapping[str, object],
        *,
        grid: Mapping[str, object] | None = None,
        zip: Mapping[str, object] | None = None,  # noqa: A002 (as the option is called)
        rows: object = None,
        where: Callable[[Point], object] | None = None,
        exclude: Sequence[Mapping[str, object]] = (),
    ) -> None:
        self.base = _plain_keys("base", base)
        self._axes = {key: _values("grid", key, given) for key, given in _keyed("grid", grid)}
        self._zip = {key: _values("zip", key, given) for key, given in _keyed("zip", zip)}
        self._rows = _records(rows)
        if where is not None and not callable(where):
            refuse("where", where, "a function of a point")
        self._where = where
        if isinstance(exclude, str | Mapping) or not isinstance(exclude, Iterable):
            refuse("exclude", exclude, "a sequence of mappings of keys to values")
        self._exclude = [_plain_keys("exclude", each) for each in limited("exclude", exclude)]
        self._check()

    def _check(self) -> None:
        lengths = {key: len(values) for key, values in self._zip.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            _refuse(f"zip: all keys must have equally many values; {told}")
        parts = {"grid": self._axes, "zip": self._zip, "rows": self._rows[0] if self._rows else {}}
        seen: dict[str, str] = {}
        for part, keys in parts.items():
            for key in keys:
                if key in seen:
                    _refuse(f"{key}: is given in {seen[key]} and in {part}; give it in one of them")
                seen[key] = part
        self.varied = list(dict.fromkeys([*parts["rows"], *self._zip, *self._axes]))
        """The keys that vary, as the points name them."""
        for each in self._exclude:
            for key in each:
                if key not in seen and key not in self.base:
                    known = ", ".join([*self.base, *self.varied])
                    _refuse(f"exclude: unknown key '{key}'; the study has {known}")
        self.runs(1)

    @property
    def parameters(self) -> list[str]:
        """All keys: those that vary last."""
        return [*(key for key in self.base if key not in self.varied), *self.varied]

    @property
    def combinations(self) -> int:
        """How many points there are before any is left out."""
        count = len(self._rows) if self._rows else 1
        count *= len(next(iter(self._zip.values()))) if self._zip else 1
        for values in self._axes.values():
            count *= len(values)
        return count

    def runs(self, replications: int) -> int:
        """Return how many runs there are before any is left out."""
        count = self.combinations * replications
        if count > MOST_ITEMS:
            lengths = [f"{len(values):,} of {key}" for key, values in self._axes.items()]
            lengths += [f"{len(values):,} of {key}" for key, values in [*self._zip.items()][:1]]
            lengths += [f"{len(self._rows):,} rows"] if self._rows else []
            lengths += [f"{replications:,} replications"] if replications > 1 else []
            told = " times ".join(lengths)
            _refuse(f"the study has {told}: {count:,} runs; must have at most {MOST_ITEMS:,}")
        return count

    def values_of(self, key: str) -> Iterator[object]:
        """Iterate over all values of a key."""
        if key in self._axes:
            return iter(self._axes[key])
        if key in self._zip:
            return iter(self._zip[key])
        if key in self.varied:
            return (row[key] for row in self._rows)
        return iter([self.base[key]])

    def cells(self, point: Point, kinds: Mapping[str, Kind]) -> dict[str, Cell]:
        """Return the values of a point as they stand in a table of columns of these kinds."""
        cells = {key: shown(value) for key, value in point.items()}
        return {key: str(cell) if kinds[key] == "text" else cell for key, cell in cells.items()}

    def kinds(self) -> dict[str, Kind]:
        """Return the kind of column that each key has in the table."""
        return {key: _kind(self.values_of(key)) for key in self.parameters}

    def __iter__(self) -> Iterator[Point]:
        for row in self._rows or [{}]:
            for step in _steps(self._zip):
                for values in itertools.product(*self._axes.values()):
                    grid = dict(zip(self._axes, values, strict=True))
                    point = {**self.base, **row, **step, **grid}
                    if self._is_wanted(point):
                        yield point

    def _is_wanted(self, point: Point) -> bool:
        excluded = any(
            all(
                point[key] in value if isinstance(value, list) else point[key] == value
                for key, value in each.items()
            )
            for each in self._exclude
        )
        return not excluded and (self._where is None or bool(self._where(dict(point))))

    def named(self, point: Point) -> str:
        """Name a point by the values that vary: ``rate = 300, scheduler = "sptf"``."""
        varied = [f"{key} = {_quoted(point[key])}" for key in self.varied]
        return ", ".join(varied) or "the only point"


def _steps(columns: Mapping[str, Sequence[object]]) -> Iterator[Point]:
    if not columns:
        yield {}
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def shown(value: object) -> Cell:
    """Return a value as it stands in a table: numbers and truths as they are, others as text."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Device | Load):
        return str(value.name)
    if isinstance(value, os.PathLike):
        return printable(str(value))
    if isinstance(value, Mapping) and "base" in value:
        keys = dotted_keys({key: each for key, each in value.items() if key != "base"})
        return (
            f"{shown(value['base'])}({'; '.join(f'{key}={_quoted(each)}' for key, each in keys)})"
        )
    return json.dumps(value, ensure_ascii=False, default=str)


def _quoted(value: object) -> str:
    own = shown(value)
    return own if isinstance(own, str) and not isinstance(value, str) else json.dumps(own)


def sent(point: Point) -> Point:
    """Return values for a worker, which may be in another folder: paths are absolute."""
    return {key: _absolute(value) if key in _FILES else value for key, value in point.items()}


_FILES = ("device", "workload", "trace", "load", "scenario")
"""Keys whose values may be paths."""


def _absolute(value: object) -> object:
    if isinstance(value, dict) and "base" in value:
        return {**value, "base": _absolute(value["base"])}
    return absolute(os.fspath(value)) if isinstance(value, str | os.PathLike) else value


def _kind(values: Iterable[object]) -> Kind:
    kinds: AbstractSet[Kind] = {
        "truth"
        if isinstance(value, bool)
        else "number"
        if isinstance(value, int | float)
        else "text"
        for value in values
    }
    return next(iter(kinds)) if len(kinds) == 1 else "text"


def _keyed(part: str, given: object) -> list[tuple[str, object]]:
    if given is None:
        return []
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        refuse(part, given, "a mapping of keys to sequences of values")
    return list(given.items())


def _plain_keys(part: str, given: object) -> Point:
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        refuse(part, given, "a mapping of keys to values")
    keys: Point = {}
    for key, value in given.items():
        if isinstance(value, Mapping) and "base" not in value and key in _TABLES:
            found = plain(key, value)
            keys.update((f"{key}.{inner}", each) for inner, each in dotted_keys(found))
        else:
            keys[key] = plain(key, value)
    return keys


def _values(part: str, key: str, given: object) -> list[object]:
    """Return the values of an axis."""
    must = f"a sequence of values for {key}, as in [1, 2, 3]"
    if isinstance(given, str | bytes | Mapping | os.PathLike) or not isinstance(given, Iterable):
        refuse(f"{part}: {key}", given, must)
    values = [plain(key, value) for value in limited(f"{part}: {key}", given)]
    if not values:
        _refuse(f"{part}: {key}: has no values; must be {must}")
    return values


_DEEPEST = 30


def plain(key: str, value: object, depth: int = 0) -> Any:
    """Return Python's own value of a number of numpy or pandas."""
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "ndim", None) == 0:
        value = item()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        refuse(key, value, "a number that fits 64 bits")
    if isinstance(value, Mapping | list | tuple) and depth > _DEEPEST:
        refuse(key, value, f"nested at most {_DEEPEST} deep")
    if isinstance(value, Mapping):
        if not all(isinstance(inner, str) for inner in value):
            refuse(key, value, "a mapping of keys, which are text, to values")
        return {inner: plain(f"{key}.{inner}", each, depth + 1) for inner, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(key, each, depth + 1) for each in value]
    return value


def _records(rows: object) -> list[Point]:
    """Return the rows of a data frame, an Arrow table or a sequence of mappings."""
    if rows is None:
        return []
    table: Any = rows
    if hasattr(rows, "to_dicts"):  # Polars
        table = table.to_dicts()
    elif hasattr(rows, "to_pylist"):  # PyArrow
        table = table.to_pylist()
    elif hasattr(rows, "to_dict"):  # pandas
        table = table.to_dict("records")
    must = "a data frame, an Arrow table or a sequence of mappings"
    if isinstance(table, str | Mapping) or not isinstance(table, Iterable):
        refuse("rows", rows, must)
    records = [_plain_keys("rows", row) for row in limited("rows", table)]
    if not records:
        _refuse(f"rows: has no row; must be {must}")
    keys = list(records[0])
    for number, record in enumerate(records):
        if sorted(record) != sorted(keys):
            _refuse(
                f"rows: row {number} has the keys {', '.join(record)}; must have {', '.join(keys)}"
            )
        for key, value in record.items():
            if value is None or value != value:  # noqa: PLR0124 (NaN)
                _refuse(f"rows: row {number}: {key} has no value")
    return records


def _refuse(problem: str) -> None:
    raise SledsimError(problem)
