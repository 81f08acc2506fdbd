"""Errors of disks: retries, a weak head, remapped sectors, slow episodes; simulated and served."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.emulator.control import Control, ask

from tests.physics.test_modern_disks import drive
from tests.served import READ, Serve, rows, same, samples

if TYPE_CHECKING:
    from pathlib import Path

EIO = 5
REVOLUTION_NS = 25_000_000 / 3
COUNTS = ["passes_retried", "retries", "passes_unrecovered", "remapped_accesses", "passes_delayed"]
SLOW: dict[str, Any] = {"episodes_per_hour": 60, "episode_ms": 500}


def random_reads(depth: int, requests: int = 1500) -> ss.Load:
    return ss.workload("random", queue_depth=depth, requests=requests, read_fraction=1)


def sparse(requests: int = 4000, gap_ms: int = 100, op: str = "read") -> ss.Load:
    """Make requests of 4 KiB so far apart that none waits for another."""
    most = drive().blocks // 8 - 1
    frame = pl.DataFrame({"ms": [gap_ms * index for index in range(requests)]}).with_columns(
        lbn=pl.Series([8 * (index * 2_654_435_761 % most) for index in range(requests)]),
        blocks=pl.lit(8),
        op=pl.lit(op),
    )
    return ss.read_trace(frame, columns="time=ms:ms, offset=lbn:512B, bytes=blocks:512B, op=op")


def rows_of(load: ss.Load, **keys: Any) -> pl.DataFrame:
    return rows(ss.simulate(load, drive(**keys)))


def response_ns(found: pl.DataFrame) -> pl.Series:
    return found["completion_ns"] - found["arrival_ns"]


def is_binomial(hits: int, trials: int, chance: float) -> bool:
    """Whether so many hits are within five standard deviations."""
    return abs(hits - trials * chance) < 5 * sqrt(trials * chance * (1 - chance))


def devices(run: ss.Run) -> dict[str, Any]:
    return dict(run.summary["devices"][0])


def test_retries_add_whole_revolutions_to_the_nanosecond() -> None:
    load = sparse()
    with_faults = rows_of(load, faults={"retry_rate": 0.1, "retry_revolutions": [2, 5]})
    without = rows_of(load)
    retries = with_faults["retries"].to_list()
    expected = [int(count * REVOLUTION_NS + 1e-6) for count in retries]
    assert (response_ns(with_faults) - response_ns(without)).to_list() == expected
    assert with_faults["retry_ns"].to_list() == expected
    assert set(retries) == {0, 2, 3, 4, 5}
    retried = len(retries) - retries.count(0)
    assert is_binomial(retried, len(retries), 0.1)
    assert all(is_binomial(retries.count(count), retried, 1 / 4) for count in range(2, 6))
    assert set(with_faults["status"]) == {"ok"}


def test_a_weak_head_is_that_of_locate() -> None:
    faults = {"retry_rate": 0.02, "weak_head": 3, "weak_head_retry_rate": 0.5}
    read, disk = rows_of(sparse(), faults=faults), drive()
    heads = [disk.locate(lbn).head for lbn in read["lbn"]]
    read = read.with_columns(weak=pl.Series([head == 3 for head in heads]))
    for weak, rate in ((True, 0.5), (False, 0.02)):
        own = read.filter(pl.col("weak") == weak)["retries"]
        assert len(own) > 500
        assert is_binomial(int((own > 0).sum()), len(own), rate)


def test_a_tail_as_of_a_measured_drive() -> None:
    """The p99.9 of a consumer drive was 103 ms where the p99 was 28 ms."""
    load = random_reads(1, 20_000)
    faults = {"retry_rate": 0.002, "retry_revolutions": [9, 13]}
    good, poor = (ss.simulate(load, drive(faults=of)) for of in ({}, faults))
    times = poor.summary["response_time_ms"]
    before = good.summary["response_time_ms"]
    assert times is not None
    assert before is not None
    assert times["p99"] == pytest.approx(before["p99"], rel=0.02)
    assert before["p99_9"] < 30
    assert 80 < times["p99_9"] < 130


def test_remapped_sectors_are_at_the_same_places_in_every_run() -> None:
    """Only they take longer, and by the way to the end of their zone and back at least."""
    load = sparse()
    runs = [rows_of(load, faults={"remapped": 1_000_000, "seed": seed}) for seed in (1, 1, 2)]
    assert runs[0].equals(runs[1])
    without = rows_of(load)
    share = 8 * 1e6 / drive().blocks
    moved = [
        set(run.filter(response_ns(run) > response_ns(without))["lbn"].to_list()) for run in runs
    ]
    assert moved[0] != moved[2]
    assert all(is_binomial(len(lbns), len(without), share) for lbns in moved)
    disk = drive()
    for row, before in zip(runs[0].to_dicts(), without.to_dicts(), strict=True):
        count = row["passes"] - 1
        assert (count > 0) == (row["lbn"] in moved[0])
        zone = next(
            zone
            for zone in disk.zones()
            if zone.first_lbn <= row["lbn"] < zone.first_lbn + zone.blocks
        )
        if count:
            last = disk.locate(zone.first_lbn + zone.blocks - 1).cylinder
            cylinders = last - disk.locate(row["lbn"]).cylinder
            assert row["cylinders"] - before["cylinders"] in range(
                2 * count * (cylinders - 100), 2 * count * cylinders + 1
            )
            assert row["seek_ns"] > before["seek_ns"]


@pytest.mark.parametrize("factor", [None, 4])
def test_the_ledger_has_all_that_an_episode_delayed_and_nothing_else(factor: float | None) -> None:
    load = sparse(gap_ms=1000)
    faults = SLOW if factor is None else SLOW | {"episode_factor": factor}
    run = ss.simulate(load, drive(faults=faults))
    found, without = rows(run), rows_of(load)
    episodes = devices(run)["episodes"]
    ends = pl.Series([episode["end_ns"] for episode in episodes])
    assert len(episodes) == pytest.approx(4000 / 60, abs=5 * sqrt(4000 / 60))
    assert (ends - pl.Series([episode["begin_ns"] for episode in episodes]) == 5e8).all()
    listed = {each["id"]: each["by_ns"] for episode in episodes for each in episode["delayed"]}
    assert sorted(listed) == [
        row["id"]
        for row in found.to_dicts()
        if any(one["begin_ns"] <= row["start_ns"] < one["end_ns"] for one in episodes)
    ]
    assert len(listed) > 10
    for row, before in zip(found.to_dicts(), without.to_dicts(), strict=True):
        assert row["other_ns"] == listed.get(row["id"], 0)
        if row["id"] not in listed:
            assert row == before
        elif factor is None:
            assert row["completion_ns"] > min(end for end in ends if end > row["start_ns"])
    assert devices(run)["counts"]["passes_delayed"] == len(listed)


def test_parts_add_up_and_a_table_without_effect_changes_nothing() -> None:
    load = random_reads(8)
    faults = SLOW | {"retry_rate": 0.2, "unrecovered_rate": 0.1, "remapped": 1_000_000}
    keys: dict[str, Any] = {"queue": {"entries": 32}, "cache": {"blocks": 65_536}}
    found = rows_of(load, faults=faults, **keys)
    parts = ["queue", "overhead", "seek", "rotation", "head_switch", "transfer", "bus"]
    parts += ["retry", "other"]
    total = found.select(pl.sum_horizontal(f"{part}_ns" for part in parts)).to_series()
    assert (total == response_ns(found)).all()
    assert set(found["status"]) == {"ok", "error"}
    for empty in ({}, {"seed": 5}, {"retry_rate": 0, "remapped": 0}):
        run = ss.simulate(load, drive(faults=empty, **keys))
        assert run.rows == ss.simulate(load, drive(**keys)).rows
        assert devices(run).keys() == {"name", "energy_j", "counts"}
        assert not devices(run)["counts"]


def test_copies_take_the_place_of_what_a_disk_cannot_read(tmp_path: Path) -> None:
    """An array takes a disk for lost with its first error, as it does a sled."""
    poor = drive(faults={"retry_rate": 0.01, "unrecovered_rate": 1})
    (tmp_path / "poor.toml").write_text(poor.to_toml())
    (tmp_path / "good.toml").write_text(drive().to_toml())
    pair = tmp_path / "pair.toml"
    children = [f'[[child]]\nbase = "{tmp_path / name}.toml"' for name in ("poor", "good")]
    pair.write_text("\n".join(['title = "copies"', 'kind = "raid1"', *children]))
    load = random_reads(1)
    alone = ss.simulate(load, poor)
    assert is_binomial(alone.summary["errors"], alone.requests, 0.01)
    run = ss.simulate(load, pair)
    assert run.summary["errors"] == 0
    assert devices(run)["counts"]["failed_children"] == 1


# Served


def test_a_served_disk_errs_as_the_simulated_one(
    runtime: Path, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    faults: dict[str, Any] = {"retry_rate": 0.5, "unrecovered_rate": 0.5, "remapped": 1_000_000}
    faults |= {"episodes_per_hour": 20_000, "episode_ms": 60, "episode_factor": 2}
    recording, control = runtime / "rows.parquet", runtime / "c.control"
    server, client = serve(drive(), name="d", faults=faults, record=recording, speed=100.0)
    errors = []
    for index in range(300):
        errors.append(client.error(READ, 4096 * (index * 2_654_435_761 % 400_000_000), 4096))
        if errors[-1] == 0:
            client.take(4096)
    told = Control(server, control)
    text = ask(control, "/metrics")
    assert main(["top", str(control), "--once"]) == 0
    told.close()
    (status,) = server.stop()["exports"]
    assert set(errors) == {0, EIO}
    assert is_binomial(errors.count(EIO), 300, 0.25)
    run = ss.simulate(ss.read_trace(recording, time_origin="file"), drive(faults=faults))
    same(
        rows(recording),
        rows(run),
        ("completion_ns", "retries", "retry_ns", "other_ns", "status", "passes"),
    )
    found = status["summary"]["devices"][0]
    assert found["counts"] == devices(run)["counts"]
    delayed = [one["delayed"] for one in devices(run)["episodes"] if one["delayed"]]
    assert [one["delayed"] for one in found["episodes"] if one["delayed"]] == delayed
    assert len(delayed) > 3
    told_faults = [each for each in samples(text) if each.name == "sledsim_disk_faults_total"]
    assert {each.labels["kind"]: each.value for each in told_faults} == found["counts"]
    lines = capsys.readouterr().out.splitlines()
    title = next(at for at, line in enumerate(lines) if "passes retried" in line)
    assert lines[title + 1].split()[2:] == [str(found["counts"][key]) for key in COUNTS]
