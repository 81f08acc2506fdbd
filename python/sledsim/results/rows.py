"""Tables that data-frame libraries read: rows of requests, series, rows and means of studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, overload

from sledsim import _core
from sledsim._above import Shown, Tabled, shown
from sledsim._arguments import near, refuse
from sledsim._core import SledsimError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, TypeAlias

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    Kind: TypeAlias = Literal["text", "truth", "whole", "number"]


class Rows(Tabled, Shown):
    """A table: :attr:`Run.rows`, :attr:`Run.series`, :attr:`Study.means` and others.

    It has the Arrow PyCapsule interface: ``polars.DataFrame(rows)``, ``pyarrow.table(rows)``,
    ``pandas.DataFrame.from_arrow(rows)`` and DuckDB read it as it is. ``pandas.DataFrame(rows)``
    cannot: pandas takes Arrow tables by name only.

    ``rows["seek_ns"]`` is a column, ``rows[7]`` a row by its columns, ``rows[:10]`` a table of the
    first ten. ``print(rows)`` shows the first rows. Two are equal if their columns and rows are.
    They can be pickled.
    """

    _kind = "rows"

    def __init__(self, core: _core.Rows) -> None:
        self._core = core

    def __repr__(self) -> str:
        return repr(self._core)

    def __str__(self) -> str:
        return str(shown().as_text(self))

    def __eq__(self, other: object) -> bool:
        return self._core.equals(other._core) if isinstance(other, Rows) else NotImplemented

    def __hash__(self) -> int:
        return hash((len(self), *self.column_names))

    @overload
    def __getitem__(self, which: str) -> list[Any]: ...
    @overload
    def __getitem__(self, which: slice) -> Rows: ...
    @overload
    def __getitem__(self, which: int) -> dict[str, Any]: ...
    def __getitem__(self, which: str | slice | int) -> list[Any] | Rows | dict[str, Any]:
        """Return a column by its name, a row by its number, or consecutive rows."""
        if isinstance(which, str):
            return self.column(which)
        if isinstance(which, slice):
            start, stop, step = which.indices(len(self))
            if step != 1:
                refuse("step", step, "1: consecutive rows")
            return Rows(self._core.slice(start, max(stop - start, 0)))
        if not -len(self) <= which < len(self):
            raise IndexError(f"row {which} of {len(self)}")
        one = self._core.slice(which % len(self), 1)
        return {name: (one.column(name) or [None])[0] for name in one.column_names}

    def column(self, name: str) -> list[Any]:
        """Return a column as a list.

        Raises
        ------
        SledsimError
            For an unknown name.
        """
        found = self._core.column(name)
        if found is None:
            refuse("column", name, f"one of {near(name, self.column_names)}")
        return found

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in their order."""
        return self._core.column_names

    def __len__(self) -> int:
        return len(self._core)

    def __arrow_c_schema__(self) -> Any:
        return self._core.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self._core.__arrow_c_stream__(requested_schema)

    def __iter__(self) -> NoReturn:
        """Refuse to go through the rows one by one, as ``pandas.DataFrame(rows)`` tries to.

        Raises
        ------
        TypeError
            Always; it says what to call instead.
        """
        raise TypeError(
            f"a table by columns ({type(self).__name__}) has no rows to go through: call "
            ".to_dicts(), .to_pandas(), .to_polars() or .to_arrow() of it"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a data frame of pandas.

        Names (``op``, ``device``) are categories, times stay whole nanoseconds. Columns that may
        have gaps, such as ``parent``, are of the types of pandas that do, as ``UInt64``.

        Raises
        ------
        SledsimError
            If pandas is missing. Without pyarrow it is slower.
        """
        pandas = _need("to_pandas", "pandas")
        types = zip(self.column_names, self._core.types(), strict=True)
        own = {name: _with_gaps(type_) for name, (type_, nullable) in types if nullable}
        try:
            table = self.to_arrow()
        except SledsimError:  # slower without pyarrow
            made: pd.DataFrame = pandas.DataFrame(self._series(pandas, own))
            return made
        frame: pd.DataFrame = table.to_pandas()
        for name, dtype in own.items():
            if dtype is not None:
                frame[name] = pandas.api.types.pandas_dtype(dtype).__from_arrow__(table[name])
        return frame

    def _series(self, pandas: Any, own: Mapping[str, str | None]) -> dict[str, pd.Series]:
        """Return the columns as pandas has them, made without pyarrow."""
        found = {}
        for name, (type_, _) in zip(self.column_names, self._core.types(), strict=True):
            dtype = "category" if type_.startswith("Dictionary") else _PANDAS.get(type_)
            cells = self.column(name)
            found[name] = pandas.Series(cells, dtype=own.get(name) or dtype or type_.lower())
        return found

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dicts, each of a cell for each column."""
        columns = [self.column(name) for name in self.column_names]
        return [
            dict(zip(self.column_names, row, strict=True)) for row in zip(*columns, strict=True)
        ]

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a data frame of Polars.

        Raises
        ------
        SledsimError
            If Polars is missing.
        """
        frame: pl.DataFrame = _need("to_polars", "polars").DataFrame(self)
        return frame

    def to_arrow(self) -> pa.Table:
        """Return the table as one of pyarrow.

        Raises
        ------
        SledsimError
            If pyarrow is missing.
        """
        return _need("to_arrow", "pyarrow").table(self)


def csv_of(rows: Rows, names: Sequence[str]) -> str:
    """Return columns of a table as CSV: a line of names, then a line for each row."""
    import csv  # few programs need it
    import io

    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(names)
    lines.writerows(zip(*(rows.column(name) for name in names), strict=True))
    return text.getvalue()


def rows_of(records: Sequence[Mapping[str, Any]], kinds: Mapping[str, Kind]) -> Rows:
    """Return flat records as rows.

    Parameters
    ----------
    records
        One or more, with the same columns. A text and a number may be ``None``.
    kinds
        What is in the columns that are not of numbers.
    """
    columns: list[tuple[str, str, list[Any]]] = [
        (name, kinds.get(name, "number"), [record[name] for record in records])
        for name in records[0]
    ]
    return Rows(_core.Rows.of_columns(columns))


_PANDAS = {"Utf8": "str", "LargeUtf8": "str", "Boolean": "bool"}
"""The types of pandas for types of Arrow, where the name is another."""


def _with_gaps(arrow_type: str) -> str | None:
    """Return the type of pandas for a column of Arrow that may have gaps, if it has its own."""
    if arrow_type == "Boolean":
        return "boolean"
    return arrow_type if arrow_type.startswith(("Int", "UInt")) else None


def _need(method: str, *libraries: str) -> Any:
    """Import libraries, and return the first."""
    from importlib import import_module  # few programs need it

    found = []
    for name in libraries:
        try:
            found.append(import_module(name))
        except ImportError:
            both = " and ".join(libraries)
            raise SledsimError(
                f"{method}() needs {both}: pip install {' '.join(libraries)}"
            ) from None
    return found[0]
