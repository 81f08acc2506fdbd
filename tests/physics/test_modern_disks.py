"""Drives of today: their queue, their write cache, FLUSH, FUA and physical sectors."""

from __future__ import annotations

from typing import Any

import pytest
import sledsim as ss

from tests.physics.made import requests, sheet_disk

PLAIN: dict[str, Any] = {"buffer.write_back": "none", "buffer.read_ahead": "none"}
CACHE: dict[str, Any] = {"blocks": 65_536, "runs": 256, "idle_ms": 20.0}
QUEUE: dict[str, Any] = {"entries": 32}
REVOLUTION_MS = 60e3 / 7200


SHEET = {"capacity_tb": 2, "platters": 2, "outer_mb_s": 210, "inner_mb_s": 100}
SEEKS = {"seek_track_ms": 1, "seek_average_ms": 8, "seek_full_ms": 16}


def drive(**keys: Any) -> Any:
    return ss.device(sheet_disk(**SHEET, **SEEKS), **(PLAIN | keys))


def responses_ms(run: ss.Run) -> list[float]:
    rows = run.to_polars().sort("id")
    return ((rows["completion_ns"] - rows["arrival_ns"]) / 1e6).to_list()


# The queue


def served(keys: dict[str, Any], *given: tuple[float, int, int, str]) -> list[float]:
    """Serve (ms, lbn, blocks, op); return the response times."""
    return responses_ms(ss.simulate(requests(*given), drive(**keys)))


@pytest.mark.parametrize(
    ("depth", "keys", "scheduler", "like"),
    [
        # A queue that holds all without a margin is SPTF.
        *((depth, {"entries": 64}, "fcfs", "sptf") for depth in (1, 8, 40)),
        # A queue of one, and no patience, are first come, first served.
        (24, {"entries": 1}, "fcfs", "fcfs"),
        (24, {"entries": 32, "age_limit_ms": 0}, "fcfs", "fcfs"),
        # The scheduler orders what waits in the host.
        (24, {"entries": 1}, "sptf", "sptf"),
    ],
)
def test_a_queue_is_like_a_scheduler(
    depth: int, keys: dict[str, Any], scheduler: Any, like: Any
) -> None:
    load = ss.workload("random", queue_depth=depth, requests=1500, read_fraction=1)
    ours = ss.simulate(load, drive(queue=keys), scheduler)
    assert ours.rows == ss.simulate(load, drive(), like).rows


