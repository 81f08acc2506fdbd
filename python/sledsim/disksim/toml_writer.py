"""The device file being written: its keys, where each came from, and its text.

A sheet knows the place of every value in the parameter files. So, when the core refuses a key, the
error can name the line that the user wrote, not the one that was made of it.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sledsim import _core
from sledsim._core import SpecError
from sledsim.disksim.tree import error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sledsim.disksim.tree import Place

Plain: TypeAlias = bool | int | float | str
Item: TypeAlias = int | float | tuple[int | float, ...]

_WIDTH = 100
_GROUPED_FROM = 10_000


@dataclass(frozen=True, slots=True)
class Line:
    """A key with a plain value, or with the items of a list."""

    key: str
    value: Plain | tuple[Item, ...]
    source: str
    places: tuple[Place, ...]
    """Of the value, or of every item of the list and at last of the list."""


@dataclass(slots=True)
class Table:
    """Keys under one heading; the first table of a sheet has none."""

    heading: str | None
    about: str = ""
    lines: list[Line] = field(default_factory=list)

    def add(self, key: str, value: Plain, source: str, place: Place) -> None:
        """Add a key.

        Parameters
        ----------
        key, value
            As they stand in the file.
        source
            What the value was made of, for the comment behind it.
        place
            Where that stands.
        """
        self.lines.append(Line(key, _whole(value), source, (place,)))

    def add_list(
        self, key: str, items: Sequence[tuple[Item, Place]], source: str, place: Place
    ) -> None:
        """Add a list, of whose items each has its own place; an empty one is left out."""
        if items:
            values = tuple(_whole_item(item) for item, _ in items)
            self.lines.append(Line(key, values, source, (*(at for _, at in items), place)))


@dataclass(slots=True)
class Sheet:
    """A device file."""

    head: list[str] = field(default_factory=list)
    """Lines of the comment at its head."""
    tables: list[Table] = field(default_factory=lambda: [Table(None)])
    tail: list[str] = field(default_factory=list)
    """Lines of the comment at its end."""

    @property
    def top(self) -> Table:
        """The keys without a heading."""
        return self.tables[0]

    def table(self, heading: str, about: str = "") -> Table:
        """Add a table, with a comment above it."""
        table = Table(heading, about)
        self.tables.append(table)
        return table

    def text(self) -> str:
        """Return the file."""
        parts = ["\n".join(map(comment, self.head))]
        for table in self.tables:
            if table.lines:
                about = [comment(table.about)] if table.about else []
                heading = [table.heading] if table.heading else []
                parts.append("\n".join([*about, *heading, *_set(table.lines)]))
        if self.tail:
            parts.append("\n".join(map(comment, self.tail)))
        return "\n\n".join(part for part in parts if part) + "\n"

    def resolved(self) -> _core.Device:
        """Return the device that the core makes of the file so far."""
        texts: list[str] = []
        places: list[Place] = []
        for table in self.tables:
            if table.lines and table.heading:
                texts.append(table.heading)
                places.append(table.lines[0].places[0])
            for line in table.lines:
                spread = _spread(line)
                texts += spread
                # A list spans a line for its key, one for each item and one for its end.
                ends = (line.places[-1],) if len(spread) > 1 else ()
                places += (*ends, *line.places)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "device.toml"
            path.write_text("\n".join(texts) + "\n", encoding="utf-8")
            try:
                return _core.Device(str(path), [])
            except SpecError as refused:
                raise _placed(str(refused), path, places) from None


def _placed(message: str, path: Path, places: Sequence[Place]) -> SpecError:
    """Map an error of the core to the place in the parameter file."""
    found = re.match(re.escape(str(path)) + r"(?::(\d+))?: ", message)
    if found is None:  # about the device as a whole
        return error(places[0], message)
    number = int(found[1] or 1)
    return error(places[min(number, len(places)) - 1], message[found.end() :])


def comment(text: str) -> str:
    """Write a line of a comment; what no TOML comment can hold is written as '?'."""
    clean = "".join(sign if sign.isprintable() else "?" for sign in text)
    return f"# {clean}".rstrip()


def _set(lines: Iterable[Line]) -> Iterator[str]:
    """Set the lines of a table, the comments behind plain values aligned."""
    written = [(line, f"{line.key} = {_value(line.value)}") for line in lines]
    plain = [len(text) for line, text in written if not isinstance(line.value, tuple)]
    column = max(plain, default=0)
    for line, text in written:
        whole = f"{text.ljust(column)} {comment(line.source)}"
        if isinstance(line.value, tuple) and len(whole) > _WIDTH:
            yield f"{line.key} = ["
            yield from _wrapped(line.value)
            yield f"] {comment(line.source)}"
        else:
            yield whole


def _wrapped(items: Iterable[Item]) -> Iterator[str]:
    row = " "
    for item in items:
        text = f" {_value(item)},"
        if len(row) + len(text) > _WIDTH:
            yield row
            row = " "
        row += text
    yield row


def _spread(line: Line) -> list[str]:
    if not isinstance(line.value, tuple):
        return [f"{line.key} = {_value(line.value)}"]
    return [f"{line.key} = [", *(f"{_value(item)}," for item in line.value), "]"]


def _value(value: Plain | tuple[Item, ...]) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            # JSON leaves DEL as it is; TOML does not allow that.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case tuple():
            return f"[{', '.join(map(_value, value))}]"
        case int() if abs(value) >= _GROUPED_FROM:
            return f"{value:_}"
        case _:
            return repr(value)


def _whole(value: Plain) -> Plain:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _whole_item(item: Item) -> Item:
    if isinstance(item, tuple):
        return tuple(int(part) if float(part).is_integer() else part for part in item)
    return int(item) if float(item).is_integer() else item
