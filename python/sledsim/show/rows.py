"""What is shown of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.show.sheet import Sheet, Table
from sledsim.show.studies import RESULTS
from sledsim.show.text import WIDTH
from sledsim.show.words import cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.results.rows import Rows

_MOST_ROWS = 20
"""Rows that are shown."""


def sheet(rows: Rows) -> Sheet:
    """Describe a table: the first rows, and as many columns as a terminal has room for."""
    first = rows[:_MOST_ROWS]
    names: list[str] = []
    columns: list[list[str]] = []
    used = 0
    for name in _in_order(rows.column_names):
        cells = [cell(value) for value in first[name]]
        if set(cells) == {"-"}:
            continue
        used += 2 + max(map(len, [name, *cells]))
        if names and used > WIDTH:
            break
        names.append(name)
        columns.append(cells)
    more_rows, more_columns = len(rows) - len(first), len(rows.column_names) - len(names)
    after = [f"and {number(more_rows)} more rows"] * bool(more_rows)
    after += [f"and {number(more_columns)} more columns: column_names lists all"] * bool(
        more_columns
    )
    texts = (at for at, name in enumerate(names) if any(isinstance(v, str) for v in first[name]))
    title = f"{number(len(rows))} rows of {number(len(rows.column_names))} columns"
    body = list(zip(*columns, strict=True))
    return Sheet(title, tables=[Table(names, body, title, frozenset(texts), after=after)])


def _in_order(names: Sequence[str]) -> list[str]:
    """Return the columns, of means of a study the results that matter most behind its keys."""
    results = [name for name in RESULTS if f"{name}.low" in names]
    if not results:
        return [*names]
    keys = names[: names.index("rows")]
    ends = [f"{name}.{end}" for name in results for end in ("low", "high")]
    return [*dict.fromkeys([*keys, *results, *ends, *names])]
