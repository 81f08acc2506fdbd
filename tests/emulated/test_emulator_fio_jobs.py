"""The same job file in fio, on a served device, and in a simulation."""

import json
import re
import statistics
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sledsim as ss

from tests.initiators import run
from tests.served import rows

JOBS = {
    "randread qd1": "rw=randread\nnumber_ios=800",
    "randread qd16": "rw=randread\niodepth=16\nnumber_ios=2000",
    "seq write": "rw=write\nbs=16k\nnumber_ios=800",
    "randrw 70/30": "rw=randrw\nrwmixread=70\nnumber_ios=800",
    "rate_iops": "rw=randread\nrate_iops=200\nnumber_ios=400",
    "thinktime": "rw=randread\nthinktime=2ms\niodepth=4\nnumber_ios=300",  # which is 1 then
    "zipf": "rw=randread\nrandom_distribution=zipf:1.2\nnumber_ios=800",
    "sizes": "rw=randread\nbssplit=4k/50:64k/50\nnumber_ios=600\nnorandommap",
    "numjobs=2": "rw=randread\nnumjobs=2\nnumber_ios=600",
}
SIZE = 1_024_000_000
"""Bytes that a job works on."""
SEEDS = 10


def _served(folder: Path, body: str) -> tuple[Path, list[dict[str, Any]], Path]:
    """Serve g2 and run fio on it; return the job file, fio's report and the recording."""
    recording = folder / "recording.parquet"
    job = folder / "job.fio"
    export = ss.emulator.Export(device="g2", record=recording)
    with ss.serve(export, nbd=f"unix:{folder / 's.sock'}") as server:
        head = f"ioengine=nbd\nuri={server.uris[0]}\nsize={SIZE}\nrandrepeat=0"
        job.write_text(f"[global]\n{head}\n[job]\n{body}\n", encoding="utf-8")
        told = run("fio", job, "--output-format=json")
    return job, json.loads(re.sub(r"^[^{]*", "", told))["jobs"], recording


def _thinking(load: ss.Load, think_ms: float) -> ss.Load:
    """Return a closed load whose clients think; an open one as it is."""
    if "rate" in load.to_toml():
        return load
    names = re.findall(r"^\[part\.(.*)\]$", load.to_toml(), re.MULTILINE)
    if names:
        return load.with_keys(part={name: {"think_ms": think_ms} for name in names})
    return load.with_keys(think_ms=think_ms)


def _means(load: ss.Load) -> list[float]:
    """Return the mean response time in ms for each of several seeds."""
    runs = (ss.simulate(load.with_seed_offset(seed), "g2") for seed in range(SEEDS))
    return [run.summary["response_time_ms"]["mean"] for run in runs]


@pytest.mark.parametrize("name", JOBS)
def test_fio_measures_the_simulated_time_and_the_lateness(name: str, tmp_path: Path) -> None:
    """Fio's mean is the simulated one, the lateness of the replies, and what the path takes.

    All that this machine adds is measured in the same run, so a slow one changes the bounds and not
    the outcome. What is added between a completion and the next request of a client (the lateness,
    the path both ways, and the client) is think time to the device, by which the simulated clients
    are slowed too: else 16 outstanding would wait longer in the simulation. Theirs is constant, so
    what it changes at all is a bound for what its variation changes. The path is a part of it. A
    served device may have gone to rest before the first request, which then takes longer.
    """
    if "nbd" not in run("fio", "--enghelp"):
        pytest.skip("fio has no engine for NBD")
    job, told, recording = _served(tmp_path, JOBS[name])
    made = ss.fio_job(job, device="g2")
    theirs = rows(recording).filter(pl.col("op").is_in(["read", "write"]))
    ours = rows(ss.simulate(made.load, "g2", rows=True))
    assert len(theirs) == len(ours)
    if "seq" in name:
        assert theirs["lbn"].to_list() == ours["lbn"].to_list()
    for each in (theirs, ours):
        assert (each["lbn"] + each["blocks"]).max() <= SIZE // 512  # type: ignore[operator]
    assert set(theirs["blocks"]) == set(ours["blocks"])
    reads = [each["op"].to_list().count("read") / len(each) for each in (theirs, ours)]
    assert abs(reads[0] - reads[1]) < 5 * (0.5 / len(ours)) ** 0.5

    directions = [each[which]["clat_ns"] for each in told for which in ("read", "write")]
    count = sum(each["N"] for each in directions)
    assert count == len(theirs)
    fio_ms = sum(each["N"] * each["mean"] for each in directions) / count / 1e6
    late_ms = statistics.mean(theirs["lateness_ns"].to_list()) / 1e6
    taken = (theirs["completion_ns"] - theirs["arrival_ns"]).to_list()
    model_ms = statistics.mean(taken) / 1e6
    # Little's law: each of so many is with the device, late, on the way or with the client.
    many = {"randread qd16": 16, "numjobs=2": 2}.get(name, 1)
    spent_ns = max(theirs["completion_ns"].to_list()) - min(theirs["arrival_ns"].to_list())
    between_ms = many * spent_ns / 1e6 / count - model_ms - late_ms
    given = {"thinktime": 2.0}.get(name, 0.0)
    plain = _means(made.load)
    slowed = _means(_thinking(made.load, max(given, between_ms + late_ms)))
    simulated_ms = statistics.mean(slowed)
    slack_ms = 5 * statistics.stdev(slowed) * (1 + 1 / SEEDS) ** 0.5
    slack_ms += abs(simulated_ms - statistics.mean(plain))
    slack_ms += max(taken) / 1e6 / count
    figures = f"{fio_ms=} {model_ms=} {plain=} {simulated_ms=} {late_ms=} {between_ms=} {slack_ms=}"
    assert abs(model_ms - simulated_ms) < slack_ms, figures
    assert simulated_ms + late_ms - slack_ms < fio_ms, figures
    assert fio_ms < simulated_ms + late_ms + between_ms + slack_ms, figures
