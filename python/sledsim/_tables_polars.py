"""Tables as lazy frames: only the columns and records that a query needs are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._core import SledsimError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from sledsim.tables import Table

NEAR_BYTES = 32 * 1024
"""Records with fewer bytes of pages between them are read in one go: these pass in about the
millisecond that an access of its own takes."""


def lazy(table: Table, row: str | None = "row") -> pl.LazyFrame:
    """Return the table as a lazy frame; see :meth:`sledsim.Table.lazy`."""
    try:
        import polars as pl  # optional
        from polars.io.plugins import register_io_source
    except ImportError as error:
        raise SledsimError("table.lazy() needs polars: pip install polars") from error
    if row in table.schema_names:
        raise SledsimError(
            f"row = {row!r}: the table has a column of that name; choose another, or None"
        )
    schema = dict(pl.DataFrame(table.scan(count=0).data).schema)
    if row is not None:
        schema = {row: pl.UInt64(), **schema}

    def source(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        names = list(schema) if columns is None else columns
        wanted = set(names)
        if predicate is not None:
            wanted |= set(predicate.meta.root_names())
        stored = [name for name in table.schema_names if name in wanted]
        end = table.records if rows is None else min(rows, table.records)
        for first, count in runs(table, stored, record_numbers(end, row, predicate)):
            frame = read(table, stored, first, count, row if row in wanted else None)
            if predicate is not None:  # `rows` counts those before it
                frame = frame.filter(predicate)
            yield frame.select(names)
        yield pl.DataFrame(schema=schema).select(names)

    return register_io_source(source, schema=schema, validate_schema=True, is_pure=True)


def conjuncts(predicate: pl.Expr) -> list[pl.Expr]:
    """Return the expressions that a predicate joins with ``&``."""
    parts = predicate.meta.pop()
    if len(parts) == 2:
        right, left = parts
        if (left & right).meta.eq(predicate):
            return [*conjuncts(left), *conjuncts(right)]
    return [predicate]


def record_numbers(end: int, row: str | None, predicate: pl.Expr | None) -> pl.Series:
    """Return the numbers of the records below ``end`` that a predicate may let through.

    Only its conditions on record numbers count, in any form: ranges, sets, remainders.
    """
    import polars as pl

    numbers = pl.select(pl.int_range(end, dtype=pl.UInt64).alias(row or "row"))
    if predicate is not None and row is not None:
        for part in conjuncts(predicate):
            if set(part.meta.root_names()) == {row}:
                numbers = numbers.filter(part)
    return numbers.to_series()


def runs(table: Table, columns: list[str], numbers: pl.Series) -> list[tuple[int, int]]:
    """Return the records to read as (first, count) of runs of near ones."""
    if numbers.is_empty():
        return []
    extents = {extent for name in columns for extent in table.lbns(name)}
    blocks = sum(last - first + 1 for first, last in extents)
    near = NEAR_BYTES * table.records / (512 * blocks) if blocks else float("inf")
    breaks = numbers.diff() > max(near, 1)
    firsts = numbers.filter(breaks.fill_null(value=True)).to_list()
    lasts = numbers.filter(breaks.shift(-1).fill_null(value=True)).to_list()
    return [(first, last - first + 1) for first, last in zip(firsts, lasts, strict=True)]


def read(table: Table, columns: list[str], first: int, count: int, row: str | None) -> pl.DataFrame:
    """Read a run of records, and number them if there is a column for that."""
    import polars as pl

    frames = []
    if row is not None:
        frames.append(pl.select(pl.int_range(first, first + count, dtype=pl.UInt64).alias(row)))
    if columns:
        frames.append(pl.DataFrame(table.scan(columns, first, count).data))
    return pl.concat(frames, how="horizontal")
