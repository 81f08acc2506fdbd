"""Tables of results as files, and as texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import path_text
from sledsim._input_files import check_output
from sledsim.results.rows import csv_of
from sledsim.show import grids, sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.results.rows import Rows

ENDINGS = (".tex", ".csv", ".md")
"""Endings of files."""


def write(
    result: Any,
    ending: str,
    path: Any,
    *,
    columns: Sequence[str] | None = None,
    caption: str | None = None,
    label: str | None = None,
) -> str | None:
    """Return a result as a table, or write it to a file, which appears when it is complete.

    Parameters
    ----------
    result
        A run, a comparison, a study, a validation, published numbers or rows.
    ending
        One of :data:`ENDINGS`, which is that of the file, too.
    path
        The file, or ``None``.
    columns, caption, label
        As :class:`sledsim._above.Tabled` has them.
    """
    file = None if path is None else path_text("path", path)
    if file is not None:
        check_output(file, (ending,), (), f"path {file}")
    text = _text(result, ending, columns, caption, label)
    if file is None:
        return text
    _core.write_atomically(file, text.encode())
    return None


def _text(
    result: Any,
    ending: str,
    columns: Sequence[str] | None,
    caption: str | None,
    label: str | None,
) -> str:
    if ending == ".csv":
        rows = sources.rows_with_all_digits(result)
        return csv_of(rows, _with_ends(rows, columns))
    of = grids.grid(sources.source_of(result), columns, caption)
    if ending == ".md":
        from sledsim.show import markdown

        return markdown.text(of)
    from sledsim.show import latex

    return latex.text(of, label)


def _with_ends(rows: Rows, columns: Sequence[str] | None) -> list[str]:
    """Return the names of columns, each with those of its interval."""
    if columns is None:
        return rows.column_names
    names = ((name, *(grids.ends_of(rows, name) or ())) for name in grids.named(rows, columns))
    return list(dict.fromkeys(each for group in names for each in group))
