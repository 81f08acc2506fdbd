"""Check the laws of the figures of a run on random devices, loads and schedulers.

The definitions are those of docs/reference/results.md, "What the figures are". Everything is
computed anew here from the rows of the run: arrivals, completions and parts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import sledsim as ss
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests import queueing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

OWN_WORK = 2**63
MECHANISM = ("seek", "rotation", "head_switch", "transfer", "retry", "other")
"""The parts of a response time that a request spends at mechanisms."""

SINGLE = ("g2", "mems", "cmu2003", "g2-buffered", "atlas10k", "nearline20t", "memory", "flash")
HYBRIDS = ("disk", "disk_ram", "mcd", "mwb")
ARRAYS = {
    "stripe": 'kind = "raid0"\nchildren = 3\nunit_blocks = 8\n[child]\nbase = "g2"\n',
    "raid1": 'kind = "raid1"\nchildren = 2\n[child]\nbase = "mems"\n',
    "raid5": 'kind = "raid5"\nchildren = 4\nunit_blocks = 8\n[child]\nbase = "atlas10k"\n',
    "raid6": 'kind = "raid6"\nchildren = 5\nunit_blocks = 8\n[child]\nbase = "atlas10k"\n',
    "raid10": 'kind = "raid10"\nchildren = 3\nunit_blocks = 8\n[child]\nbase = "mems"\n',
    "actuators": 'kind = "actuators"\nactuators = 2\n[child]\nbase = "atlas10k"\n',
    "rebuilt": 'kind = "raid5"\nchildren = 3\nunit_blocks = 8\nspares = 1\nfail_child = 1\n'
    'fail_at_ms = 20\n[child]\nbase = "memory"\nblocks = 4096\nlatency_ms = 0.1\n'
    "ms_per_block = 0.001\n",
    "hybrids": 'kind = "raid0"\nchildren = 2\nunit_blocks = 64\n[child]\nbase = "mcd"\n',
    "cached": 'kind = "read_cache"\n[front]\nbase = "memory"\n[back]\nbase = "atlas10k"\n',
}
FAULTY = {"faults": {"read_error_rate": 0.05, "ecc_tips": 2}}
BY_LBN = ("fcfs", "sstf_lbn", "c_look", "sptf", "fcfs(host=c_look)")


def device_of(name: str, folder: Path, **keys: Any) -> ss.Device:
    """Return a preset, or one of the arrays."""
    if name not in ARRAYS:
        return ss.device(name, **keys)
    path = folder / f"{name}.toml"
    path.write_text(f'title = "{name}"\n{ARRAYS[name]}', encoding="utf-8")
    return ss.device(str(path), **keys)


def rows_of(run: ss.Run) -> pl.DataFrame:
    """Return the rows of a run with the service time of each, null without a mechanism."""
    service = sum((pl.col(f"{part}_ns") for part in MECHANISM[1:]), pl.col(f"{MECHANISM[0]}_ns"))
    return run.to_polars().with_columns(
        pl.col("device").cast(pl.String),
        service=pl.when(pl.col("passes") > 0).then(service),
        response=pl.col("completion_ns") - pl.col("arrival_ns"),
    )


def counted(rows: pl.DataFrame, summary: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows of the host's requests that count, in the order of their arrival."""
    rows = rows.filter(pl.col("parent").is_null()).sort("id")
    return rows if summary["warm_up"] is None else rows[summary["warm_up"]["requests"] :]


def occupancy(rows: pl.DataFrame) -> float:
    """Return the time average of the requests in the device, step by step through all events."""
    came, left = rows["arrival_ns"].to_numpy(), rows["completion_ns"].to_numpy()
    at = np.concatenate([came, left])
    change = np.concatenate([np.ones(len(came), np.int64), -np.ones(len(left), np.int64)])
    order = np.argsort(at, kind="stable")
    inside = np.cumsum(change[order])
    area = int(np.sum(inside[:-1] * np.diff(at[order])))
    return area / int(at.max() - came.min())


