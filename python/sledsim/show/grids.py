"""Tables with numbers and their intervals, from which LaTeX, Markdown and CSV are written."""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sledsim._arguments import as_list, near, refuse
from sledsim._number_text import half_width, measured, plain, with_interval
from sledsim.show.words import cell as cell_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledsim.results.rows import Rows

    Digits: TypeAlias = Callable[[float], str]

_LONG_TEXT, _WRAPPED_TEXT = 24, 20
"""Characters of a text from which on a column is wrapped, and of the lines then."""
_NARROW = 9
"""Characters on a line of a head."""
_GAP, _ROOM = 1.5, 55.0
"""Between columns, and in a column of a page of two, in digits of small print."""
MOST_ROWS = 1000
"""Rows of a table on a page at the most."""
_PERCENTILE = re.compile(r"(.*\b)?p(\d\d)(?:_(\d+))?_ms", re.ASCII)
_LONG_PERCENTILE = re.compile(r"([\d.]+)th percentile of the ", re.ASCII)
_OF_INTERVALS = "Values are given with half the width of their 95 % intervals."
_SHARES = frozenset({"utilisation", "distance", "goal", "hit_ratio"})
"""Columns of shares whose names do not end in ``_share``."""
_HEADS = {
    "label": ("", ""),
    "what": ("", ""),
    "op": ("operation", ""),
    "time": ("", ""),
    "throughput_iops": ("throughput", "1/s"),
    "utilisation": ("busy", "%"),
    "energy_mj_per_request": ("energy each", "mJ"),
    "speed_up": ("speed-up", ""),
    "trace_ratio": ("ratio on this trace", ""),
    "paired_rms_ms": ("each", "ms"),
}
"""Heads that are shorter than the names, and units."""


class Number(NamedTuple):
    """A number as it is written, without commas."""

    digits: str
    half: str = ""
    """Half its interval, with as many decimals; empty without one."""

    @property
    def uncertainty(self) -> str:
        """Half the interval in units of the last digit of the number."""
        return self.half.replace(".", "").lstrip("0")


class Shape(NamedTuple):
    """The most digits that numbers have in each place."""

    sign: bool
    whole: int
    decimals: int
    uncertainty: int
    power: int

    def __len__(self) -> int:
        """Return the characters of a number with all of them."""
        extra = (2 if self.uncertainty else 0) + (2 if self.power else 0)
        return self.sign + sum(self[1:]) + bool(self.decimals) + extra


def shape_of(numbers: Sequence[Number]) -> Shape:
    """Return the digits that there is room for in a column of numbers."""
    parts = [each.digits.lstrip("-").partition("e") for each in numbers]
    points = [mantissa.partition(".") for mantissa, _, _ in parts]
    return Shape(
        any(each.digits.startswith("-") for each in numbers),
        max(len(whole) for whole, _, _ in points),
        max(len(decimals) for _, _, decimals in points),
        max(len(each.uncertainty) for each in numbers),
        max(len(power.lstrip("+-")) for _, _, power in parts),
    )


Cell: TypeAlias = "Number | str | None"


@dataclass(frozen=True)
class Column:
    """A column."""

    name: str
    """As the table of the result has it."""
    head: str
    unit: str
    cells: Sequence[Cell]

    @property
    def heads(self) -> list[str]:
        """The head with its unit, in lines for a narrow column."""
        told = f"{self.head} ({self.unit})" if self.unit else self.head
        return textwrap.wrap(told, _NARROW, break_long_words=False, break_on_hyphens=False)

    @property
    def width(self) -> float:
        """How wide it is on a page, with the gap beside it, in digits; long texts are wrapped."""
        texts = [len(cell) for cell in self.cells if isinstance(cell, str)]
        longest = max([len(shape_of(self.numbers)) if self.numbers else 0, *texts])
        return max(self.wrapped or longest, *map(len, self.heads or [""])) + _GAP

    @property
    def wrapped(self) -> int:
        """The characters on a line of a column of long texts, as many as a word has; else none."""
        texts = [] if self.numbers else [cell for cell in self.cells if isinstance(cell, str)]
        if max(map(len, texts), default=0) <= _LONG_TEXT:
            return 0
        return max(_WRAPPED_TEXT, *(len(word) for text in texts for word in text.split()))

    @property
    def numbers(self) -> list[Number]:
        """Its numbers; none for a column of texts."""
        return [cell for cell in self.cells if isinstance(cell, Number)]


@dataclass(frozen=True)
class Grid:
    """A table as it is written on a page."""

    columns: Sequence[Column]
    marks: Sequence[str]
    """What stands behind the first cell of each row: the mark of a caution, or nothing."""
    notes: Sequence[str]
    """Lines below it."""
    caption: str


