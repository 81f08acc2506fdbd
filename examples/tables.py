"""The cost of queries of a table on a MEMStore, in rows, columns and capsules.

Run it as ``python examples/tables.py [--records N] [--output FILE]``. A Parquet file of records of
8, 32, 15 and 16 bytes, as in CMU-CS-03-125, section 5.2.5, is loaded into the three layouts. Polars
and DuckDB run the same queries on each; their answers are compared with those from the file. The
table and the picture show how many rows came back, how many simulated seconds that took, and how
many bytes crossed the interface of the device. Ten million records need some GB of memory and 600
MB of disk.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import sledsim as ss
from matplotlib.figure import Figure
from shared import picture_path, write_picture
from sledsim.plots import bars, scales

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LAYOUTS = ("normal", "vertical", "capsule")
SCHEMA = pa.schema(
    {
        "key": pa.int64(),  # 8 bytes, in order
        "digest": pa.binary(32),
        "phone": pa.binary(15),
        "price": pa.decimal128(15, 2),  # 16 bytes
    }
)
SEED = 1
AT_ONCE = 1_000_000  # records made at a time


@dataclass(frozen=True)
class Query:
    """A query in the words of both engines; ``{row}`` is that of a record in the middle."""

    about: str
    sql: str
    polars: Callable[[pl.LazyFrame, int], pl.LazyFrame]


QUERIES = (
    Query("count", "select count(*) from t", lambda t, _: t.select(pl.len())),
    Query("8 bytes", "select sum(key) from t", lambda t, _: t.select(pl.sum("key"))),
    Query(
        "8 + 32 bytes",
        "select key from t where digest < '\\x01'::blob",
        lambda t, _: t.filter(pl.col("digest") < b"\x01").select("key"),
    ),
    Query(
        "all columns",
        "select sum(key), min(digest), max(phone), sum(price) from t",
        lambda t, _: t.select(pl.sum("key"), pl.min("digest"), pl.max("phone"), pl.sum("price")),
    ),
    Query(
        "100 records",
        "select key, price from t where row >= {row} and row < {row} + 100",
        lambda t, row: t.filter(pl.col("row").is_between(row, row + 99)).select("key", "price"),
    ),
    Query(
        "one record",
        "select * exclude (row) from t where row = {row} // 2",
        lambda t, row: t.filter(pl.col("row") == row // 2).drop("row"),
    ),
)


def records(count: int) -> Iterator[pa.Table]:
    """Make records, some at a time."""
    random = np.random.Generator(np.random.PCG64(SEED))
    for first in range(0, count, AT_ONCE):
        size = min(AT_ONCE, count - first)

        def fixed(kind: pa.DataType, words: np.ndarray[Any, Any], size: int = size) -> pa.Array:
            return pa.Array.from_buffers(kind, size, [None, pa.py_buffer(words.tobytes())])

        cents = np.zeros((size, 2), dtype="<i8")  # the low and the high word of each
        cents[:, 0] = random.integers(0, 10_000_00, size)
        digits = random.integers(ord("0"), ord("9") + 1, (size, 15), dtype=np.uint8)
        yield pa.table(
            {
                "key": pa.array(np.arange(first, first + size)),
                "digest": fixed(pa.binary(32), random.integers(0, 2**63, (size, 4), dtype="<i8")),
                "phone": fixed(pa.binary(15), digits),
                "price": fixed(pa.decimal128(15, 2), cents),
            },
            schema=SCHEMA,
        )


def write_parquet(path: Path, count: int) -> None:
    """Write so many records to a file."""
    with pq.ParquetWriter(path, SCHEMA, compression="none", use_dictionary=False) as writer:
        for part in records(count):
            writer.write_table(part)


@dataclass(frozen=True)
class Cost:
    """The result and the cost of a query."""

    layout: str
    query: str
    engine: str
    rows: int
    simulated_s: float
    bytes_moved: int


def costs(path: Path, layout: str) -> list[Cost]:
    """Load the file into a layout and run all queries with both engines."""
    table = ss.tables.table(path, ss.device("cmu2003", idle="coast"), layout)
    t, file = table.lazy(), pl.scan_parquet(path).with_row_index("row")
    row, found = table.records // 2, []
    for query in QUERIES:
        expected = query.polars(file, row).collect().rows()
        for engine in ("polars", "duckdb"):
            table.spent()
            if engine == "polars":
                answer = query.polars(t, row).collect().rows()
            else:
                answer = duckdb.execute(
                    query.sql.format(row=row)
                ).fetchall()  # it finds t by its name
            spent = table.spent()
            if sorted(answer) != sorted(expected):
                raise RuntimeError(f"{layout}, {query.about}, {engine}: not what the file says")
            found.append(
                Cost(layout, query.about, engine, len(answer), spent.simulated_s, spent.bytes_moved)
            )
    return found


def text(found: list[Cost]) -> str:
    """Return the costs as text."""
    lines = ["layout    query         engine        rows   simulated s     bytes moved"]
    lines += [
        f"{one.layout:<9} {one.query:<13} {one.engine:<7} {one.rows:10,}"
        f"  {one.simulated_s:12.6f}  {one.bytes_moved:14,}"
        for one in found
    ]
    return "\n".join(lines)


def draw(found: list[Cost]) -> Figure:
    """Draw the time of each query in each layout."""
    figure = Figure(figsize=(9, 4.2))
    names = [query.about for query in QUERIES[1:]]  # the first one takes no time
    own = [one for one in found if one.engine == "polars" and one.query in names]
    for axes, key, label in zip(
        figure.subplots(1, 2),
        ("simulated_s", "bytes_moved"),
        ("simulated time, s", "moved, bytes"),
        strict=True,
    ):
        series = {
            layout: [getattr(one, key) for one in own if one.layout == layout] for layout in LAYOUTS
        }
        every = scales.ends(value for values in series.values() for value in values)
        scales.logarithmic(axes, "y", every[0] / 2, every[1])
        bars.grouped(axes, [name.replace(" ", "\n", 1) for name in names], series)
        axes.set_ylabel(label)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the file, run everything, print a table and draw a picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000, help="how many (10 million)")
    parser.add_argument("--output", type=picture_path, default=Path("out/tables.png"))
    options = parser.parse_args(arguments)
    if options.records < 100:
        parser.error(f"--records {options.records}: must be at least 100")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        write_parquet(path, options.records)
        found = [cost for layout in LAYOUTS for cost in costs(path, layout)]
    print(text(found))
    write_picture(options.output, lambda: draw(found))


if __name__ == "__main__":
    main()