def found(rows: pl.DataFrame) -> pl.DataFrame:
    """Return how many others each arrival found, of those that arrived before it.

    One that completes in the very nanosecond of an arrival may be found or not.
    """
    came, left = rows["arrival_ns"].to_numpy(), rows["completion_ns"].to_numpy()
    numbers = range(len(rows))
    return rows.select("id").with_columns(
        least=pl.Series([int(np.sum(left[:at] > came[at])) for at in numbers]),
        most=pl.Series([int(np.sum(left[:at] >= came[at])) for at in numbers]),
    )


def check(run: ss.Run) -> None:
    """Check the laws that hold for every device, on a run with its parts."""
    summary, rows = run.summary, rows_of(run)
    note(f"{run.workload}")
    of_host = rows.filter(pl.col("parent").is_null()).sort("id")
    count = counted(rows, summary)

    # Rows: one for each request; their mean is the summary's.
    assert len(count) == summary["requests"] == run.requests
    response_ms = float(count["response"].to_numpy().mean()) / 1e6
    assert summary["response_time_ms"]["mean"] == pytest.approx(response_ms, rel=1e-12)

    # Occupancy: Little, and what arrivals find.
    mean = occupancy(count)
    assert summary["mean_outstanding"] == pytest.approx(mean, rel=1e-9)
    little = summary["throughput_iops"] * summary["response_time_ms"]["mean"] / 1e3
    assert summary["mean_outstanding"] == pytest.approx(little, rel=1e-9)
    others = found(of_host).filter(pl.col("id").is_in(count["id"].to_list()))
    depths, tiny = summary["mean_queue_depth"] * len(count), 1e-6
    assert int(others["least"].sum()) - tiny <= depths <= int(others["most"].sum()) + tiny
    assert others["least"].max() <= summary["max_queue_depth"] <= others["most"].max()  # type: ignore[operator]

    # Service time: of those that met a mechanism, and never longer than the response time.
    served = count.drop_nulls("service")
    assert summary["mechanism_requests"] == len(served)
    service_ms = summary["service_time_ms"]["mean"]
    assert (service_ms is None) == served.is_empty()
    if service_ms is not None:
        assert service_ms == pytest.approx(
            float(served["service"].to_numpy().mean()) / 1e6, rel=1e-12
        )
    assert (served["service"] <= served["response"]).all()

    # Utilisation: shares of the time, the busiest of which is that of the device.
    active_s = summary["simulated_s"] - int(count["arrival_ns"].to_numpy().min()) / 1e9
    mechanisms = {each["name"]: each for each in summary["mechanisms"]}
    for each in mechanisms.values():
        assert min(each["host"], each["other"]) >= 0
        assert each["host"] + each["other"] == pytest.approx(each["utilisation"], abs=1e-12)
        # What begins in a warm-up and ends after it is booked as a whole.
        assert each["utilisation"] <= 1 + (0.03 / active_s if summary["warm_up"] else 1e-9), each
        assert each["busy_s"] == pytest.approx(each["utilisation"] * active_s, rel=1e-9)
    most = max(each["utilisation"] for each in mechanisms.values())
    assert summary["utilisation"] == most == mechanisms[str(summary["busiest"])]["utilisation"]

    # Energy: unknown as a whole, and of each row that it is part of.
    unknown = [part["name"] for part in summary["devices"] if part["energy_j"] is None]
    assert (summary["energy_j"] is None) == bool(unknown) == (summary["request_energy_j"] is None)
    for name in unknown:
        assert rows.filter(pl.col("device") == name)["energy_nj"].is_null().all()
    if not unknown:
        assert rows["energy_nj"].null_count() == 0
        assert summary["request_energy_j"] == pytest.approx(int(count["energy_nj"].sum()) / 1e9)


