"""Rows are the host's requests, one each, and parts; all libraries have the same of them."""

from __future__ import annotations

import json
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
from hypothesis import given, settings
from hypothesis import strategies as st
from sledsim.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Columns = dict[str, list[Any]]

MEMORY = '{kind = "memory", blocks = 4096, latency_ms = 0.1, ms_per_block = 0.001, title = "M"}'
FAILING = f"child = {MEMORY}\nspares = 1\nfail_child = 1\nfail_at_ms = 200\n"
RAID5 = 'kind = "raid5"\nunit_blocks = 8\nchildren = 4\n'
CACHE = f'kind = "read_cache"\nfront = {MEMORY}\n'
COMPOSITES = {
    "stripe": 'kind = "stripe"\nunit_blocks = 16\nchildren = 3\nchild = {base = "g2"}\n',
    "raid0": 'kind = "raid0"\nunit_blocks = 8\nchildren = 4\nchild = {base = "g2"}\n',
    "raid1": 'kind = "raid1"\nchildren = 2\nchild = {base = "atlas10k"}\n',
    "raid5": RAID5 + 'child = {base = "g3"}\n',
    "actuators": 'kind = "actuators"\nactuators = 2\nchild = {base = "atlas10k"}\n',
    "rebuilt-raid1": 'kind = "raid1"\nchildren = 2\n' + FAILING,
    "rebuilt-raid5": RAID5 + FAILING,
    "rebuilt-raid6": RAID5.replace("raid5", "raid6") + FAILING,
    "rebuilt-raid10": RAID5.replace("raid5", "raid10") + FAILING,
    "read-cache": CACHE + 'back = {base = "g2"}\n',
    "cached-array": f'{CACHE}[back]\ntitle = "R"\n{RAID5}child = {{base = "mwb"}}\n',
}
ORGAN_PIPE = {"name": "organ_pipe", "unit_blocks": 540, "reshuffle_s": 0.2}
LAYOUTS: list[Any] = [None, ORGAN_PIPE, "columnar"]
LAID = ("g2", "g2-buffered", "sigmetrics2000")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with arrays and caches."""
    folder = tmp_path_factory.mktemp("devices")
    for name, text in COMPOSITES.items():
        (folder / f"{name}.toml").write_text(f'title = "A"\n{text}', encoding="utf-8")
    return folder


@st.composite
def loads(draw: st.DrawFn) -> ss.Load:
    """Draw a load that no device here is given up on."""
    kind = draw(st.sampled_from(["random", "zipf", "sequential"]))
    keys: dict[str, Any] = {"seed": draw(st.integers(1, 1000)), "last_lbn": 4000}
    keys["requests"] = draw(st.integers(1, 600))
    keys["read_fraction"] = draw(st.sampled_from([0.0, 0.5, 1.0]))
    keys |= draw(st.sampled_from([{"rate": 40}, {"queue_depth": 1}, {"queue_depth": 7}]))
    keys["warm_up_requests"] = draw(st.sampled_from([0, keys["requests"] // 3]))
    return ss.workload(kind, **keys)


def rows_of(run: ss.Run) -> pl.DataFrame:
    """Return the rows of a run, with plain names."""
    frame: pl.DataFrame = run.to_polars()
    return frame.with_columns(pl.col("device", "op", "status").cast(pl.String))


@pytest.mark.parametrize("name", [*ss.devices(), *COMPOSITES])
@settings(max_examples=12, deadline=None)
@given(load=loads(), data=st.data())
def test_there_is_a_row_for_each_request_of_the_host(
    folder: Path, name: str, load: ss.Load, data: st.DataObject
) -> None:
    device = ss.device(folder / f"{name}.toml" if name in COMPOSITES else name)
    layout = data.draw(st.sampled_from(LAYOUTS if name in LAID else LAYOUTS[:1]))
    run = ss.simulate(load, device, layout=layout)
    rows, warm_up = rows_of(run), run.summary["warm_up"]
    left_out = warm_up["requests"] if warm_up else 0
    assert rows.height == run.requests + left_out == run.workload["requests"]
    assert rows["parent"].null_count() == rows["id"].n_unique() == rows.height
    assert rows["device"].unique().to_list() == [device.name]

    counted = rows.filter(pl.col("id") >= left_out)
    times_ns = (counted["completion_ns"] - counted["arrival_ns"]).to_list()
    assert counted.height == run.requests
    mean_ms = run.summary["response_time_ms"]["mean"]
    assert sum(times_ns) / run.requests / 1e6 == pytest.approx(mean_ms, rel=1e-9)

    whole = ss.simulate(load, device, layout=layout, parts=True)
    assert whole.to_dict() == run.to_dict()
    parts = rows_of(whole)
    assert parts.filter(pl.col("parent").is_null()).equals(rows)
    assert parts.height > rows.height or len(run.summary["devices"]) == 1


def test_parts_are_in_files_if_they_are_asked_for(tmp_path: Path) -> None:
    load, file = ss.workload("hplajw", requests=300), tmp_path / "rows.parquet"
    for parts in (False, True):
        kept = ss.simulate(load, "mcd", parts=parts)
        ss.simulate(load, "mcd", rows=file, parts=parts)
        assert pl.read_parquet(file).equals(kept.to_polars())
        line = f"run --device mcd --workload hplajw --set requests=300 --rows {file}"
        assert main([*line.split(), *["--parts"] * parts]) == 0
        assert pl.read_parquet(file).equals(kept.to_polars())


def test_a_study_writes_rows_and_parts(tmp_path: Path) -> None:
    base = {"device": "mcd", "workload": "hplajw", "requests": 200}
    for parts in (False, True):
        folder = tmp_path / str(parts)
        ss.sweep(base, grid={"seed": [3]}, output=folder, run_rows=True, parts=parts)
        (file,) = (folder / "rows").iterdir()
        own = ss.simulate(ss.workload("hplajw", requests=200, seed=3), "mcd", parts=parts)
        assert pl.read_parquet(file).equals(own.to_polars())


def test_requests_of_several_seeds_are_counted_together() -> None:
    run = ss.simulate(ss.workload("random", requests=10), "g2", replications=2)
    assert run.requests == json.loads(json.dumps(run.to_dict()))["summary"]["requests"] == 20


# Rows as a table


def test_columns_rows_and_slices_are_those_of_polars(tmp_path: Path) -> None:
    run = ss.simulate(ss.workload("random", rate=300, requests=200), "g2")
    rows, frame = run.rows, run.to_polars()
    for name in rows.column_names:
        assert rows[name] == frame[name].to_list(), name
    assert rows[7] == rows[7 - len(rows)] == frame.row(7, named=True)
    assert rows[20:50]["lbn"] == frame["lbn"][20:50].to_list()
    assert len(rows[150:900]) == 50
    assert len(rows[5:5]) == len(rows[9:3]) == 0
    rows.to_csv(tmp_path / "rows.csv")
    assert pl.read_csv(tmp_path / "rows.csv")["seek_ns"].to_list() == rows["seek_ns"]


def test_rows_of_several_batches_are_sliced_across_them() -> None:
    rows = ss.simulate(ss.workload("random", requests=20_000), "g2").rows
    ids = rows["id"]
    assert rows[9_000:17_000]["id"] == ids[9_000:17_000]
    assert rows[19_999]["id"] == ids[-1]


def test_rows_print_as_a_table() -> None:
    run = ss.simulate(ss.workload("random", rate=300, requests=50), "g2")
    head, first, *_ = str(run.rows).splitlines()
    assert head.split()[:2] == ["id", "device"], "no row has a parent"
    assert first.split()[0] == str(run.rows["id"][0])
    assert "and 30 more rows" in str(run.rows)
    assert max(map(len, str(run.rows).splitlines())) <= 80
    study = ss.sweep({"device": "g2", "requests": 50}, grid={"rate": [100, 200]})
    assert str(study.means).split()[0] == "rate", "no other key varies"
    assert "<table>" in study.means._repr_html_()


def test_percentiles_are_those_of_the_rows() -> None:
    run = ss.simulate(ss.workload("random", rate=500, requests=5000), "g2")
    rows = run.to_polars()
    times = sorted((rows["completion_ns"] - rows["arrival_ns"]) / 1e6)
    for percent in (1, 50, 99, 99.9, 100):
        exact = times[max(0, -(-round(percent * 50) // 1) - 1)]
        assert run.percentile(percent) == pytest.approx(exact, rel=1 / 1000)
    assert run.percentile(99) == run.summary["response_time_ms"]["p99"]


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


# Rows, comparisons and studies in pandas, Polars, pyarrow and duckdb


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
        assert made.to_arrow().schema == other.to_arrow().schema, "also of empty columns"
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
