"""Statistics of runs: intervals, warm-up, seeds, series, distributions."""

from __future__ import annotations

import itertools
import json
import math
import statistics
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim._number_text import measured
from sledsim.cli import main

from tests.waiting import interrupted_at_work

LOAD = {"rate": 600, "requests": 3000}
RUN = ["run", "--device", "g2", "--set", "rate=600"]


def run(*, load: dict[str, Any] | None = None, **options: Any) -> ss.Run:
    """Run the random workload on g2."""
    made = ss.workload("random", **(load or LOAD))
    done: ss.Run = ss.simulate(made, ss.device("g2"), **options)
    return done


def output(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Run a command in this process; return its output."""
    assert main([*map(str, words)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def test_an_interval_lies_around_the_mean_and_shrinks_with_the_run() -> None:
    widths = []
    for requests in (2_000, 32_000, 512_000):
        summary = run(load={"rate": 400, "requests": requests}, rows=False).summary
        interval = summary["confidence"]["response_time_ms"]
        assert interval["low"] < summary["response_time_ms"]["mean"] < interval["high"]
        assert interval["mean"] == pytest.approx((interval["low"] + interval["high"]) / 2)
        assert 16 <= interval["batches"] < 32
        assert requests * 15 / 16 < interval["batches"] * interval["batch_requests"] <= requests
        widths.append(interval["half_width_share"])
    # Sixteen times as long: a quarter as wide, to the luck of 16 batches (5 sigma).
    for before, after in itertools.pairwise(widths):
        assert 1 / 12 < after / before < 0.75


def test_intervals_tell_two_loads_apart_exactly_when_they_differ() -> None:
    low, high = {}, {}
    for rate, seed in ((400, 1), (400, 2), (500, 1)):
        done = run(load={"requests": 20_000, "rate": rate, "seed": seed}, rows=False)
        found = done.summary["confidence"]["response_time_ms"]
        low[rate, seed], high[rate, seed] = found["low"], found["high"]
    assert max(low[400, 1], low[400, 2]) < min(high[400, 1], high[400, 2])
    assert high[400, 1] < low[500, 1]


def test_a_precision_is_reached_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(load={"rate": 600}, precision=0.02, rows=False)
    interval, precision = done.summary["confidence"]["response_time_ms"], done.summary["precision"]
    assert precision is not None
    assert precision["met"] is True
    assert interval["half_width_share"] <= 0.02
    assert done.summary["requests"] == done.workload["requests"]
    for word in ("2%", "0.02", "2.0 %"):
        assert json.loads(output(capsys, *RUN, "--precision", word, "--json")) == done.to_dict()
    text = output(capsys, *RUN, "--precision", "2%")
    assert "precision     2 % reached\n" in text
    assert f"{interval['low']:.3f} to {interval['high']:.3f} ms" in text
    missed = output(capsys, *RUN, "--precision", "1%", "--set", "requests=100")
    assert "precision     1 % not reached: the load ended after 100 requests" in missed
    assert "NOT TO BE RELIED ON: too few requests" in missed


def test_the_longest_wait_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    done = run()
    worst = pl.DataFrame(done.rows).sort("queue_ns", descending=True).row(0, named=True)
    found = done.summary["longest_wait"]
    assert found is not None
    assert found["queue_ms"] == worst["queue_ns"] / 1e6 == done.summary["queue_ms"]["max"]
    assert (found["id"], found["lbn"]) == (worst["id"], worst["lbn"])
    text = output(capsys, *RUN, "--set", "requests=3000")
    assert f"{measured(found['queue_ms'])} ms in the queue: request {worst['id']}, " in text
    assert f"99.99 % waited at most {measured(done.summary['queue_ms']['p99_99'])} ms" in text


def test_warming_up_is_not_counted(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(load={**LOAD, "warm_up_requests": 500})
    assert (len(done.rows), done.summary["requests"]) == (3000, 2500)
    rows = pl.DataFrame(done.rows).sort("id")[500:]
    mean = (rows["completion_ns"] - rows["arrival_ns"]).to_numpy().mean()
    assert done.summary["response_time_ms"]["mean"] == pytest.approx(mean / 1e6)
    words = [*RUN, "--set", "requests=3000", "--set", "warm_up_requests=500"]
    assert "warm-up       500 more requests, until 0.8" in output(capsys, *words)
    for warm_up, key, low, high in (
        (done.summary["warm_up"], "requests", 500, 500),
        (run(load={**LOAD, "warm_up_s": 2.5}).summary["warm_up"], "until_s", 2.5, 2.55),
    ):
        assert warm_up is not None
        assert low <= warm_up[key] <= high  # type: ignore[literal-required]


def test_seeds_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(replications=5)
    singles = [run(load={**LOAD, "seed": seed}).summary for seed in range(1, 6)]
    means = [single["response_time_ms"]["mean"] for single in singles]
    seeds = done.summary["seeds"]
    assert seeds is not None
    shown = [(one["seed"], one["mean_response_time_ms"]) for one in seeds]
    assert shown == list(zip(range(1, 6), means, strict=True))
    interval = done.summary["confidence"]["response_time_ms"]
    half = 2.776445 * statistics.stdev(means) / math.sqrt(5)  # t with 4 degrees of freedom
    assert interval["high"] - interval["mean"] == pytest.approx(half, rel=1e-6)
    for mean in (interval["mean"], done.summary["response_time_ms"]["mean"]):
        assert mean == pytest.approx(statistics.fmean(means))
    for workers in (1, 3):
        assert done.to_dict() == run(replications=5, workers=workers).to_dict()
    words = [*RUN, "--set", "requests=3000", "--replications", 5]
    assert json.loads(output(capsys, *words, "--json", "--workers", 2)) == done.to_dict()
    text = output(capsys, *words)
    assert "seeds 1 to 5" in text
    assert "from 5 seeds" in text


def test_seeds_tell_their_progress_and_may_be_interrupted() -> None:
    heard: list[tuple[int, int | None]] = []

    def progress(done: int, of: int | None) -> None:
        heard.append((done, of))
        if done > 200_000:
            raise InterruptedError

    load = {"requests": 1_000_000_000}
    with pytest.raises(InterruptedError):
        run(load=load, replications=3, workers=2, progress=progress)
    assert heard[-1][1] == 3_000_000_000
    assert heard == sorted(heard)
    words = ["run", "--device", "g2", "--set", "requests=1000000000", "--replications", "3"]
    assert interrupted_at_work(*words) == (130, "sledsim: interrupted\n")


def test_the_series_adds_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run(series=True)
    frame, summary = pl.DataFrame(done.series), done.summary
    span = (frame["end_ns"] - frame["start_ns"]) / 1e9
    assert frame["requests"].sum() == summary["requests"]
    assert frame["blocks"].sum() == summary["blocks_read"] + summary["blocks_written"]
    for joules in (frame["energy_j"].sum(), (frame["power_w"] * span).sum()):
        assert joules == pytest.approx(summary["energy_j"]["total"])
    # Little: time in the system of all requests = mean number in the system x time.
    in_system = summary["requests"] * summary["response_time_ms"]["mean"] / 1e3
    assert (frame["outstanding"] * span).sum() == pytest.approx(in_system)
    assert frame["end_ns"][-1] == round(1e9 * summary["simulated_s"])
    assert 512 <= len(frame) <= 1024
    # Windows of a chosen length, in files of both kinds.
    for name in ("out.csv", "out.parquet"):
        file = tmp_path / name
        words = [*RUN, "--set", "requests=3000", "--series", file, "--series-ms", "50"]
        assert output(capsys, *words).endswith(f"\nwritten: {file}\n")
        read = pl.read_csv(file) if name.endswith("csv") else pl.read_parquet(file)
        assert (read["end_ns"][:-1] - read["start_ns"][:-1]).unique().to_list() == [50_000_000]
        assert read["requests"].sum() == 3000
        assert read.columns == frame.columns
    for schema in (pa.schema(done.series), pq.read_schema(tmp_path / "out.parquet")):
        assert schema.field("power_w").metadata[b"unit"] == b"W"


def test_a_distribution_function_is_that_of_the_rows() -> None:
    done = run()
    rows = pl.DataFrame(done.rows)
    ops = rows["op"].cast(pl.String)
    times = (rows["completion_ns"] - rows["arrival_ns"]) / 1e6
    for op in (None, "read", "write"):
        exact = (times if op is None else times.filter(ops == op)).sort()
        points = done.cdf(op=op)
        assert points[-1][0] == pytest.approx(exact[-1])
        assert points[-1][1] == 1.0
        for ms, share in points:
            assert share == pytest.approx((exact <= ms * (1 + 1e-12)).sum() / len(exact))
    assert done.cdf("seek")[-1][0] == done.summary["seek_ms"]["max"]
    assert done.cdf(op="trim") == []


def test_a_picture_needs_neither_rows_nor_polars(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    for name, *more in (("a.png",), ("b.svg", "--replications=2"), ("c.png", "--set=max_queue=1")):
        output(capsys, *RUN, "--set", "requests=500", *more, "--plot", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5_000
