"""Papers and items from their data files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from sledsim.papers.arithmetic import evaluate
from sledsim.papers.data_table import Table, load
from sledsim.papers.model import (
    SHAPES,
    Change,
    Class,
    Expected,
    Item,
    Kind,
    LeftOut,
    Paper,
    Point,
    Published,
    Reading,
    Setup,
    half_unit,
)

if TYPE_CHECKING:
    from pathlib import Path


def paper(file: Path) -> tuple[float, Paper]:
    """Return a paper from its ``paper.toml`` and the files beside it, and its sort key.

    Raises
    ------
    SledsimError
        For a file with something unknown, missing or of another type.
    """
    table = load(file)
    order = table.number("order")
    name = file.parent.name.replace("_", "-")
    common = load(file.with_name("setup.toml"))
    how = common.text("how")
    setup: Setup = common.take("setup", dict, default={})
    readings = {own.name: own for own in map(_reading(setup), common.tables("readings", dict))}
    common.end()
    found = Paper(
        name=name,
        title=table.take("title", str),
        authors=table.take("authors", str),
        published=table.take("published", str),
        summary=table.text("summary"),
        how=how,
        items=tuple(
            _item(file.with_name(f"{item}.toml"), name, setup, readings)
            for item in table.names("items")
        ),
        readings=tuple(readings.values()),
        left_out=tuple(_left_out(part) for part in table.tables("left_out", list)),
    )
    table.end()
    return order, found


def _reading(setup: Setup) -> Any:
    def read(table: Table) -> Reading:
        changes = table.take("setup", dict)
        if not changes:
            table.refuse("setup", changes, "a table with what it changes")
        reading = Reading(table.name, table.text("what"), _merged(setup, changes))
        table.end()
        return reading

    return read


def _merged(base: Setup, changes: Setup) -> Setup:
    """Return a set-up with the tables of another laid over its own."""
    merged = dict(base)
    for key, value in changes.items():
        own = merged.get(key)
        both = isinstance(own, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(own, value) if both and own is not None else value
    return merged


def _left_out(table: Table) -> LeftOut:
    part = LeftOut(place=table.take("place", str), because=table.text("because"))
    table.end()
    return part


def _item(file: Path, paper: str, setup: Setup, readings: Mapping[str, Reading]) -> Item:
    table = load(file)
    place = table.take("place", str)
    values = table.tables("values", dict)
    if not values:
        table.refuse("values", {}, "one value or more")
    names = table.names("readings", default=[])
    for name in names:
        if name not in readings:
            table.refuse("readings", name, f"of setup.toml: {', '.join(readings) or 'it has none'}")
    item = Item(
        paper=paper,
        name=file.stem,
        title=table.take("title", str),
        place=place,
        how=table.text("how"),
        values=tuple(_published(value, place) for value in values),
        setup=setup,
        readings=tuple(readings[name] for name in names),
        points=tuple(_point(point, place) for point in table.tables("points", list)),
        external=tuple(table.names("external", default=[])),
    )
    table.end()
    return item


def _point(table: Table, place: str) -> Point:
    point = Point(
        x=table.number("x"),
        y=table.number("y"),
        place=table.take("place", str, default=place),
        what=table.take("what", str, default=""),
        axes=table.take("axes", int, default=0),
    )
    table.end()
    return point


def _published(table: Table, place: str) -> Published:
    kind: Kind = table.one_of("kind", get_args(Kind), default="within")
    judged_as: Class | None = table.one_of("class", get_args(Class), default=None)
    shape = kind == "shape"
    error = table.number("tolerance" if shape else "error", default=0.0, least=0.0)
    error_from: Literal["", "sampling", "figure"] = ""
    error_because = ""
    if error and not shape:
        error_from = table.one_of("error_from", ("sampling", "figure"))
    if error:
        error_because = table.text("tolerance_because" if shape else "error_because")
    value = Published(
        key=table.name,
        what=table.take("what", str),
        published=_value(table, kind),
        place=table.take("place", str, default=place),
        unit=table.take("unit", str, default=""),
        kind=kind,
        exact=kind == "within" and table.take("exact", bool, default=False),
        error=error,
        error_from=error_from,
        error_because=error_because,
        judged_as=judged_as,
        because=table.text("because", default=... if judged_as else ""),
        expected=_expected(table.table("expected")),
        history=tuple(_change(change) for change in table.tables("history", list)),
    )
    table.end()
    _check(table, value)
    return value


def _value(table: Table, kind: Kind) -> str | tuple[str, ...]:
    """Take out what is published."""
    key = "published"
    if kind == "within":
        return table.printed(key, table.take(key, str))
    if kind == "shape":
        shape: str = table.one_of(key, SHAPES)
        return shape
    names = table.names(key)
    if kind == "order":
        if len(names) < 2:
            table.refuse(key, names, "two names or more")
        return tuple(names)
    ends = tuple(table.printed(key, name) for name in names)
    if len(ends) != 2 or not float(ends[0]) < float(ends[1]):
        table.refuse(key, names, "two numbers, the smaller one first")
    return ends


def _expected(table: Table | None) -> Expected | None:
    if table is None:
        return None
    value = table.number("value")
    arithmetic = table.take("arithmetic", str, default="")
    computed = table.take("computed", str, default="")
    if bool(arithmetic) == bool(computed):
        table.refuse("value", value, "from either `arithmetic` or `computed`")
    tolerance = table.number("tolerance", default=0.0, least=0.0)
    half = half_unit(repr(value))
    because = table.text("because", default=... if tolerance > half else "")
    table.end()
    expected = Expected(value, max(tolerance, half), because, arithmetic, computed)
    if arithmetic:
        try:
            right = abs(evaluate(arithmetic) - value) <= half + 1e-9 * abs(value)
        except ValueError as error:
            table.refuse("arithmetic", arithmetic, str(error))
        if not right:
            table.refuse("value", value, f"what {arithmetic} gives: {evaluate(arithmetic):.6g}")
    return expected


def _change(table: Table) -> Change:
    change = Change(*(table.text(key) for key in ("key", "old", "new", "why")))
    table.end()
    return change


def _check(table: Table, value: Published) -> None:
    """Refuse an erratum that arithmetic on printed numbers does not show."""
    if value.judged_as != "erratum":
        return
    expected = value.expected
    if value.kind != "within" or expected is None or not expected.arithmetic:
        table.refuse("class", "erratum", "of a number, with expected.arithmetic")
    if abs(expected.value - value.numbers[0]) <= value.tolerance:
        table.refuse("published", value.published, f"other than {expected.value:g}, its arithmetic")
