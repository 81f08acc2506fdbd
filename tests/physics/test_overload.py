"""Overload is flagged in runs of any length; a stable queue is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
import sledsim as ss

from tests import queueing

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> ss.Device:
    return queueing.server(tmp_path_factory.mktemp("server"))


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
    summary = ss.simulate(load, disk, replications=3, precision=0.5).summary
    seeds, together, precision = (summary[k] for k in ("seeds", "overloaded", "precision"))  # type: ignore[literal-required]
    assert [one["overloaded"] for one in seeds] == [True] * 3
    assert together["load"] == pytest.approx(2.6, abs=0.3)
    assert summary["confidence"]["method"] == "replications"
    assert summary["confidence"]["queue_ms"]["caution"] == "overloaded"
    assert not precision["met"]
    assert "overloaded" in str(precision["missed"])
