"""The Python interface: maps, calculators, repeatability, sums of results."""

from __future__ import annotations

import json
import math
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from hypothesis import given, settings
from hypothesis import strategies as st
from sledsim.cli import main

from tests.sleds import sled

if TYPE_CHECKING:
    from pathlib import Path

PRESETS = [name for name in ss.devices() if isinstance(ss.device(name), ss.Sled)]


def rows_of(run: ss.Run) -> pl.DataFrame:
    """Read the rows, names as strings."""
    return pl.DataFrame(run.rows).with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


# The map of blocks


def place(device: ss.Sled, lbn: int) -> tuple[int, int, int, int]:
    """Cylinder, track, row and cell of a block."""
    at = device.locate(lbn)
    return at.cylinder, at.track, at.row, at.cell


def shape(device: ss.Sled) -> tuple[int, int, int, int]:
    """How many cylinders, tracks, rows and cells there are."""
    derived = device.spec["derived"]
    names = ("cylinders", "tracks_per_cylinder", "rows_per_track", "blocks_per_row")
    cylinders, tracks, rows, cells = (int(derived[name]) for name in names)
    return cylinders, tracks, rows, cells


@pytest.mark.parametrize("name", PRESETS)
def test_places_and_blocks_are_one_to_one(name: str) -> None:
    device = sled(name)
    cylinders, tracks, rows, cells = shape(device)
    assert cylinders * tracks * rows * cells == device.blocks
    draw = random.Random(name)
    for lbn in [0, device.blocks - 1, *(draw.randrange(device.blocks) for _ in range(3000))]:
        assert device.lbn(*place(device, lbn)) == lbn
    for _ in range(3000):
        at = [draw.randrange(count) for count in (cylinders, tracks, rows, cells)]
        assert place(device, device.lbn(*at)) == tuple(at)


