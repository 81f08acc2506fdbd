"""The same job file in fio, on a served device, and in a simulation."""

import json
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sledsim as ss

if sys.platform != "linux":
    pytest.skip("the emulator needs Linux", allow_module_level=True)
if shutil.which("fio") is None:
    pytest.skip("fio is not installed", allow_module_level=True)

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
        done = subprocess.run(
            ["fio", str(job), "--output-format=json"],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return job, json.loads(re.sub(r"^[^{]*", "", done.stdout))["jobs"], recording


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
    engines = subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=True)
    if "nbd" not in engines.stdout:
        pytest.skip("fio has no engine for NBD")
    job, told, recording = _served(tmp_path, JOBS[name])
    made = ss.fio_job(job, device="g2")
    rows = pl.read_parquet(recording).filter(pl.col("op").is_in(["read", "write"]))
    simulated = ss.simulate(made.load, "g2", rows=True)
    assert len(rows) == simulated.summary["requests"]
    ours = pl.DataFrame(simulated.rows)
    if "seq" in name:
        assert rows.sort("id")["lbn"].to_list() == ours.sort("id")["lbn"].to_list()
    reads = []
    for each in (rows, ours):
        places = zip(each["lbn"].to_list(), each["blocks"].to_list(), strict=True)
        assert max(lbn + blocks for lbn, blocks in places) <= SIZE // 512
        reads.append(each["op"].to_list().count("read") / len(each))
    assert set(rows["blocks"]) == set(ours["blocks"])
    assert abs(reads[0] - reads[1]) < 5 * (0.5 / len(rows)) ** 0.5

    directions = [each[which]["clat_ns"] for each in told for which in ("read", "write")]
    count = sum(each["N"] for each in directions)
    assert count == len(rows)
    fio_ms = sum(each["N"] * each["mean"] for each in directions) / count / 1e6
    late_ms = statistics.mean(rows["lateness_ns"].to_list()) / 1e6
    taken = (rows["completion_ns"] - rows["arrival_ns"]).to_list()
    model_ms = statistics.mean(taken) / 1e6
    # Little's law: each of so many is with the device, late, on the way or with the client.
    many = {"randread qd16": 16, "numjobs=2": 2}.get(name, 1)
    begun, ended = min(rows["arrival_ns"].to_list()), max(rows["completion_ns"].to_list())
    between_ms = many * (ended - begun) / 1e6 / count - model_ms - late_ms
    given = {"thinktime": 2.0}.get(name, 0.0)
    plain = _means(made.load)
    slowed = _means(_thinking(made.load, max(given, between_ms + late_ms)))
    simulated_ms = statistics.mean(slowed)
    slack_ms = 5 * statistics.stdev(slowed) * (1 + 1 / SEEDS) ** 0.5
    slack_ms += abs(simulated_ms - statistics.mean(plain))
    slack_ms += max(taken) / 1e6 / count
    figures = {
        "fio": fio_ms,
        "model": model_ms,
        "simulated": statistics.mean(plain),
        "simulated with think time": simulated_ms,
        "late": late_ms,
        "between": between_ms,
        "slack": slack_ms,
    }
    assert abs(model_ms - simulated_ms) < slack_ms, figures
    assert simulated_ms + late_ms - slack_ms < fio_ms, figures
    assert fio_ms < simulated_ms + late_ms + between_ms + slack_ms, figures