def check_parts(run: ss.Run, *, buffered: bool) -> None:
    """Check the times of mechanisms against the rows of the devices; a run without warm-up."""
    summary, rows = run.summary, rows_of(run)
    inner = rows.filter(pl.col("parent").is_not_null())
    assert {*rows["device"]} <= {part["name"] for part in summary["devices"]}
    assert (rows.filter(pl.col("parent").is_null())["id"] < OWN_WORK).all()
    # Work of an enclosing device's own is marked all the way down.
    marked = inner.filter(pl.col("parent") >= OWN_WORK)
    assert (marked["id"] >= OWN_WORK).all()
    came = rows.filter(pl.col("parent").is_null())["arrival_ns"].to_numpy()
    active_ns = 1e9 * summary["simulated_s"] - int(came.min())
    for each in summary["mechanisms"]:
        own = rows.filter(pl.col("device") == each["name"])
        if own.is_empty() or each["name"].endswith("flash"):
            continue
        host = int(own.filter(pl.col("id") < OWN_WORK)["service"].sum())
        other = int(own.filter(pl.col("id") >= OWN_WORK)["service"].sum())
        assert each["host"] * active_ns == pytest.approx(host, rel=1e-9, abs=2), each
        if buffered:  # reading ahead and destaging have no rows
            assert each["other"] * active_ns >= other * (1 - 1e-9) - 2, each
        else:
            assert each["other"] * active_ns == pytest.approx(other, rel=1e-9, abs=2), each


@st.composite
def loads(draw: st.DrawFn) -> ss.Load:
    """Draw a load: closed or open, slow or fast, with a warm-up or without."""
    keys: dict[str, Any] = {
        "requests": draw(st.integers(20, 300)),
        "seed": draw(st.integers(0, 10_000)),
        "read_fraction": draw(st.sampled_from([0, 0.3, 0.67, 1])),
        "mean_size_kib": draw(st.sampled_from([1, 4, 32])),
    }
    if draw(st.booleans()):
        keys["rate"] = draw(st.sampled_from([20, 100, 400, 1000]))
    else:
        keys["queue_depth"] = draw(st.sampled_from([1, 2, 8]))
        keys["think_ms"] = draw(st.sampled_from([0, 1, 30]))
    if draw(st.booleans()):
        keys["warm_up_requests"] = draw(st.integers(1, 19))
    if draw(st.booleans()):
        keys["last_lbn"] = draw(st.sampled_from([200, 3000]))
    return ss.workload("random", **keys)


@given(st.sampled_from([*SINGLE, *HYBRIDS, *ARRAYS]), loads(), st.sampled_from(BY_LBN), st.data())
def test_every_run_obeys_the_laws(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    load: ss.Load,
    scheduler: str,
    data: st.DataObject,
) -> None:
    keys = data.draw(st.sampled_from([{}, FAULTY])) if name in {"g2", "mems"} else {}
    device = device_of(name, tmp_path_factory.mktemp("laws"), **keys)
    if scheduler == "sptf" and name in {"memory", "cached", "rebuilt", *HYBRIDS}:
        scheduler = "c_look"  # it needs positioning times
    run = ss.simulate(load, device, "fcfs" if name in {"flash", *ARRAYS} else scheduler, parts=True)
    check(run)
    if run.summary["warm_up"] is None:
        check_parts(
            run, buffered=name not in {"g2", "mems", "cmu2003", "memory", "stripe", "raid1"}
        )


@pytest.mark.parametrize("name", [*SINGLE, *HYBRIDS, *ARRAYS])
def test_a_closed_load_finds_the_others(name: str, tmp_path: Path) -> None:
    """Of d requests at a time, an arrival finds the other d - 1, on every device."""
    few: dict[str, Any] = {"read_fraction": 0.3}
    keys = {"last_lbn": 8000} if name in {"cached", "rebuilt"} else few
    load = ss.workload("random", queue_depth=8, requests=3000, warm_up_requests=100, **keys)
    summary = ss.simulate(load, device_of(name, tmp_path), rows=False).summary
    # Of two that complete at one instant, the next to arrive finds one less.
    assert 6.9 < summary["mean_queue_depth"] <= 7
    assert summary["max_queue_depth"] == 7
    assert 7.8 < summary["mean_outstanding"] <= 8


