"""Tables for Markdown, as GitHub and others read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sledsim.show.grids import Number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledsim.show.grids import Cell, Grid

_ESCAPED = re.compile(r"[\\|*`<\[\]~&]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that mark something up; an underscore within a word does not."""
_WIDE = "&emsp;"


def text(of: Grid) -> str:
    """Return a table, with its caption before and its notes after it."""
    parts = [escaped(of.caption)] if of.caption else []
    parts.append("\n".join(_lines(of)))
    parts += map(escaped, of.notes)
    return "\n\n".join(parts) + "\n"


def escaped(words: str) -> str:
    """Return a text as Markdown prints it; spaces and ends of lines are one space."""
    return _ESCAPED.sub(r"\\\g<0>", " ".join(words.split()))


def _lines(of: Grid) -> Iterator[str]:
    heads = (escaped(f"{c.head} ({c.unit})" if c.unit else c.head) for c in of.columns)
    yield _line([*heads])
    yield _line(["---:" if column.numbers else ":---" for column in of.columns])
    columns = [[_cell(cell) for cell in column.cells] for column in of.columns]
    for mark, row in zip(of.marks, zip(*columns, strict=True), strict=True):
        first, *others = row
        yield _line([f"{first} {escaped(mark)}".rstrip(), *others])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Number):
        return f"{cell.digits} ± {cell.half}" if cell.half else cell.digits
    if cell is None:
        return "-"
    return _WIDE * ((len(cell) - len(cell.lstrip())) // 2) + escaped(cell)