@pytest.mark.parametrize("name", PRESETS)
def test_a_cylinder_is_filled_before_the_next(name: str) -> None:
    device = sled(name)
    cylinders, tracks, rows, cells = shape(device)
    per_cylinder = tracks * rows * cells
    for cylinder in (0, 1, cylinders // 2, cylinders - 1):
        start = cylinder * per_cylinder
        places = {place(device, lbn) for lbn in range(start, start + per_cylinder)}
        assert places == set(product([cylinder], range(tracks), range(rows), range(cells)))


@given(
    counts=st.tuples(*(st.integers(1, most) for most in (7, 5, 6, 4))),
    tips_per_lbn=st.sampled_from([1, 2, 64]),
    servo_bits=st.integers(0, 20),
    spare_bits=st.integers(0, 30),
    lbn_map=st.sampled_from(["serpentine", "ascending"]),
)
@settings(max_examples=80)
def test_small_geometries_are_one_to_one(
    counts: tuple[int, ...], tips_per_lbn: int, servo_bits: int, spare_bits: int, lbn_map: str
) -> None:
    cylinders, tracks, rows, cells = counts
    sector_bits = 4096 // tips_per_lbn
    y_bits = rows * (sector_bits + servo_bits) + servo_bits + min(spare_bits, sector_bits - 1)
    device = sled(
        "g2",
        bit_cell_nm=2,
        travel_x_um=round(0.002 * cylinders, 3),
        travel_y_um=round(0.002 * y_bits, 3),
        tips=tracks * cells * tips_per_lbn,
        active_tips=cells * tips_per_lbn,
        tips_per_lbn=tips_per_lbn,
        tip_sector_bits=sector_bits,
        servo_bits=servo_bits,
        lbn_map=lbn_map,
    )
    assert shape(device) == counts
    assert device.blocks == cylinders * tracks * rows * cells
    everywhere = set(product(*map(range, counts)))
    assert {place(device, lbn) for lbn in range(device.blocks)} == everywhere
    # A row of a track is read at once: its tips do not overlap, and are of its track.
    for row in range(rows):
        places = [device.locate(device.lbn(0, 0, row, cell)) for cell in range(cells)]
        tips = [tip for at in places for tip in at.tips]
        assert tips == list(range(cells * tips_per_lbn))
    # Blocks lie within the travel of the sled.
    for lbn in range(device.blocks):
        assert device.lbn(*place(device, lbn)) == lbn
        at = device.locate(lbn)
        assert abs(at.x_m) <= 0.5e-6 * 0.002 * cylinders * (1 + 1e-9)
        assert abs(at.y_m) <= 0.5e-6 * 0.002 * (y_bits + 1) * (1 + 1e-9)


def test_neighbours_are_a_bit_apart() -> None:
    device = ss.device("g2")
    first, second = device.locate(device.lbn(0, 0, 0, 0)), device.locate(device.lbn(1, 0, 1, 0))
    assert second.x_m - first.x_m == pytest.approx(40e-9, rel=1e-6)
    assert second.y_m - first.y_m == pytest.approx(90 * 40e-9, rel=1e-6)


# Seeks and accesses


def test_up_is_towards_higher_y() -> None:
    device = ss.device("g2")
    upwards = device.seek((0, 0, "up"), (0, 20e-6, "up"))
    assert upwards.turns == 0
    assert upwards == device.seek((0, 0, 1), (0, 20e-6, 1))
    assert upwards == device.seek((0, 0, "down"), (0, -20e-6, "down"))
    # X and Y move in parallel, and the longer counts.
    both = device.seek((0, 0, "up"), (1e-6, 20e-6, "up"))
    assert both.y_seek_s == upwards.seek_s
    assert both.seek_s == max(both.x_seek_s, both.y_seek_s)
    assert both.settle_s == pytest.approx(1 / (2 * math.pi * 739), rel=1e-12)


def pass_start(device: ss.Sled, step: ss.hardware.Step, direction: int) -> tuple[float, float, int]:
    """Where a pass of g2 starts: upwards before its servo bits, downwards past the upper ones.

    If the sled turns in place, it starts where the other ends.
    """
    at = device.locate(step.lbn)
    above_m = (90 if device.parameters.get("turn") == "in_place" else 100) * 40e-9
    return at.x_m, at.y_m + (0 if direction == 1 else above_m), direction


@given(
    lbn=st.integers(0, 6_749_000),
    blocks=st.integers(1, 900),
    x_um=st.integers(-1250, 1249).map(lambda bit: 0.04 * bit),
    y_um=st.floats(-50, 50),
    up=st.booleans(),
    keys=st.sampled_from([{}, {"kinematics": "piecewise"}, {"turn": "in_place"}]),
)
@settings(max_examples=60)
def test_an_access_is_seeks_and_rows(
    lbn: int, blocks: int, x_um: float, y_um: float, up: bool, keys: dict[str, Any]
) -> None:
    device = ss.device("g2", **keys)
    point = (1e-6 * x_um, 1e-6 * y_um, 1 if up else -1)
    access = device.access(lbn, blocks, start=point)
    at = point
    parts = ("seek_s", "x_seek_s", "y_seek_s", "settle_s", "turns")
    for step in access.steps:
        start = pass_start(device, step, step.direction)
        seek = device.seek(at, start)
        for part in parts:
            assert getattr(step, part) == pytest.approx(getattr(seek, part), rel=1e-9, abs=1e-15)
        other = pass_start(device, step, -step.direction)
        assert step.seek_s <= device.seek(at, other).seek_s * (1 + 1e-12), "the faster way"
        at = (start[0], start[1] + step.direction * 90 * 40e-9, step.direction)
    assert at == pytest.approx(access.end, abs=1e-15)
    # 90 bits of 40 nm at 28 mm/s a row; the blocks in order, a row's at once.
    assert access.transfer_s == pytest.approx(access.passes * 90 * 40e-9 / 0.028, rel=1e-12)
    assert access.steps[0].lbn == lbn
    assert all(a.lbn + a.blocks == b.lbn for a, b in pairwise(access.steps))
    assert sum(step.blocks for step in access.steps) == blocks
    # A pass takes what lies in one row of one cylinder, as much of it as 1280 tips can.
    before = None
    for step in access.steps:
        ends = [device.locate(lbn) for lbn in (step.lbn, step.lbn + step.blocks - 1)]
        row, last_row = ((end.cylinder, end.row) for end in ends)
        assert row == last_row
        assert row != before
        before = None if step.blocks == 20 else row
    assert access.total_s == pytest.approx(access.seek_s + access.transfer_s, rel=1e-12)
    assert device.access(lbn, blocks, "write", point) == access


# Repeatability

RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "open": ({}, {"rate": 900, "requests": 3000, "seed": 3}),
    "closed": ({"kinematics": "piecewise"}, {"queue_depth": 7, "requests": 3000}),
    "think": ({"idle": "coast"}, {"think_ms": 40, "requests": 2000, "read_fraction": 0.2}),
    "sizes": (
        {"direction": "best_run"},
        {"size": "exponential", "mean_size_kib": 80, "requests": 1500},
    ),
    "disksim": ({"kinematics": "disksim"}, {"rate": 400, "requests": 2000, "blocking": 8}),
}