@pytest.mark.parametrize(("name", "rate"), [("g2", 700), ("atlas10k", 60), ("flash", 2000)])
def test_poisson_arrivals_see_time_averages(name: str, rate: float) -> None:
    """PASTA (Wolff 1982), within three standard errors over independent seeds."""
    apart = []
    for seed in range(12):
        load = ss.workload("random", rate=rate, requests=8000, warm_up_requests=500, seed=seed)
        summary = ss.simulate(load, name, rows=False).summary
        apart.append(summary["mean_queue_depth"] / summary["mean_outstanding"] - 1)
    error = np.std(apart, ddof=1) / len(apart) ** 0.5
    assert abs(np.mean(apart)) < 3 * error
    assert error < 0.02


def test_seeds_and_parts_are_weighted_by_their_time() -> None:
    """Of several seeds, N is the sum of all response times over the sum of the windows."""
    keys: dict[str, Any] = {"rate": 600, "requests": 2000, "warm_up_requests": 100}
    load = ss.workload("random", **keys)
    together = ss.simulate(load, "g2", replications=4, rows=False).summary
    little = together["throughput_iops"] * together["response_time_ms"]["mean"] / 1e3
    assert together["mean_outstanding"] == pytest.approx(little, rel=1e-9)
    loads = [ss.workload("random", seed=seed, **keys) for seed in range(1, 5)]
    alone = [ss.simulate(load, "g2").summary for load in loads]
    time_s = sum(one["duration_s"] for one in alone)
    mean = sum(one["mean_outstanding"] * one["duration_s"] for one in alone) / time_s
    assert together["mean_outstanding"] == pytest.approx(mean, rel=1e-9)
    others = sum(one["mean_queue_depth"] for one in alone) / 4
    assert together["mean_queue_depth"] == pytest.approx(others, rel=1e-9)
    busy = sum(one["mechanisms"][0]["busy_s"] for one in alone)
    assert together["mechanisms"][0]["busy_s"] == pytest.approx(busy, rel=1e-9)


def test_a_run_that_is_given_up_counts_what_was_served() -> None:
    load = ss.workload("random", rate=100_000, requests=200_000)
    run = ss.simulate(load, "g2")
    assert run.summary["saturated"] is not None
    mean = occupancy(rows_of(run))
    assert run.summary["mean_outstanding"] == pytest.approx(mean, rel=1e-9)
    little = run.summary["throughput_iops"] * run.summary["response_time_ms"]["mean"] / 1e3
    assert run.summary["mean_outstanding"] == pytest.approx(little, rel=1e-9)


def test_the_units_of_flash_work_for_their_pages() -> None:
    """By the data sheet: each page takes a unit for its time to read or to program."""
    keys = ss.device("flash").parameters
    run = ss.simulate(ss.workload("random", queue_depth=8, requests=2000), "flash")
    rows = run.to_polars()
    pages = {op: int(rows.filter(pl.col("op") == op)["passes"].sum()) for op in ("read", "write")}
    busy_us = pages["read"] * keys["read_us"] + pages["write"] * keys["program_us"]
    (units, link) = run.summary["mechanisms"]
    assert units["busy_s"] == pytest.approx(1e-6 * busy_us / keys["units"], abs=1e-9)
    moved_s = 512 * int(rows["blocks"].sum()) / (1e6 * keys["link_mb_s"])
    assert link["busy_s"] == pytest.approx(moved_s, rel=1e-4)


def test_no_service_is_longer_than_the_disk_allows() -> None:
    """Buffered writes and destaging: each pass of a request is one seek and one turn at most."""
    disk = ss.device("atlas10k")
    load = ss.workload("random", queue_depth=16, requests=3000, read_fraction=0.3)
    turn_ms = 60e3 / disk.parameters["rpm"]
    longest_ms = disk.seek_ms(disk.spec["derived"]["cylinders"] - 1)
    for name in ("atlas10k", "disk"):
        rows = rows_of(ss.simulate(load, name)).drop_nulls("service")
        per_pass = rows["service"] / 1e6 / rows["passes"]
        assert per_pass.max() < longest_ms + 3 * turn_ms


