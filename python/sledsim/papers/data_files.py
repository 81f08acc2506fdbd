"""Papers and items from their data files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from sledsim.papers.arithmetic import between, evaluate
from sledsim.papers.data_table import Table, load, one_line
from sledsim.papers.model import (
    SHAPES,
    Change,
    Claim,
    Class,
    Contradiction,
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
    merged,
)
from sledsim.papers.values import exponent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


def paper(file: Path) -> tuple[float, Paper]:
    """Return a paper from its ``paper.toml`` and the files beside it, and its sort key."""
    table = load(file)
    order = table.number("order")
    name = file.parent.name.replace("_", "-")
    common = load(file.with_name("setup.toml"))
    how = common.text("how")
    setup: Setup = common.take("setup", dict, default={})
    readings = {own.name: own for own in map(_reading(setup), common.tables("readings", dict))}
    own = common.table("disksim")
    of_paper = _Readings(setup, readings, None if own is None else _reading(setup)(own))
    common.end()
    causes = table.take("causes", dict, default={})
    found = Paper(
        name=name,
        title=table.take("title", str),
        authors=table.take("authors", str),
        published=table.take("published", str),
        summary=table.text("summary"),
        how=how,
        items=tuple(
            _item(file.with_name(f"{item}.toml"), name, of_paper) for item in table.names("items")
        ),
        readings=tuple(readings.values()),
        left_out=tuple(_left_out(part) for part in table.tables("left_out", list)),
        causes={cause: one_line(str(what)) for cause, what in causes.items()},
        claims=tuple(_claim(part, name) for part in table.tables("claims", list)),
    )
    table.end()
    _check_references(found, file)
    return order, found


class _Readings(NamedTuple):
    """The set-up of a paper, its readings by name, and that of DiskSim."""

    setup: Setup
    named: Mapping[str, Reading]
    disksim: Reading | None


def _claim(table: Table, paper: str) -> Claim:
    item, _, key = table.take("value", str).partition(".")
    quick = table.take("quick", bool, default=False)
    claim = Claim(table.text("claim"), f"{paper}/{item}", key, quick)
    table.end()
    return claim


def _check_references(paper: Paper, file: Path) -> None:
    """Refuse causes, repeated values and values of claims that are not there."""
    values = {f"{item.name}.{value.key}": value for item in paper.items for value in item.values}
    for number, claim in enumerate(paper.claims):
        at = f"{claim.item.partition('/')[2]}.{claim.key}"
        if at not in values or values[at].judged_as == "not_modelled":
            Table(file, f"claims.{number}.", {}).refuse("value", at, "the ITEM.KEY of a value")
    for item in paper.items:
        for value in item.values:
            table = Table(file.with_name(f"{item.name}.toml"), f"values.{value.key}.", {})
            if value.cause and value.cause not in paper.causes:
                known = ", ".join(paper.causes) or "it has none"
                table.refuse("cause", value.cause, f"of the causes of {file.name}: {known}")
            first = values.get(value.repeats)
            if value.repeats and (first is None or first.repeats):
                table.refuse("repeats", value.repeats, "the ITEM.KEY of a value that is judged")


def _reading(setup: Setup) -> Callable[[Table], Reading]:
    def read(table: Table) -> Reading:
        changes = table.take("setup", dict)
        if not changes:
            table.refuse("setup", changes, "a table with what it changes")
        reading = Reading(
            table.name,
            table.text("what"),
            merged(setup, changes),
            changes,
            found_by=table.one_of("found_by", ("search",), default=""),
        )
        table.end()
        return reading

    return read


def _left_out(table: Table) -> LeftOut:
    part = LeftOut(place=table.take("place", str), because=table.text("because"))
    table.end()
    return part


def _item(file: Path, paper: str, of_paper: _Readings) -> Item:
    table = load(file)
    readings = of_paper.named
    place = table.take("place", str)
    values = table.tables("values", dict)
    if not values:
        table.refuse("values", {}, "one value or more")
    names = table.names("readings", default=[])
    for name in names:
        if name not in readings:
            table.refuse("readings", name, f"of setup.toml: {', '.join(readings) or 'it has none'}")
    by_disksim = table.take("disksim", bool, default=False)
    if by_disksim and of_paper.disksim is None:
        table.refuse("disksim", by_disksim, "false: setup.toml has no table disksim")
    item = Item(
        paper=paper,
        name=file.stem,
        title=table.take("title", str),
        place=place,
        how=table.text("how"),
        values=tuple(_published(value, place) for value in values),
        setup=of_paper.setup,
        readings=tuple(readings[name] for name in names),
        disksim=of_paper.disksim if by_disksim else None,
        open=table.text("open", default=""),
        points=tuple(_point(point, place) for point in table.tables("points", list)),
        external=tuple(table.names("external", default=[])),
    )
    table.end()
    for value in item.values:
        _check_contradiction(Table(file, f"values.{value.key}.", {}), value, item.values)
    return item


def _check_contradiction(table: Table, value: Published, values: Sequence[Published]) -> None:
    """Refuse a contradiction that arithmetic on printed ranges does not show."""
    own = value.contradiction
    if (value.judged_as == "contradiction") != (own is not None):
        table.refuse("class", value.judged_as, "'contradiction', with a table of that name")
    if own is None:
        return
    if not value.numbers:
        table.refuse("class", value.judged_as, "that of a number or a range")
    numbers = {other.key: other for other in values if other.numbers and not other.words}
    for key in own.numbers.values():
        if key not in numbers:
            table.refuse("contradiction.numbers", key, f"of the numbers: {', '.join(numbers)}")
    try:
        low, high = between(
            own.arithmetic, {name: numbers[key].limits for name, key in own.numbers.items()}
        )
    except ValueError as error:
        table.refuse("contradiction.arithmetic", own.arithmetic, str(error))
    if low <= value.limits[1] and value.limits[0] <= high:
        table.refuse(
            "published",
            value.published,
            f"outside of what its arithmetic allows: {low:g} to {high:g}",
        )


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
    error_from: Literal["", "sampling", "figure", "similar"] = ""
    error_because = ""
    if error and not shape:
        error_from = table.one_of("error_from", ("sampling", "figure", "similar"))
    if error:
        error_because = table.text("tolerance_because" if shape else "error_because")
    value = Published(
        key=table.name,
        what=table.take("what", str),
        published=_value(table, kind),
        place=table.take("place", str, default=place),
        unit=table.take("unit", str, default=""),
        kind=kind,
        exact=kind in {"within", "between"} and table.take("exact", bool, default=False),
        words=kind in {"within", "between"} and table.take("words", bool, default=False),
        percent=table.one_of("percent", ("more", "less"), default=""),
        error=error,
        error_from=error_from,
        error_because=error_because,
        judged_as=judged_as,
        because=table.text("because", default=... if judged_as else ""),
        repeats=table.take("repeats", str, default=""),
        cause=table.take("cause", str, default=""),
        expected=_expected(table.table("expected")),
        contradiction=_contradiction(table.table("contradiction")),
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


def _contradiction(table: Table | None) -> Contradiction | None:
    if table is None:
        return None
    numbers = table.take("numbers", dict)
    found = Contradiction(
        table.take("arithmetic", str), {name: str(key) for name, key in numbers.items()}
    )
    table.end()
    return found


def _change(table: Table) -> Change:
    change = Change(*(table.text(key) for key in ("key", "old", "new", "why")))
    table.end()
    return change


def _check(table: Table, value: Published) -> None:
    """Refuse a rounded range of two roundings, and an erratum that arithmetic does not show."""
    rounded = value.kind == "between" and not (value.exact or value.words)
    if rounded and len({exponent_of(end) for end in value.published}) > 1:
        table.refuse("published", value.published, "two numbers with the same last digit, or exact")
    if value.percent and value.unit != "%":
        table.refuse("percent", value.percent, "of a value in %")
    if value.judged_as != "erratum":
        return
    expected = value.expected
    if value.kind != "within" or expected is None or not expected.arithmetic:
        table.refuse("class", "erratum", "of a number, with expected.arithmetic")
    if abs(expected.value - value.numbers[0]) <= value.tolerance:
        table.refuse("published", value.published, f"other than {expected.value:g}, its arithmetic")