@dataclass(frozen=True)
class Source:
    """A table of a result with all digits, and how it is written on a page."""

    rows: Rows
    columns: Sequence[str]
    """Columns that are written unless others are named, as many as there is room for; those without
    a value are left out."""
    keys: int = 1
    """How many of these tell the rows apart; they are written always, with the one after them."""
    digits: Digits = measured
    """Writes a number that has no interval."""
    own_digits: Mapping[str, Digits] = field(default_factory=dict)
    """The same for single columns."""
    instead: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Texts in place of values, by column and row."""
    marks: Mapping[int, str] = field(default_factory=dict)
    """Marks of rows."""
    notes: Sequence[str] = ()
    caption: str = ""


def grid(source: Source, columns: Sequence[str] | None, caption: str | None) -> Grid:
    """Return a table with the columns that are named, or those of the source."""
    rows = source.rows
    if len(rows) > MOST_ROWS:
        refuse("rows", len(rows), f"at most {MOST_ROWS:,} on a page: rows[:{MOST_ROWS}], or to_csv")
    chosen = source.columns if columns is None else named(rows, columns)
    made = [_column(source, name) for name in chosen]
    if columns is None:
        made = _fitting(made, source.keys)
    notes = list(source.notes)
    told = source.caption if caption is None else caption
    if caption is None and any(cell.half for column in made for cell in column.numbers):
        told = f"{told} {_OF_INTERVALS}".lstrip()
    marks = [source.marks.get(at, "") for at in range(len(rows))]
    return Grid(made, marks, notes, told)


def _fitting(columns: Sequence[Column], keys: int) -> list[Column]:
    """Return the columns that have a value and fit a column of text; keys and one more always."""
    known = [column for column in columns if any(cell is not None for cell in column.cells)]
    widths = itertools.accumulate(column.width for column in known)
    return [
        column
        for at, (column, width) in enumerate(zip(known, widths, strict=True))
        if at <= keys or width <= _ROOM
    ]


def named(rows: Rows, columns: Sequence[str]) -> list[str]:
    """Return the names of columns; unknown ones are refused, with those that are like them."""
    names = [str(name) for name in as_list("columns", columns)]
    for name in names:
        if name not in rows.column_names:
            refuse("columns", name, f"of {near(name, rows.column_names)}")
    if not names:
        refuse("columns", names, "one name at least")
    return names


def ends_of(rows: Rows, name: str) -> tuple[str, str] | None:
    """Return the names of the columns with the ends of the interval of a column, if it has one."""
    known = rows.column_names
    stem, unit = (name.removesuffix("_ms"), "_ms") if name.endswith("_ms") else (name, "")
    group, _, last = name.rpartition(".")
    ways = [f"{name}.{{}}", f"{stem}_{{}}{unit}"]
    if last == "mean":  # a single run tells the interval of its mean
        ways.append(f"confidence.{group}.{{}}")
    for way in ways:
        low, high = way.format("low"), way.format("high")
        if low in known and high in known and any(v is not None for v in rows[low]):
            return low, high
    return None


def head(name: str) -> tuple[str, str]:
    """Return the head of a column in few words, and its unit; ``""`` for none."""
    if name in _HEADS:
        return _HEADS[name]
    found = _PERCENTILE.fullmatch(name)
    if found:
        before = (found[1] or "").replace("_", " ")
        return f"{before}p{found[2]}{'.' if found[3] else ''}{found[3] or ''}", "ms"
    from sledsim.plots import names  # most tables do without

    words, unit = names.described(name)
    words = _LONG_PERCENTILE.sub(r"p\1 ", words)
    if name.endswith("_ns"):  # as in rows of requests
        return words.removesuffix(" ns"), "ns"
    if name.endswith("_share"):
        words = words.removesuffix(" share")
    return words, "%" if _is_share(name) else unit


def _is_share(name: str) -> bool:
    return name.endswith("_share") or name in _SHARES


def _column(source: Source, name: str) -> Column:
    rows, ends = source.rows, ends_of(source.rows, name)
    lows, highs = (rows[end] if ends else [None] * len(rows) for end in ends or ("", ""))
    digits = source.own_digits.get(name) or (percent if _is_share(name) else source.digits)
    scale = 100.0 if _is_share(name) else 1.0
    cells: list[Cell] = []
    for at, (value, low, high) in enumerate(zip(rows[name], lows, highs, strict=True)):
        if (name, at) in source.instead:
            cells.append(source.instead[name, at])
        else:
            cells.append(_cell(value, low, high, digits, scale))
    return Column(name, *head(name), cells)


def _cell(value: Any, low: float | None, high: float | None, digits: Digits, scale: float) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return Number(str(value))
    if not isinstance(value, float):
        return None if value is None else str(value)
    if not math.isfinite(value):
        return cell_text(value)
    half = half_width(low, high)
    if half is not None and 0 < half < math.inf:
        return Number(*with_interval(scale * value, scale * half))
    return Number(digits(scale * value).replace(",", ""))


def percent(value: float) -> str:
    """Write a number of percent with two digits, as the text tables do."""
    return plain(float(f"{value:.2g}"))