@settings(max_examples=20)
@given(st.sampled_from(["g2", "mcd", "disk"]), st.integers(0, 1000))
def test_little_holds_in_every_window_of_a_series(name: str, seed: int) -> None:
    load = ss.workload("random", rate=100, requests=300, seed=seed)
    run = ss.simulate(load, name, series=True)
    series = run.series.to_polars()
    seconds = (series["end_ns"] - series["start_ns"]) / 1e9
    area = float((series["outstanding"] * seconds).sum())
    assert area == pytest.approx(run.summary["mean_outstanding"] * run.summary["duration_s"])
    watts = series["power_w"].null_count()
    assert watts == (0 if run.summary["energy_j"] is not None else len(series))


def test_unknown_energy_is_null_everywhere() -> None:
    known = {"g2": True, "flash": True, "atlas10k": False, "memory": False, "mcd": False}
    load = ss.workload("random", requests=50, queue_depth=1)
    table = ss.compare(load, list(known), workers=1).to_polars()
    assert dict(zip(table["device"], table["energy_j"].is_not_null(), strict=True)) == known
    per_request = table["energy_mj_per_request"].is_not_null()
    assert per_request.to_list() == list(known.values())


SEEDS = 200


@pytest.fixture
def server(tmp_path: Path) -> ss.Device:
    return queueing.server(tmp_path)


@pytest.mark.parametrize("kind", queueing.KINDS)
def test_a_load_of_nine_tenths_is_hardly_ever_flagged(server: ss.Device, kind: str) -> None:
    """At most 1 % of runs, of several lengths; more than 7 of 200 are 1 in 10,000 then."""
    for requests in (512, 1000, 2000):
        assert queueing.flagged(server, kind, 0.9, requests, SEEDS) <= 7
    assert queueing.flagged(server, kind, 0.9, 20_000, 10) == 0


@pytest.mark.parametrize(("kind", "share"), [("M/D/1", 0.99), ("M/M/1", 0.99), ("M/H2/1", 0.75)])
def test_a_load_of_eleven_tenths_is_flagged(server: ss.Device, kind: str, share: float) -> None:
    """After 2,000 requests; with so variable a service the load itself is uncertain by a tenth."""
    assert queueing.flagged(server, kind, 1.1, 2000, SEEDS) >= share * SEEDS
    assert queueing.flagged(server, kind, 1.1, 10_000, 10) == 10
    assert queueing.flagged(server, kind, 1.02, 200_000, 2) == 2


@pytest.mark.parametrize("kind", queueing.KINDS)
def test_load_and_queue_are_those_of_the_rows(server: ss.Device, kind: str) -> None:
    """Of one server: the service times over the time of the arrivals, and Lindley's recursion."""
    run = ss.simulate(queueing.load(kind, 1.3, 4096, seed=5), server)
    found = run.summary["overloaded"]
    assert found is not None
    rows = pa.table(run.rows)
    arrival, start, end = (
        np.sort(rows[name].to_numpy()).astype(float)
        for name in ("arrival_ns", "start_ns", "completion_ns")
    )
    service = end - start
    span = arrival[-1] - arrival[0]
    assert found["load"] == pytest.approx(service.sum() / span, rel=1e-9)
    assert found["offered_iops"] == pytest.approx(4095e9 / span, rel=1e-9)
    wait = 0.0
    leaves = []
    for gap, work, at in zip(np.diff(arrival, prepend=arrival[0]), service, arrival, strict=True):
        wait = max(wait - gap, 0.0)
        leaves.append(at + wait + work)
        wait += work
    under_way = np.arange(4096) - np.searchsorted(leaves, arrival, side="right")
    # 4,096 requests are 16 pieces of 256, of which two are an eighth.
    assert found["found_first"] == pytest.approx(under_way[:512].mean(), abs=0.01)
    assert found["found_last"] == pytest.approx(under_way[-512:].mean(), abs=0.01)