def test_a_margin_is_time_to_spare() -> None:
    """Each is the one that would be reached first by a head that starts a margin later."""
    margin_ms = 2.0
    device = drive(queue={"entries": 64, "margin_ms": margin_ms}, command_overhead_ms=0)
    picks: list[tuple[float, list[int], list[float]]] = []

    class Later:
        def __deepcopy__(self, memo: object) -> Later:
            return self

        def pick(self, queue: ss.Queue, now_ms: float) -> int:
            picks.append((now_ms, queue.id.tolist(), queue.positioning_ms.tolist()))
            return 0

    load = requests((0.0, 0, 8, "R"), *((0.1, 10**9 // 7 * n, 8, "R") for n in range(1, 17)))
    order = ss.simulate(load, device).to_polars().sort("start_ns")["id"].to_list()
    ss.simulate(load, drive(command_overhead_ms=0), Later())
    now_ms, ids, positioning_ms = picks[1]
    assert len(ids) == 16
    # With the margin, a sector that passes within it counts as a revolution later.
    arm, cost = device.locate(0).cylinder, []
    for id_, ms in zip(ids, positioning_ms, strict=True):
        seek_ms = device.seek_ms(abs(device.locate(10**9 // 7 * id_).cylinder - arm))
        cost.append((ms + (REVOLUTION_MS if ms - seek_ms < margin_ms else 0), id_))
    assert order[1] == min(cost)[1]
    assert now_ms > 0


def test_an_old_request_comes_first() -> None:
    limit_ms = 60.0
    near = [(0.2 + n, 8 * n, 8, "R") for n in range(300)]
    patient, limited = (
        served(
            {"queue": {"entries": 400} | more}, (0.0, 0, 8, "R"), (0.1, 3 * 10**9, 8, "R"), *near
        )
        for more in ({}, {"age_limit_ms": limit_ms})
    )
    assert patient[1] > 2 * limit_ms
    assert limit_ms < limited[1] < limit_ms + 40


# The cache


def test_cached_writes_take_the_command_and_the_bus() -> None:
    writes = [(100.0 * n, 10**8 * (n % 37), 8, "W") for n in range(40)]
    device = drive(cache=CACHE).parameters
    expected = device["command_overhead_ms"] + 8 * device["bus_ms_per_block"]
    assert served({"cache": CACHE}, *writes) == pytest.approx([expected] * 40, abs=1e-5)
    assert min(served({}, *writes)) > 1


def test_a_flush_waits_for_all_and_all_wait_for_it() -> None:
    writes = [(0.3 * n, 10**8 * (n * 7 % 37), 8, "W") for n in range(30)]
    load = requests(*writes, (9.0, 0, 0, "F"), (10.0, 3 * 10**9, 8, "R"), (11.0, 0, 8, "W"))
    run = ss.simulate(load, drive(cache=CACHE))
    flush_ns, *behind_ns = run.to_polars().sort("id")["completion_ns"][30:].to_list()
    *cached, took_ms, _, _ = responses_ms(run)
    assert max(cached) < 1
    # The nearest first: not less than a rotation each in the mean, and less than at random.
    alone = ss.workload("random", queue_depth=1, requests=500, read_fraction=0)
    random_ms = 30e3 / ss.simulate(alone, drive()).summary["throughput_iops"]
    assert 30 * 2 < took_ms < 0.8 * random_ms
    assert min(behind_ns) > flush_ns
    # A second flush has nothing to do, but for the write behind the first.
    twice = ((9.0, 0, 0, "F"), (5000.0, 0, 0, "F"))
    assert served({"cache": CACHE}, *writes, *twice)[-1] < 1


def test_it_takes_as_many_runs_and_blocks_as_it_holds() -> None:
    writes = [(0.001 * n, 10**8 * (n % 37), 8, "W") for n in range(30)]
    for keys in ({"runs": 10}, {"blocks": 80}):
        took = served({"cache": CACHE | keys}, *writes)
        at_once = [ms < 8 for ms in took]
        assert at_once[:10] == [True] * 10
        assert not any(at_once[11:])
        assert took[10:] == sorted(took[10:])
    (through,) = served({"cache": CACHE | {"blocks": 80}}, (0.0, 0, 100, "W"))
    assert through > 1


def test_reads_find_what_is_cached() -> None:
    keys = {"cache": CACHE | {"idle_ms": 1000.0}, "buffer.keep": "nothing"}
    _, whole, part, over, *_, both = served(
        keys,
        (0.0, 1000, 16, "W"),
        (1.0, 1000, 16, "R"),
        (2.0, 1004, 4, "R"),
        (3.0, 1008, 16, "R"),
        (200.0, 1000, 8, "W"),
        (200.5, 1004, 8, "W"),
        (201.0, 1000, 12, "R"),
    )
    assert max(whole, part, both) < 1
    assert over > 1


@pytest.mark.parametrize(
    ("idle_ms", "mark", "writes", "after_ms", "moves"),
    [
        (1e6, 1.0, 10, 1000.0, False),
        (20.0, 1.0, 10, 15.0, False),
        (20.0, 1.0, 10, 30.0, True),
        (1e6, 0.25, 4, 30.0, False),
        (1e6, 0.25, 10, 30.0, True),
        (1e6, 1.0, 25, 100.0, True),
    ],
)
def test_it_writes_when_idle_at_the_mark_and_when_full(
    idle_ms: float, mark: float, writes: int, after_ms: float, moves: bool
) -> None:
    """A read says where the arm was, and whether it waited for it."""
    last_ms = 0.3 * (writes - 1)
    load = requests(
        *((0.3 * n, 10**8 * (1 + n % 37), 8, "W") for n in range(writes)),
        (last_ms + after_ms, 0, 8, "R"),
    )
    cache = CACHE | {"runs": 20, "idle_ms": idle_ms, "high_water": mark}
    read = ss.simulate(load, drive(cache=cache)).to_polars().sort("id")[-1].to_dicts()[0]
    assert (read["from_cylinder"] != 0 or read["queue_ns"] > 0) == moves


def test_requests_and_a_full_cache_take_turns() -> None:
    load = ss.workload("random", queue_depth=16, requests=3000, read_fraction=0.5)
    run = ss.simulate(load, drive(cache=CACHE | {"runs": 20}))
    assert run.summary["reads"]
    assert run.summary["writes"]
    assert max(responses_ms(run)) < 2500  # neither starves


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("keys", [{}, {"physical_sector_blocks": 8}, {"queue": QUEUE}])
def test_a_power_cut_keeps_what_was_promised(seed: int, keys: dict[str, Any]) -> None:
    load = ss.workload("random", rate=60, requests=400, read_fraction=0.3, seed=seed)
    device = drive(cache=CACHE, **keys)
    report = ss.crash_test(load, device, points=200, seed=seed, flush=0.1).to_dict()
    assert report["device_promise"] == "flush"
    assert report["passed"]
    assert report["under_way"]["lost"] > 0
    early = ss.crash_test(load, device, points=200, seed=seed, promise="completion").to_dict()
    assert early["violations"] > 0


# Sectors


def test_a_write_that_does_not_fill_sectors_takes_a_revolution_more() -> None:
    """Without a cache: 8 blocks at a sector, and within one."""
    plain: dict[str, Any] = {"zero_latency_write": False}
    for lbn, blocks in [(8000, 8), (8001, 8), (8004, 1), (8000, 12)]:
        (ours,) = served({"physical_sector_blocks": 8} | plain, (0.0, lbn, blocks, "W"))
        (theirs,) = served(plain, (0.0, lbn, blocks, "W"))
        whole = lbn % 8 == blocks % 8 == 0
        assert ours == theirs or not whole
        assert whole or 0.97 < (ours - theirs) / REVOLUTION_MS < 1.03


def test_the_cache_fills_sectors_with_neighbours() -> None:
    keys = {"cache": CACHE, "physical_sector_blocks": 8}
    together, apart = (
        served(keys, *((0.001 * n, 8000 + step * n, 1, "W") for n in range(64)), (1.0, 0, 0, "F"))
        for step in (1, 24)
    )
    assert together[-1] < 30
    assert apart[-1] > 60 * REVOLUTION_MS / 2


def test_nothing_moves_without_the_new_keys() -> None:
    load = ss.workload("random", queue_depth=4, requests=500)
    one, other = (ss.simulate(load, drive(**keys)) for keys in ({}, {"physical_sector_blocks": 1}))
    assert one.rows == other.rows


# Two actuators


def exos_iops(depth: int, requests: int, **keys: Any) -> float:
    sizes: dict[str, Any] = {"size": "fixed", "mean_size_kib": 4, "blocking": 8}
    load = ss.workload("random", queue_depth=depth, requests=requests, **sizes, **keys)
    return float(ss.simulate(load, "exos2x18").summary["throughput_iops"])


def test_the_disk_with_two_actuators_is_as_near_to_its_data_sheet_as_its_file_says() -> None:
    """Published: 304 random reads and 560 random writes per second at a depth of 16."""
    reads = exos_iops(16, 30_000, read_fraction=1)
    assert reads == pytest.approx(304, rel=0.01)
    writes = exos_iops(16, 60_000, read_fraction=0, warm_up_requests=20_000)
    assert writes == pytest.approx(0.84 * 560, rel=0.01)


def test_one_range_alone_keeps_one_arm_busy() -> None:
    half = ss.device("exos2x18").blocks // 2
    one = exos_iops(8, 10_000, read_fraction=1, last_lbn=half - 1)
    both = exos_iops(16, 20_000, read_fraction=1)
    # Of 16 requests 8 are at each arm in the mean, and not always.
    assert 1.85 * one < both < 2.0 * one
    run = ss.simulate(
        ss.workload("random", queue_depth=8, requests=500, last_lbn=half - 1), "exos2x18"
    )
    busy = {each["name"]: each["utilisation"] for each in run.summary["mechanisms"]}
    assert busy["exos2x18.actuator0"] > 0.9
    assert busy["exos2x18.actuator1"] == 0
    assert 0 < busy["exos2x18.bus"] < 0.01