def run_of(name: str, **options: Any) -> ss.Run:
    """Do one of the runs."""
    device, load = RUNS[name]
    run: ss.Run = ss.simulate(ss.workload("random", **load), ss.device("g2", **device), **options)
    return run


@pytest.mark.parametrize("name", RUNS)
def test_the_same_seed_gives_the_same_results(name: str, tmp_path: Path) -> None:
    first, second = run_of(name), run_of(name)
    assert first.to_dict() == second.to_dict()
    assert rows_of(first).equals(rows_of(second))
    for file in ("a.parquet", "b.parquet"):
        assert run_of(name, rows=tmp_path / file).to_dict() == first.to_dict()
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert run_of(name, rows=False).to_dict() == first.to_dict()


def test_another_seed_gives_other_results() -> None:
    loads = [ss.workload("random", rate=500, requests=500, seed=seed) for seed in (1, 2)]
    first, second = (rows_of(ss.simulate(load, "g2")) for load in loads)
    assert not first["lbn"].equals(second["lbn"])
    assert not first["arrival_ns"].equals(second["arrival_ns"])


def test_threads_change_nothing() -> None:
    names = list(RUNS) * 4
    alone = {name: run_of(name) for name in RUNS}
    with ThreadPoolExecutor(max_workers=8) as pool:
        together = list(pool.map(run_of, names))
    for name, run in zip(names, together, strict=True):
        assert run.to_dict() == alone[name].to_dict()
        assert rows_of(run).equals(rows_of(alone[name]))


def test_other_threads_run_meanwhile() -> None:
    load, device = ss.workload("random", requests=300_000), ss.device("g2")
    run = threading.Thread(target=ss.simulate, args=(load, device), kwargs={"rows": False})
    run.start()
    turns = 0
    while run.is_alive():
        turns += 1
    assert turns > 100  # one, had the simulation kept the interpreter to itself


# Results that add up

SERVED = ("seek", "rotation", "head_switch", "transfer", "retry", "other")
PARTS = ("overhead", "queue", "bus", *SERVED)


@pytest.mark.parametrize("name", RUNS)
def test_the_parts_of_every_row_add_up(name: str) -> None:
    rows = rows_of(run_of(name))
    parts = rows.select(pl.sum_horizontal(f"{part}_ns" for part in PARTS)).to_series()
    assert parts.equals(rows["completion_ns"] - rows["arrival_ns"], check_names=False)
    assert rows["start_ns"].ge(rows["arrival_ns"]).all()
    waited = rows["overhead_ns"] + rows["queue_ns"]
    assert (rows["start_ns"] - rows["arrival_ns"] == waited).all()
    # Parts of a nanosecond are rounded by pass.
    most, both = rows["seek_ns"] + rows["passes"], rows["x_seek_ns"] + rows["y_seek_ns"]
    assert (rows["x_seek_ns"] <= most).all()
    assert (rows["y_seek_ns"] <= most).all()
    assert (rows["seek_ns"] <= both + rows["passes"]).all()
    assert (rows["settle_ns"] <= rows["x_seek_ns"]).all()
    assert (rows["turnaround_ns"] <= rows["y_seek_ns"]).all()
    assert sorted(rows["id"]) == list(range(len(rows)))


def found_on_arrival(rows: pl.DataFrame) -> list[int]:
    """Count for each request those that arrived before it and are not complete."""
    found: list[int] = []
    there: list[int] = []
    for arrival, completion in rows.sort("id")["arrival_ns", "completion_ns"].iter_rows():
        there = [end for end in there if end > arrival]
        found.append(len(there))
        there.append(completion)
    return found


def brute_force(times: list[int]) -> dict[str, float | None]:
    """Compute statistics of nanoseconds exactly, as milliseconds."""
    count = len(times)
    mean = Fraction(sum(times), count)
    variance = sum((time - mean) ** 2 for time in times) / count
    return {
        "mean": float(mean) / 1e6,
        "sd": float(variance) ** 0.5 / 1e6,
        "scv": float(variance / mean**2) if mean else None,
        "max": max(times) / 1e6,
    }