@pytest.mark.parametrize("requests", [2000, 10_000])
def test_a_disk_is_flagged_at_three_times_its_rate(requests: int) -> None:
    run = ss.simulate(ss.workload(rate=300, requests=requests), ss.device("atlas10k"))
    found = run.summary["overloaded"]
    assert found is not None
    assert found["found_last"] > 10 * found["found_first"]
    assert run.summary["confidence"]["response_time_ms"]["caution"] == "overloaded"
    less = ss.simulate(ss.workload(rate=70, requests=requests), ss.device("atlas10k"))
    assert less.summary["overloaded"] is None


@pytest.mark.parametrize(
    "keys",
    [{"queue_depth": 64}, {"think_ms": 0.0}, {"think_ms": 2.0, "think": "exponential"}],
)
def test_a_closed_load_offers_no_rate(keys: dict[str, Any]) -> None:
    load = ss.workload(requests=3000, **{"queue_depth": 16, **keys})
    assert ss.simulate(load, "g2", rows=False).summary["overloaded"] is None


def trace(folder: Path, times_s: np.ndarray[Any, Any]) -> ss.Load:
    """Return single blocks at given times: a millisecond of work each for 64 of them."""
    file = folder / "trace.csv"
    lines = [f"{at:.9f},{64 * n},{64 * 512},R" for n, at in enumerate(np.sort(times_s))]
    file.write_text("\n".join(["t,lba,bytes,op", *lines]) + "\n")
    return ss.read_trace(file, columns="time=t:s, offset=lba:512B, bytes=bytes:B, op=op")


def test_bursts_that_drain_are_no_overload(server: ss.Device, tmp_path: Path) -> None:
    """Ten times the rate of the device for a tenth of the time, again and again or once."""
    chance = np.random.default_rng(3)
    bursts = np.concatenate([k + 0.05 * chance.random(500) for k in range(8)])
    assert ss.simulate(trace(tmp_path, bursts), server).summary["overloaded"] is None
    once = np.concatenate([0.1 * chance.random(1000), 0.1 + 3 * chance.random(1500)])
    run = ss.simulate(trace(tmp_path, once), server)
    assert run.summary["max_queue_depth"] > 500
    assert run.summary["overloaded"] is None
    # The same bursts are overload where nothing comes after them.
    found = ss.simulate(trace(tmp_path, 0.1 * chance.random(1000)), server).summary["overloaded"]
    assert found is not None
    assert found["load"] == pytest.approx(10, rel=0.02)
    at_once = ss.simulate(trace(tmp_path, np.zeros(1000)), server).summary["overloaded"]
    assert at_once is not None
    assert at_once["offered_iops"] is None


def test_servers_side_by_side_may_have_long_queues(tmp_path: Path) -> None:
    """Eight servers that share a load of 0.9 are hardly ever idle, all of them at once."""
    queueing.server(tmp_path)
    file = tmp_path / "stripe.toml"
    keys = 'title = "eight"\nkind = "stripe"\nchildren = 8\nunit_blocks = 64\n'
    file.write_text(f'{keys}[child]\nbase = "server.toml"\n')
    stripe = ss.device(file)

    def flagged(share: float) -> int:
        load = queueing.load("M/D/1", 8 * share, 2000)
        runs = ss.simulate(load, stripe, rows=False, replications=50).summary["seeds"]
        assert runs is not None
        return sum(run["overloaded"] for run in runs)

    assert flagged(0.9) <= 3  # 1 % of 50: more than 3 are 1 in 600
    assert flagged(1.2) == 50


def test_seeds_are_flagged_together_and_alone() -> None:
    load, disk = ss.workload(rate=300, requests=1000), ss.device("atlas10k")
    summary: dict[str, Any] = {**ss.simulate(load, disk, replications=3, precision=0.5).summary}
    names = ("seeds", "overloaded", "precision")
    seeds, together, precision = (summary[name] for name in names)
    assert [one["overloaded"] for one in seeds] == [True] * 3
    assert together["load"] == pytest.approx(2.6, abs=0.3)
    assert summary["confidence"]["method"] == "replications"
    assert summary["confidence"]["queue_ms"]["caution"] == "overloaded"
    assert not precision["met"]
    assert "overloaded" in str(precision["missed"])
