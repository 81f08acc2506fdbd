"""Rows are read by pandas, polars, duckdb and pyarrow, from memory and from Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Columns = dict[str, list[Any]]

COUNT = 70_000  # more than a batch
LOAD: dict[str, Any] = {"rate": 700, "requests": COUNT, "seed": 11}


@pytest.fixture(scope="module")
def run() -> ss.Run:
    return ss.simulate(ss.workload("random", **LOAD), ss.device("g2"))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    ss.simulate(ss.workload("random", **LOAD), ss.device("g2"), rows=path)
    return path


def from_pandas(frame: pd.DataFrame) -> Columns:
    return {
        str(name): [None if value is None or value != value else value for value in frame[name]]  # noqa: PLR0124 (nan)
        for name in frame
    }


def to_pandas(rows: object) -> pd.DataFrame:
    frame: pd.DataFrame = pd.DataFrame.from_arrow(rows)  # type: ignore[attr-defined]  # (the stubs are behind)
    return frame


def columns_of(query: str) -> Columns:
    columns = duckdb.execute(query).fetchnumpy()
    return {name: column.tolist() for name, column in columns.items()}


def from_duckdb(rows: object) -> Columns:
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        columns = connection.execute("from rows").fetchnumpy()
    return {name: column.tolist() for name, column in columns.items()}


MEMORY: dict[str, Callable[[Any], Columns]] = {
    "pandas": lambda rows: from_pandas(to_pandas(rows)),
    "polars": lambda rows: pl.DataFrame(rows).to_dict(as_series=False),
    "duckdb": from_duckdb,
    "pyarrow": lambda rows: pa.table(rows).to_pydict(),
}
PARQUET: dict[str, Callable[[Path], Columns]] = {
    "pandas": lambda path: from_pandas(pd.read_parquet(path)),
    "polars": lambda path: pl.read_parquet(path).to_dict(as_series=False),
    "duckdb": lambda path: columns_of(f"from read_parquet('{path}')"),
    "pyarrow": lambda path: pq.read_table(path).to_pydict(),
}


@pytest.fixture(scope="module")
def expected(run: ss.Run) -> Columns:
    columns: Columns = pa.table(run.rows).to_pydict()
    assert len(columns["id"]) == COUNT
    assert set(columns["op"]) == {"read", "write"}
    return columns


@pytest.mark.parametrize("library", MEMORY)
def test_rows_in_memory(library: str, run: ss.Run, expected: Columns) -> None:
    assert MEMORY[library](run.rows) == expected
    assert MEMORY[library](run.rows) == expected, "and once more"


@pytest.mark.parametrize("library", PARQUET)
def test_rows_in_parquet(library: str, file: Path, expected: Columns) -> None:
    assert PARQUET[library](file) == expected


def test_a_query(run: ss.Run) -> None:
    rows = run.rows
    assert len(rows) == COUNT  # duckdb finds rows by its name
    query = "select avg(completion_ns - arrival_ns) / 1e6, count(*) from rows where op = 'read'"
    mean, count = duckdb.execute(query).fetchall()[0]
    reads = pl.DataFrame(rows).filter(pl.col("op") == "read")
    assert count == run.summary["reads"] == len(reads)
    assert mean == pytest.approx((reads["completion_ns"] - reads["arrival_ns"]).mean() / 1e6)  # type: ignore[operator]


def test_names_are_categories(run: ss.Run) -> None:
    frame = to_pandas(run.rows)
    for name in ("device", "op", "status"):
        assert isinstance(frame[name].dtype, pd.CategoricalDtype)
    assert frame["device"].unique().tolist() == ["g2"]


def test_columns_and_schema_without_the_rows(run: ss.Run) -> None:
    schema = pa.schema(run.rows)
    assert schema.names == run.rows.column_names
    assert schema.metadata[b"sledsim"].decode() == ss.__version__
    assert schema.equals(pa.table(run.rows).schema, check_metadata=True)


def test_the_file_has_the_schema_of_the_rows(run: ss.Run, file: Path) -> None:
    assert pq.read_schema(file).equals(pa.schema(run.rows), check_metadata=False)
    metadata = {field.name: field.metadata for field in pq.read_schema(file)}
    assert {name for name, about in metadata.items() if about.get(b"unit") == b"ns"} == {
        name for name in metadata if name.endswith("_ns")
    }
    assert pq.ParquetFile(file).metadata.num_rows == COUNT


def test_a_run_of_nothing_has_rows_of_nothing(tmp_path: Path) -> None:
    # A load that outruns the device at once completes no request.
    load = ss.workload("random", rate=1e9, requests=100, max_queue=1)
    run = ss.simulate(load, ss.device("g2"))
    assert run.summary["saturated"] is not None
    assert run.summary["requests"] == len(run.rows) == 0
    assert pa.table(run.rows).num_rows == 0
    assert pl.DataFrame(run.rows).columns == run.rows.column_names
    ss.simulate(load, ss.device("g2"), rows=tmp_path / "none.parquet")
    assert pq.read_table(tmp_path / "none.parquet").schema.names == run.rows.column_names
