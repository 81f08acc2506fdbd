"""Rows are the host's requests, one each; those inside a device come with parts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from hypothesis import given, settings
from hypothesis import strategies as st
from sledsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

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
    mean_ms = (
        sum((counted["completion_ns"] - counted["arrival_ns"]).to_list()) / counted.height / 1e6
    )
    assert counted.height == run.requests
    assert run.summary["response_time_ms"]["mean"] == pytest.approx(mean_ms, rel=1e-9)

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
