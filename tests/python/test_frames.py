"""Runs, comparisons and studies as tables: the same in pandas, Polars, pyarrow and duckdb."""

from __future__ import annotations

import subprocess
import sys
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

LOAD: dict[str, Any] = {"rate": 700, "requests": 3000, "seed": 11, "read_fraction": 0.5}


def from_pandas(frame: pd.DataFrame) -> Columns:
    missing = frame.isna()
    return {
        str(name): frame[name].astype(object).mask(missing[name], None).tolist() for name in frame
    }


def all_three(of: Any) -> list[Columns]:
    """Return what the three libraries have of a run, a comparison, a study or rows."""
    arrow, polars = of.to_arrow(), of.to_polars()
    assert isinstance(arrow, pa.Table)
    assert isinstance(polars, pl.DataFrame)
    return [arrow.to_pydict(), polars.to_dict(as_series=False), from_pandas(of.to_pandas())]


def assert_same(of: Any) -> Columns:
    first, *others = all_three(of)
    for other in others:
        assert other == first
        kinds = [{name: {*map(type, cells)} for name, cells in c.items()} for c in (other, first)]
        assert kinds[0] == kinds[1]
    return first


@pytest.fixture(scope="module")
def run() -> ss.Run:
    return ss.simulate(ss.workload("random", **LOAD), "mcd", parts=True, series=True)


def test_a_run(run: ss.Run) -> None:
    columns = assert_same(run)
    assert len(columns["id"]) > LOAD["requests"], "those of the disk and the sled, too"
    assert None in columns["parent"]


PLACES = ("cylinder", "head", "row")


def test_types_are_exact(run: ss.Run) -> None:
    """Times are whole nanoseconds, also where a column has gaps; names are categories."""
    frame, schema = run.to_pandas(), run.to_arrow().schema
    for name in ("device", "op", "status"):
        assert isinstance(frame[name].dtype, pd.CategoricalDtype)
        assert run.to_polars().schema[name] == pl.Categorical
    gaps = {field.name: str(field.type) for field in schema if field.nullable}
    places = {f"{end}_{what}": "uint32" for what in PLACES for end in ("from", "to")}
    ways = {"cylinders": "uint64", "from_direction": "int8", "to_direction": "int8"}
    assert gaps == {"parent": "uint64", "energy_nj": "int64", **places, **ways}
    assert frame["parent"].dtype == pd.UInt64Dtype()
    assert frame["energy_nj"].dtype == pd.Int64Dtype()
    for name in frame.columns.difference([*gaps, "device", "op", "status"]):
        assert str(frame[name].dtype) == str(schema.field(name).type)
        assert run.to_polars().schema[name].is_integer()


def test_series_and_windows() -> None:
    run = ss.simulate(ss.workload("random", **LOAD), "g2", series=True)
    series = assert_same(run.series)
    assert sum(series["requests"]) == LOAD["requests"]
    assert type(series["start_ns"][0]) is int
    windows = ss.simulate("sample:postmark", "g2", split=2).volumes
    assert sum(assert_same(windows)["requests"]) == 6817


def test_a_validation(tmp_path: Path) -> None:
    """Here whole nanoseconds have gaps: pandas' own float would round what is above 2^53."""
    lines = [f"{at},{at % 7},8,{'RW'[at % 2]},{400 + at}" for at in range(0, 60_000, 600)]
    file = tmp_path / "measured.csv"
    file.write_text("\n".join(["t,lba,n,rw,us", *lines, ""]), encoding="utf-8")
    columns = "time=t:us, offset=lba:512B, bytes=n:512B, op=rw, response=us:us"
    rows = ss.validate(ss.read_trace(file, columns=columns), "g2").rows
    found = assert_same(rows)
    assert found["measured_ns"] == [1000 * (400 + at) for at in range(0, 60_000, 600)]
    assert {*found["measured_queue_ns"]} == {None}
    assert rows.to_pandas()["measured_queue_ns"].dtype == pd.Int64Dtype()


def test_a_comparison() -> None:
    load = ss.workload("random", **LOAD)
    comparison = ss.compare(load, ["atlas10k", "g2", "flash"])
    columns = assert_same(comparison)
    lines = comparison.table.to_dicts()
    assert columns == {name: [line[name] for line in lines] for name in columns}
    assert list(columns) == list(comparison.table[0]) == comparison.table.column_names
    assert columns["speed_up"][1:] == [None, None], "atlas10k is overloaded"
    short = ss.compare(ss.workload("random", requests=10), ["atlas10k", "disk"])
    assert set(assert_same(short)["speed_up"]) == {None}
    for made, other in ((comparison, short), (short, comparison)):
        assert made.to_arrow().schema == other.to_arrow().schema, "whatever is in the columns"
        assert made.to_polars().schema == other.to_polars().schema
        assert made.to_pandas().dtypes.equals(other.to_pandas().dtypes)


def test_a_study(tmp_path: Path) -> None:
    base = {"device": "g2", "workload": "random", "requests": 600, "device.reads_both_ways": True}
    study = ss.sweep(base, grid={"rate": [100, 500]}, replications=2, output=tmp_path / "study")
    columns = assert_same(study)
    assert columns == pa.table(study.table).to_pydict()
    assert columns["rate"] == [100, 100, 500, 500]
    assert columns["device.reads_both_ways"] == [True] * 4
    means = assert_same(study.means)
    assert means["rows"] == [2, 2]


# Rows as they are, in memory and in files

COUNT = 70_000  # more than a batch


def columns_of(found: duckdb.DuckDBPyConnection) -> Columns:
    return {name: column.tolist() for name, column in found.fetchnumpy().items()}


