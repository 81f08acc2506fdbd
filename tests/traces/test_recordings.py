"""Recordings: rows with latenesses, replayed open and closed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss

Says: TypeAlias = Callable[[str], str]
Reads: TypeAlias = Callable[[str], Any]


def record(
    load: ss.Load, device: str = "g2", scheduler: str = "fcfs", *, parts: bool = False
) -> pl.DataFrame:
    """Leave the rows of a run in rec.parquet, and return them."""
    ss.simulate(load, ss.device(device), scheduler=scheduler, rows="rec.parquet", parts=parts)
    return pl.read_parquet("rec.parquet")


def rewrite(change: Callable[[dict[str, list[Any]]], None], count: int = 1000) -> pl.DataFrame:
    """Make rec.parquet an emulator's: a load one at a time, and latenesses, then changed."""
    record(ss.workload("random", queue_depth=1, think_ms=1.5, requests=count))
    table = pq.read_table("rec.parquet")
    late = [17 * i % 1_000_000 for i in range(len(table))]
    table = table.append_column("lateness_ns", pa.array(late, pa.int64()))
    columns = table.to_pydict()
    change(columns)
    pq.write_table(pa.table(columns, schema=table.schema), "rec.parquet")
    return pl.read_parquet("rec.parquet").sort("arrival_ns")


def rows(run: ss.Run) -> pl.DataFrame:
    """Return the rows of a run in the order of arrival."""
    return pl.DataFrame(run.rows).sort("arrival_ns", "id")


@pytest.mark.parametrize(
    "keys", [{}, {"think": "recorded"}, {"think": "recorded", "depends_on": "all"}]
)
@pytest.mark.parametrize("scheduler", ["fcfs", "sptf"])
def test_a_replay_on_the_same_device_is_the_recording(keys: dict[str, Any], scheduler: str) -> None:
    load = ss.workload("random", queue_depth=5, think_ms=0.3, requests=3000)
    recorded = record(load, scheduler=scheduler)
    assert recorded["arrival_ns"].is_sorted() == (scheduler == "fcfs")
    run = ss.simulate(ss.read_trace("rec.parquet", **keys), ss.device("g2"), scheduler=scheduler)
    assert rows(run).equals(recorded.sort("arrival_ns", "id"))
    assert run.workload["requests"] == 3000
    assert run.workload["sorted"] == 0


@pytest.mark.parametrize(("depth", "within"), [(1, 0), (5, 0.02)])
def test_a_closed_replay_is_as_fast_as_the_device(depth: int, within: float) -> None:
    load = ss.workload("random", queue_depth=depth, requests=3000)
    recorded = record(load)
    again = ss.read_trace("rec.parquet", think="recorded")
    slow = ss.device("g2", command_overhead_ms=2)
    run, itself = ss.simulate(again, slow), ss.simulate(load, slow)
    # Of several, a few are complete before others and release other requests.
    assert run.summary["duration_s"] == pytest.approx(itself.summary["duration_s"], rel=within)
    means = [each.summary["response_time_ms"]["mean"] for each in (run, itself)]
    assert means[0] == pytest.approx(means[1], rel=within)
    time = max(numbers(recorded, "completion_ns")) / 1e9
    assert run.workload["recorded_duration_s"] == pytest.approx(time, rel=1e-12)
    assert run.summary["duration_s"] > 1.5 * time
    assert run.workload["waited"] == 3000 - depth
    assert run.workload["mean_think_ms"] == 0
    assert run.workload["mean_lateness_ms"] == 0


def numbers(frame: pl.DataFrame, column: str) -> list[int]:
    """Return a column without nulls."""
    found: list[int] = frame[column].to_list()
    return found


def after(arrivals: list[int], ends: Iterable[int]) -> list[int]:
    """Return the times between the ends and the arrivals that follow."""
    return [at - before for at, before in zip(arrivals[1:], ends, strict=False)]


def test_the_lateness_of_replies_is_no_part_of_the_think_times() -> None:
    recorded = rewrite(lambda _: None)
    run = ss.simulate(ss.read_trace("rec.parquet", think="recorded"), ss.device("g2"))
    late = numbers(recorded, "lateness_ns")
    seen = map(sum, zip(numbers(recorded, "completion_ns"), late, strict=True))
    think = after(numbers(recorded, "arrival_ns"), seen)
    assert min(think) > 0
    again = rows(run)
    assert after(numbers(again, "arrival_ns"), numbers(again, "completion_ns")) == think
    assert run.workload["mean_lateness_ms"] == pytest.approx(sum(late) / 1e9, rel=1e-12)
    assert run.workload["mean_think_ms"] == pytest.approx(sum(think) / 999e6, rel=1e-12)
    # Open, only arrivals count.
    run = ss.simulate(ss.read_trace("rec.parquet"), ss.device("g2"))
    assert numbers(rows(run), "completion_ns") == numbers(recorded, "completion_ns")


def test_streams_and_the_devices_of_a_composite_need_no_key() -> None:
    load = ss.workload("sequential", rate=100, streams=4, requests=1000)
    recorded = record(load, "mcd", parts=True)
    assert recorded.filter(pl.col("device") != "mcd").height > 1000
    cases: list[dict[str, Any]] = [{}, {"think": "recorded"}]
    for keys in cases:
        run = ss.simulate(ss.read_trace("rec.parquet", **keys), ss.device("mcd"), parts=True)
        assert run.workload["requests"] == 1000
        assert run.workload["trace_device"] == "all"
        of = {device["device"]: device["requests"] for device in run.workload["devices"]}
        assert of == {0: 250, 1: 250, 2: 250, 3: 250}
        key = ["arrival_ns", "id", "device"]
        assert pl.DataFrame(run.rows).sort(key).equals(recorded.sort(key))
    one = ss.simulate(ss.read_trace("rec.parquet", trace_device=2), ss.device("mcd"))
    assert one.workload["requests"] == 250


def test_the_command_line(text: Says, document: Reads) -> None:
    record(ss.workload("random", queue_depth=5, requests=1000))
    line = "run --device g2 --trace rec.parquet --set think=recorded"
    assert "closed, 995 of 1,000 after a completion of its stream as recorded" in text(line)
    line += " --set depends_on=all --set time_scale=2"
    assert document(line)["workload"]["depends_on"] == "all"
    assert "after a completion as recorded, 2 times as fast" in text(line)
    assert document("trace info rec.parquet --quick")["arrivals"]["late_requests"] == 0
    rewrite(lambda _: None)
    report = document("trace convert rec.parquet -o out.trace")
    assert report["lost_fields"]["latenesses"] == 1000


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("completion_ns", 5, "row 4: completion_ns is 5: must not be before arrival_ns"),
        ("lateness_ns", -5, "row 4: lateness_ns is -5: .*from 0"),
        ("completion_ns", -5, "row 4: completion_ns is -5: .*from 0"),
        ("device", "other", r"several devices \(g2, other\).*outermost"),
    ],
)
def test_a_wrong_value_is_named(column: str, value: Any, words: str, refusal: Says) -> None:
    rewrite(lambda columns: columns[column].__setitem__(3, value), 20)
    line = "run --device g2 --trace rec.parquet --rows new.parquet"
    assert re.search(words, refusal(f"{line}{' --set think=recorded' * (value == -5)}"))
    assert [path.name for path in Path().iterdir()] == ["rec.parquet"]
