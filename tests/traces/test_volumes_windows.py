"""Traces split into windows of time: brute force over converted pieces, warm-ups, and cuts."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sledsim as ss

from tests.traces.test_volumes import rows_of

POSTMARK = "sample:postmark-ext4"
HPLAJW = Path(__file__).parents[3] / "shared" / "traces" / "hplajw-1992-week.srt"


def test_a_long_warm_up_gives_the_whole_run_exactly() -> None:
    """First come, first served: what comes later changes nothing, and nothing earlier is cut."""
    whole = ss.simulate(POSTMARK, "g2", rows=False)
    run = ss.simulate(POSTMARK, "g2", split=10, warm_up_s=160)
    assert run.split["count"] >= 8
    for time in ("response_time", "queue", "seek"):
        assert run.cdf(time) == whole.cdf(time), time
    for key in ("requests", "response_time_ms", "service_time_ms", "duration_s", "passes"):
        assert run.summary[key] == whole.summary[key], key
    outstanding = run.split["outstanding"]
    assert outstanding["apart"] == 0
    assert outstanding["before"] == outstanding["after"]


@pytest.mark.parametrize("keys", [{}, {"time_scale": 1.5}], ids=["plain", "faster"])
@pytest.mark.parametrize("warm_up_s", [0.0, 2.5])
def test_windows_are_the_runs_of_converted_pieces(
    tmp_path: Path, keys: dict[str, Any], warm_up_s: float
) -> None:
    """Each row follows from the rows of requests of a piece that the converter cuts."""
    window_s, scale = 12.0, keys.get("time_scale", 1.0)
    load = ss.read_trace(POSTMARK, **keys)
    run = ss.simulate(load, "g2", "sptf", split=window_s, warm_up_s=warm_up_s)
    found = rows_of(run)
    assert len(found) >= 5
    for row in found:
        start, end = row["start_s"], row["end_s"]
        piece = tmp_path / "piece.parquet"
        begin = max(0.0, start - warm_up_s) * scale
        ss.convert_trace(POSTMARK, piece, from_s=begin, until_s=end * scale)
        alone = ss.simulate(ss.read_trace(piece, **keys), "g2", "sptf")
        columns = pa.table(alone.rows).select(["arrival_ns", "completion_ns"]).to_pydict()
        times = list(zip(columns["arrival_ns"], columns["completion_ns"], strict=True))
        counted = [(arrival, done) for arrival, done in times if arrival >= start * 1e9]
        assert row["counted"] == row["requests"] == len(counted)
        assert row["warm_up_requests"] == len(times) - len(counted)
        mean_ms = sum(done - arrival for arrival, done in counted) / len(counted) / 1e6
        assert math.isclose(row["mean_ms"], mean_ms, rel_tol=1e-12)
        for key, at in (("outstanding_at_start", start), ("outstanding_at_end", end)):
            assert row[key] == sum(arrival < at * 1e9 < done for arrival, done in times), key
    parts = run.split
    assert parts["requests"] == parts["requests_counted"] == 44213
    assert parts["overlap_requests"] == sum(row["warm_up_requests"] for row in found)


def test_the_outstanding_at_cuts_are_summed() -> None:
    """Without a warm-up nothing is outstanding when a window begins."""
    run = ss.simulate(POSTMARK, "disk", split=20, warm_up_s=0)
    rows = rows_of(run)
    cuts = [one for one, two in pairwise(rows) if one["end_s"] == two["start_s"]]
    before = sum(row["outstanding_at_end"] for row in cuts)
    outstanding = run.split["outstanding"]
    assert outstanding == {"cuts": len(cuts), "before": before, "after": 0, "apart": before}
    assert before > 1000
    (caution,) = (one for one in run.cautions if one["code"] == "cuts")
    assert caution["unreliable"], "more than 1 % of the requests"


def test_windows_of_a_calendar_begin_with_the_first_request(tmp_path: Path) -> None:
    """Devices that share an address space stay apart in rows, and are one in a window."""
    trace = tmp_path / "days.csv"
    ticks = 128166372003061629
    at_s = [0, 1, 2.5, 10, 10.5, 19.9999999, 20, 100_000]
    lines = (
        f"{ticks + round(1e7 * at)},h,{n % 2},Read,{8192 * n},4096,1" for n, at in enumerate(at_s)
    )
    trace.write_text("\n".join(lines) + "\n")
    load = ss.read_trace(trace, trace_device="all")
    run = ss.simulate(load, "g2", split=10, warm_up_s=1)
    keys = ("name", "requests", "warm_up_requests", "start_s")
    assert [tuple(row[key] for key in keys) for row in rows_of(run)] == [
        ("0", 3, 0, 0.0),
        ("1", 3, 0, 10.0),
        ("2", 1, 1, 20.0),
        ("10000", 1, 0, 100_000.0),
    ]
    assert run.split["outstanding"]["cuts"] == 2, "the last window follows none"
    assert run.workload["time_origin"] == "first"
    first = ss.simulate(load, "g2", split=10, workers="threads:1")
    default = ss.simulate(load, "g2", split=10)
    assert first.to_dict() == default.to_dict() == run.to_dict(), "a tenth of a window"


@pytest.mark.skipif(not HPLAJW.exists(), reason="the trace hplajw is not there")
def test_the_error_of_windows_of_a_real_trace_falls_with_their_warm_up() -> None:
    """A week by days: the deviations on the page on volumes."""
    load = ss.read_trace(HPLAJW, trace_device="all", address="wrap")
    whole = ss.simulate(load, "disk", rows=False).summary["response_time_ms"]
    apart = []
    for days in (0, 1, 7):
        run = ss.simulate(load, "disk", split=86_400, warm_up_s=86_400 * days)
        assert run.split["requests"] == run.split["requests_counted"]
        assert "windows" in [one["code"] for one in run.cautions]
        apart.append(abs(run.summary["response_time_ms"]["mean"] / whole["mean"] - 1))
    assert 0.01 < apart[0] < 0.1, "its cache is lost at each cut"
    assert apart[1] < 0.001
    assert apart[2] < 1e-9