READERS: dict[str, Callable[[Any], Columns]] = {
    "pandas": lambda rows: from_pandas(pd.DataFrame.from_arrow(rows)),  # type: ignore[attr-defined]  # (the stubs are behind)
    "polars": lambda rows: pl.DataFrame(rows).to_dict(as_series=False),
    "duckdb": lambda rows: columns_of(duckdb.connect().register("rows", rows).execute("from rows")),
    "pyarrow": lambda rows: pa.table(rows).to_pydict(),
    "pandas, file": lambda path: from_pandas(pd.read_parquet(path)),
    "polars, file": lambda path: pl.read_parquet(path).to_dict(as_series=False),
    "duckdb, file": lambda path: columns_of(duckdb.connect().execute(f"from '{path}'")),
    "pyarrow, file": lambda path: pq.read_table(path).to_pydict(),
}


@pytest.fixture(scope="module")
def long_run() -> ss.Run:
    return ss.simulate(ss.workload("random", **LOAD | {"requests": COUNT}), "g2")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    ss.simulate(ss.workload("random", **LOAD | {"requests": COUNT}), "g2", rows=path)
    return path


@pytest.fixture(scope="module")
def expected(long_run: ss.Run) -> Columns:
    columns: Columns = pa.table(long_run.rows).to_pydict()
    assert len(columns["id"]) == COUNT
    assert set(columns["op"]) == {"read", "write"}
    return columns


@pytest.mark.parametrize("library", READERS)
def test_libraries_read_rows(library: str, long_run: ss.Run, file: Path, expected: Columns) -> None:
    for _ in range(2):
        assert READERS[library](file if "file" in library else long_run.rows) == expected


def test_a_query(long_run: ss.Run) -> None:
    rows = long_run.rows
    assert len(rows) == COUNT  # duckdb finds rows by its name
    query = "select avg(completion_ns - arrival_ns) / 1e6, count(*) from rows where op = 'read'"
    mean, count = duckdb.execute(query).fetchall()[0]
    times = [
        end - start
        for op, start, end in zip(
            rows["op"], rows["arrival_ns"], rows["completion_ns"], strict=True
        )
        if op == "read"
    ]
    assert count == long_run.summary["reads"] == len(times)
    assert mean == pytest.approx(sum(times) / len(times) / 1e6)


def test_the_file_has_the_schema_of_the_rows(long_run: ss.Run, file: Path) -> None:
    """The schema is known without the rows; the file has it, with the unit of each time."""
    schema = pa.schema(long_run.rows)
    assert schema.names == long_run.rows.column_names
    assert schema.metadata[b"sledsim"].decode() == ss.__version__
    assert schema.equals(pa.table(long_run.rows).schema, check_metadata=True)
    assert pq.read_schema(file).equals(schema, check_metadata=False)
    units = {field.name: field.metadata.get(b"unit") for field in pq.read_schema(file)}
    assert all((unit == b"ns") == name.endswith("_ns") for name, unit in units.items())
    assert pq.ParquetFile(file).metadata.num_rows == COUNT


def test_a_run_of_nothing_has_rows_of_nothing(tmp_path: Path) -> None:
    # A load that outruns the device at once completes no request.
    load = ss.workload("random", rate=1e9, requests=100, max_queue=1)
    run = ss.simulate(load, "g2")
    assert run.summary["saturated"] is not None
    assert run.summary["requests"] == len(run.rows) == pa.table(run.rows).num_rows == 0
    assert pl.DataFrame(run.rows).columns == run.rows.column_names
    ss.simulate(load, "g2", rows=tmp_path / "none.parquet")
    assert pq.read_table(tmp_path / "none.parquet").schema.names == run.rows.column_names


def test_pandas_is_told_what_to_call(run: ss.Run) -> None:
    for rows in (run.rows, run.series):
        with pytest.raises(TypeError, match=r"has no rows to go through: call \.to_dicts\(\)"):
            pd.DataFrame(rows)


@pytest.mark.parametrize("missing", ["pandas", "polars", "pyarrow"])
def test_a_missing_library_is_named(
    missing: str, run: ss.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison = ss.compare(ss.workload("random", requests=10), ["g2"])
    monkeypatch.setitem(sys.modules, missing, None)
    method = {"pyarrow": "to_arrow"}.get(missing, f"to_{missing}")
    says = rf"{method}\(\) needs .*{missing}.*: pip install {missing}"
    for of in (run, run.series, comparison):
        with pytest.raises(ss.SledsimError, match=says):
            getattr(of, method)()


_SHOWN = """
import sys
{block}
import sledsim as ss
load = ss.workload("random", rate=700, requests=300)
run = ss.simulate(load, "mcd", parts=True, series=True)
for rows in (run.rows, run.series, ss.compare(load, ["g2", "atlas10k"]).table):
    frame = rows.to_pandas()
    print(frame.dtypes.astype(str).to_dict(), frame.to_json(orient="split"))
"""


def test_pandas_has_the_same_without_pyarrow(run: ss.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pandas itself takes pyarrow if it is there, so each has a process of its own."""
    shown = []
    for block in ("", "sys.modules['pyarrow'] = None"):
        command = [sys.executable, "-c", _SHOWN.format(block=block)]
        shown.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert shown[0] == shown[1]
    assert "UInt64" in shown[0]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ss.SledsimError, match="pip install pyarrow"):
        run.to_arrow()


def test_rows_in_a_file_are_not_kept(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="rows were not kept"):
        ss.simulate(ss.workload(requests=10), "g2", rows=tmp_path / "rows.csv").to_pandas()


def test_rows_are_values(run: ss.Run) -> None:
    again = ss.simulate(ss.workload("random", **LOAD), "mcd", parts=True, series=True)
    assert again.rows == run.rows
    assert hash(again.rows) == hash(run.rows)
    assert again.rows != run.series
    assert run.rows != "rows"
