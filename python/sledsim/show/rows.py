"""What is shown of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import half_text, half_width, mean, number
from sledsim.results import cautions
from sledsim.show.grids import ends_of
from sledsim.show.sheet import Sheet, Table
from sledsim.show.studies import HALF, RESULTS, is_over
from sledsim.show.text import WIDTH
from sledsim.show.words import cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.results.rows import Rows

_MOST_ROWS = 20
"""Rows that are shown."""
_FURTHER = ("response_time_ms.p99", "throughput_iops", "utilisation", "energy_j.total")
"""Results of means that are shown behind those of :data:`RESULTS`."""

_DOUBTS = cautions.OF_INTERVALS - {"precision"}
"""Codes of cautions for which the interval of a run is not to be relied on."""


def sheet(rows: Rows) -> Sheet:
    """Describe a table: the first rows, and as many columns as a terminal has room for.

    Of means of a study these are the keys that vary and the main results with their intervals.
    """
    first = rows[:_MOST_ROWS]
    names = first_columns(rows)
    heads: list[str] = []
    columns: list[Sequence[str]] = []
    left = set()
    for name in names:
        if any(isinstance(value, str) for value in first[name]):
            left.add(len(heads))
        found = _cells(first, name)
        if len(found) > 1:
            left.add(len(heads) + 1)
        heads += [name, *[HALF] * (len(found) - 1)]
        columns += found
    more_rows, more_columns = len(rows) - len(first), len(rows.column_names) - len(names)
    after = [f"and {number(more_rows)} more rows"] * bool(more_rows)
    after += [f"and {number(more_columns)} more columns: column_names lists all"] * bool(
        more_columns
    )
    title = f"{number(len(rows))} rows of {number(len(rows.column_names))} columns"
    body = list(zip(*columns, strict=True))
    return Sheet(title, tables=[Table(heads, body, title, frozenset(left), after=after)])


def first_columns(rows: Rows) -> list[str]:
    """Return the names of the columns that a terminal has room for; those without a value miss."""
    first = rows[:_MOST_ROWS]
    names: list[str] = []
    used = 0
    for name in _in_order(rows):
        found = _cells(first, name)
        if set(found[0]) <= {"-"}:
            continue
        heads = [name, HALF][: len(found)]
        columns = zip(heads, found, strict=True)
        used += sum(2 + max(map(len, [head, *cells])) for head, cells in columns)
        if names and used > WIDTH:
            break
        names.append(name)
    return names


def are_means(rows: Rows) -> bool:
    """Tell whether a table is of the means of a study."""
    return any(f"{name}.low" in rows.column_names for name in RESULTS)


def main_results(means: Rows) -> list[str]:
    """Return the names of the results of a study that are written unless others are named."""
    return [name for name in (*RESULTS, *_FURTHER) if name in means.column_names]


def keys_of(means: Rows) -> list[str]:
    """Return the keys of the points of a study."""
    names = means.column_names
    return names[: names.index("rows")]


def unreliable(means: Rows) -> list[int]:
    """Return the numbers of the rows whose runs failed, or whose device could not keep up."""
    told = zip(means["caution"], means["error"], strict=True)
    return [at for at, (caution, error) in enumerate(told) if error or is_over(caution)]


def doubtful_intervals(means: Rows) -> dict[int, str]:
    """Return why the interval of a single run is not to be relied on, by the number of its row."""
    found = {}
    for at, (runs, caution) in enumerate(zip(means["rows"], means["caution"], strict=True)):
        codes = _DOUBTS.intersection((caution or "").split(", "))
        if runs == 1 and codes:
            found[at] = ", ".join(sorted(codes)).replace("_", " ")
    return found


def _cells(rows: Rows, name: str) -> list[list[str]]:
    """Return a column as text, and one of half its intervals if it is a mean that has them."""
    ends = ends_of(rows, name) if are_means(rows) else None
    if ends is None:
        return [[cell(value) for value in rows[name]]]
    halves = list(map(half_width, *(rows[end] for end in ends)))
    return [[*map(mean, rows[name], halves)], [*map(half_text, halves)]]


def _in_order(rows: Rows) -> list[str]:
    """Return the columns, of means of a study the keys that vary and the main results."""
    names = rows.column_names
    if not are_means(rows):
        return names
    keys = keys_of(rows)
    varied = [key for key in keys if len(set(map(cell, rows[key]))) > 1]
    results = main_results(rows)
    main = [name for name in results if name in RESULTS]
    return list(dict.fromkeys([*(varied or keys), *main, "caution", "error", *results]))
