"""Traces in memory: frames and mappings, and the requests of a load as a frame."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sledsim as ss

COLUMNS = "time=t:us, offset=lba:512B, bytes=n:512B, op=rw"
REQUESTS: list[dict[str, Any]] = [
    {"t": 700 * i, "lba": i * 7919 % 100_000, "n": 8 + i % 5, "rw": "RW"[i % 3 == 0]}
    for i in range(500)
]


def replayed(load: ss.Load) -> pl.DataFrame:
    return ss.simulate(load, "g2").to_polars()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Replay the same requests from a file that sledsim did not write."""
    file = tmp_path_factory.mktemp("frames") / "requests.csv"
    lines = [",".join(map(str, row.values())) for row in REQUESTS]
    file.write_text("\n".join(["t,lba,n,rw", *lines, ""]), encoding="utf-8")
    return replayed(ss.read_trace(file, columns=COLUMNS))


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(REQUESTS),
        pd.DataFrame(REQUESTS),
        pa.Table.from_pylist(REQUESTS),
        REQUESTS,
        (dict(row) for row in REQUESTS),
    ],
    ids=["polars", "pandas", "pyarrow", "mappings", "generator"],
)
def test_a_frame_is_replayed_as_a_file_is(frame: Any, expected: pl.DataFrame) -> None:
    load = ss.read_trace(frame, columns=COLUMNS)
    assert load.name == "frame"
    assert replayed(load).equals(expected)


def test_rows_of_a_run_are_a_trace_without_columns() -> None:
    run = ss.simulate(ss.workload("random", rate=300, requests=400), "g2")
    again = ss.simulate(run.rows, "g2")
    names = ["arrival_ns", "completion_ns", "lbn", "blocks", "op"]
    assert again.to_polars().select(names).equals(run.to_polars().select(names))


def test_equal_frames_are_equal_loads() -> None:
    one, two = (ss.read_trace(pl.DataFrame(REQUESTS), columns=COLUMNS) for _ in range(2))
    other = ss.read_trace(pl.DataFrame(REQUESTS[1:]), columns=COLUMNS)
    assert one == two != other
    assert one.digest == two.digest != other.digest


def test_studies_take_frames_in_other_processes(expected: pl.DataFrame) -> None:
    load = ss.read_trace(pl.DataFrame(REQUESTS), columns=COLUMNS)
    grid = {"device": ["g2", "g3"]}
    study = ss.sweep({"load": load}, grid=grid, workers="processes").check()
    (mean, _) = study.table["response_time_ms.mean"]
    times = expected["completion_ns"] - expected["arrival_ns"]
    assert mean == pytest.approx(times.mean() / 1e6, rel=1e-9)  # type: ignore[operator]


def test_a_pickle_has_the_frame() -> None:
    load = ss.read_trace(pl.DataFrame(REQUESTS), columns=COLUMNS)
    Path("load").write_bytes(pickle.dumps(load))
    code = (
        "import pickle, sledsim as ss\n"
        "load = pickle.load(open('load', 'rb'))\n"
        "print(load.digest, ss.simulate(load, 'g2').requests)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [load.digest, "500"]


def test_a_frame_has_no_file_to_name() -> None:
    load = ss.read_trace(REQUESTS, columns=COLUMNS)
    with pytest.raises(ss.SledsimError, match="is a frame, which no file keeps"):
        load.to_toml()


@pytest.mark.parametrize("frame", [pl.DataFrame, list], ids=["polars", "mappings"])
def test_a_wrong_row_or_column_is_named_and_no_file(frame: Any) -> None:
    names = list(REQUESTS[0])
    for rows, says in (
        ([[1, -5, 8, "R"]], r"frame: row 1: .*-5"),
        ([[1, 5, 8, "R"], [2, 5, 8, "Q"]], r"frame: row 2: .*'Q'"),
        ([[2, 5, 8, "R"], [1, 5, 8, "R"]], r"frame: row 2: time 0.001"),
        ([[1, 7_000_000, 8, "R"]], r"frame: row 1: blocks 7000000 to 7000007"),
        ([[1]], "frame: .*'lba'"),
        ([], "frame: "),
    ):
        made = frame([dict(zip(names, row, strict=False)) for row in rows])
        with pytest.raises(ss.TraceError, match=says) as refused:
            ss.simulate(ss.read_trace(made, columns=COLUMNS), "g2")
        assert (refused.value.file, refused.value.line) == (None, None)
        for hidden in ("sledsim-frames", "read as"):
            assert hidden not in str(refused.value)


@pytest.mark.parametrize(
    ("load", "where"),
    [
        (ss.workload("zipf", rate=200, requests=300), {"blocks": 50_000}),
        (ss.workload("random", queue_depth=2, requests=300), {"device": "g2"}),
        (ss.read_trace("sample:pgbench"), {"device": "g2"}),
    ],
    ids=["open", "closed", "trace"],
)
def test_a_load_shows_its_requests(load: ss.Load, where: dict[str, Any]) -> None:
    polars, pandas, arrow = load.to_polars(**where), load.to_pandas(**where), load.to_arrow(**where)
    offsets = polars["offset_bytes"].to_list()
    assert offsets == pandas["offset_bytes"].tolist() == arrow["offset_bytes"].to_pylist()
    run = ss.simulate(load, where.get("device", "g2"))
    moved = polars.filter(pl.col("op").cast(pl.String).is_in(["read", "write"]))
    assert len(moved) == run.summary["reads"] + run.summary["writes"]
    again = ss.simulate(ss.read_trace(polars), where.get("device", "g2"))
    assert again.summary["blocks_read"] == run.summary["blocks_read"]