@pytest.mark.parametrize("name", RUNS)
def test_the_summary_is_that_of_the_rows(name: str) -> None:
    run = run_of(name)
    rows, summary = rows_of(run), run.to_dict()["summary"]
    times = {"response_time": rows["completion_ns"] - rows["arrival_ns"]}
    times["service_time"] = sum((rows[f"{part}_ns"] for part in SERVED[1:]), rows["seek_ns"])
    assert summary["mechanism_requests"] == len(rows)  # there is no buffer
    parts = (*PARTS, "x_seek", "y_seek", "settle", "turnaround")
    times |= {part: rows[f"{part}_ns"] for part in parts}
    for kind, column in times.items():
        told = summary[f"{kind}_ms"]
        ordered = sorted(column)
        for key, value in brute_force(ordered).items():
            assert told[key] == (None if value is None else pytest.approx(value, rel=1e-12)), kind
        shares = {"p50": 5000, "p90": 9000, "p99": 9900, "p99_9": 9990, "p99_99": 9999}
        for key, share in shares.items():
            exact = ordered[-(-share * len(ordered) // 10_000) - 1]  # nearest rank
            assert exact <= round(told[key] * 1e6) <= exact + exact // 1024, (kind, key)
    span_s = (max(rows["completion_ns"]) - min(rows["arrival_ns"])) / 1e9
    for op in ("read", "write"):
        found = rows.filter(pl.col("op") == op)
        assert summary[f"{op}s"] == len(found)
        assert (
            summary["blocks_" + {"read": "read", "write": "written"}[op]] == found["blocks"].sum()
        )
    assert (summary["requests"], summary["passes"]) == (len(rows), rows["passes"].sum())
    assert summary["duration_s"] == pytest.approx(span_s, rel=1e-14)
    assert summary["throughput_iops"] == pytest.approx(len(rows) / span_s, rel=1e-12)
    moved_mb = 512e-6 * int(rows["blocks"].sum())
    assert summary["throughput_mb_s"] == pytest.approx(moved_mb / span_s, rel=1e-12)
    others = found_on_arrival(rows)
    assert summary["mean_queue_depth"] == pytest.approx(sum(others) / len(others), rel=1e-12)
    assert summary["max_queue_depth"] == max(others)
    within_s = sum(times["response_time"]) / 1e9
    assert summary["mean_outstanding"] == pytest.approx(within_s / span_s, rel=1e-12)
    energy_j = int(rows["energy_nj"].sum()) / 1e9
    assert summary["request_energy_j"] == pytest.approx(energy_j, rel=1e-12)
    active_s = summary["simulated_s"] - min(rows["arrival_ns"]) / 1e9
    share = sum(times["service_time"]) / 1e9 / active_s
    assert summary["utilisation"] == pytest.approx(share, rel=1e-9)
    assert summary["busiest"] == "g2"
    sled, bus = summary["mechanisms"]
    assert (sled["host"], sled["other"]) == (summary["utilisation"], 0)
    assert (bus["name"], bus["other"]) == ("g2.bus", 0)


@pytest.mark.parametrize("name", RUNS)
def test_requests_are_served_in_order_without_pause(name: str) -> None:
    # First come, first served. The bus takes commands, then the data of writes at once, and the
    # data of reads as they come off the media; a request starts when its command is in and the
    # sled is free.
    rows = rows_of(run_of(name)).sort("id")
    assert rows["start_ns"].is_sorted()
    media = rows["seek_ns"] + rows["transfer_ns"] + rows["other_ns"]
    free = (rows["start_ns"] + media).shift(1, fill_value=0)
    command = rows["arrival_ns"] + rows["overhead_ns"]
    assert (rows["start_ns"] >= free).all()
    assert (rows["start_ns"] >= command).all()
    late = (rows["start_ns"] > free) & (rows["start_ns"] > command)
    # It starts later only if the bus was busy when it arrived: with the request before.
    busy_until = rows["completion_ns"].cum_max().shift(1, fill_value=0)
    assert (busy_until.filter(late) > rows["arrival_ns"].filter(late)).all()


def test_progress_is_told() -> None:
    heard: list[tuple[int, int | None]] = []
    load = ss.workload("random", requests=1_000_000)
    ss.simulate(load, "g2", rows=False, progress=lambda *at: heard.append(at))
    done, of = zip(*heard, strict=True)
    assert {*of} == {1_000_000}
    assert 0 < done[0] <= done[-1] <= 1_000_000
    assert list(done) == sorted(done)


def test_the_sample_trace_is_what_its_description_says() -> None:
    about = ss.sample_traces()["postmark-ext4"]
    run = ss.simulate(ss.read_trace("sample:postmark-ext4"), ss.device("g2"))
    rows = rows_of(run)
    figures = about["figures"]
    assert len(rows) == figures["requests"]
    assert rows.filter(pl.col("op") == "read")["blocks"].sum() == figures["blocks_read"]
    assert rows.filter(pl.col("op") == "write")["blocks"].sum() == figures["blocks_written"]
    assert (rows["lbn"] + rows["blocks"]).max() == figures["end_lbn"]
    assert run.workload["address"] == "error"
    half = ss.simulate(ss.read_trace("sample:postmark-ext4", time_scale=2), ss.device("g2"))
    assert ((rows_of(half)["arrival_ns"] - rows["arrival_ns"] / 2).abs() <= 0.5).all()


def test_a_table_of_a_device_is_a_mapping() -> None:
    buffer = {"size_kib": 64, "segments": 2, "read_ahead": "track"}
    device = ss.device("g2", buffer=buffer)
    given = {key: value for key, value in device.parameters.items() if key.startswith("buffer.")}
    assert given == {f"buffer.{key}": value for key, value in buffer.items()}


def test_yardsticks_need_no_seek() -> None:
    load = ss.workload("random", requests=2000, read_fraction=1.0, queue_depth=4)
    sled = ss.simulate(load, device=ss.device("g3")).summary["response_time_ms"]["p50"]
    for name in ("flash", "memory"):
        summary = ss.simulate(load, device=ss.device(name)).summary
        assert summary["seek_ms"]["max"] == 0
        assert summary["response_time_ms"]["max"] < sled


def test_internal_requests_of_a_buffer_are_in_the_energy() -> None:
    buffer = {"size_kib": 256, "segments": 4, "read_ahead": 40, "write_back_segments": 2}
    load = ss.workload("random", requests=2000, rate=100)
    summary = ss.simulate(load, device=ss.device("g2", buffer=buffer)).to_dict()["summary"]
    energy = dict(summary["energy_j"])
    total = energy.pop("total")
    assert sum(energy.values()) == pytest.approx(total)
    assert min(energy["read_ahead"], energy["destage"]) > 0
    assert summary["utilisation"] < 1
    # The sled draws 50 to 100 mW all the time, and 1 mW per tip in use above that.
    assert 0.05 * summary["simulated_s"] < total < 1.4 * summary["simulated_s"]


def mean_ms(run: ss.Run) -> float:
    return run.summary["response_time_ms"]["mean"]


def test_loads_and_devices_are_taken_as_names_mappings_and_objects(tmp_path: Path) -> None:
    buffer = {"size_kib": 64, "segments": 2}
    stiff: dict[str, object] = {"base": "g2", "buffer": buffer, "spring_factor": 0.5}
    brief: dict[str, object] = {"base": "random", "rate": 200, "requests": 500}
    made = ss.device("g2", spring_factor=0.5, buffer=buffer)
    load = ss.workload("random", rate=200, requests=500)
    wanted = mean_ms(ss.simulate(load, made))
    assert mean_ms(ss.simulate(brief, stiff)) == wanted
    assert mean_ms(ss.simulate(brief, ss.device(stiff))) == wanted
    assert mean_ms(ss.simulate(load, ss.device({"base": "g2"}, spring_factor=0.1))) != wanted
    own = tmp_path / "own.toml"
    own.write_text('base = "g2"\ntitle = "Own"\n')
    assert ss.device({"base": own, "spring_factor": 0.0}).parameters["spring_factor"] == 0
    wider = ss.device(stiff, buffer={"segments": 4}).parameters
    assert (wider["buffer.size_kib"], wider["buffer.segments"]) == (64, 4), "key by key"
    assert stiff["base"] == "g2", "the mapping is left as it is"
    (row,) = ss.compare(brief, [stiff]).to_dict()["runs"]
    assert row["summary"]["response_time_ms"]["mean"] == wanted
    assert ss.loads.load_info(brief, device=stiff)["requests"] == 500
    trace = {"base": "sample:postmark-ext4", "queue_depth": 1}
    assert ss.simulate(trace, {"base": "g2"}).summary["requests"] > 1000


def test_scenarios_run_as_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert "mcd-hplajw-like" in ss.scenarios()
    for name in ("mcd-hplajw-like", "tip-failures"):
        made = ss.scenario(name)
        assert main(["run", name, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        ran = ss.simulate(*made, rows=False)
        assert ran.to_dict()["summary"] == said["summary"], name
    assert set(ss.workloads()) >= {"random", "mix", "hplajw"}
