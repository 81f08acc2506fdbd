"""Benchmarks of the emulator beside nbdkit: latency that is added, throughput, CPU time.

Both servers run at once and are measured in turns, with the same client: at depth 1 this very
program, for throughput fio. Of each figure there is the median of all turns, the least and the
greatest. Run by benches/bench.py, or alone; `--base FOLDER` adds the build whose package is there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulator_clients import cpu_s, file_reader, latencies_us, nbd_reader
from emulator_servers import SLEDSIM, loop_device, nbdkit, sledsim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator_servers import Running

TURNS = 20
LATENCIES_MS = {0: 500, 1: 150}
"""Reads of a turn by the time that the model takes for each; nbdkit has whole milliseconds only."""
CONNECTIONS = (1, 2, 4)
DEPTH = 32
FIO_TURNS = 5
ADDED_GOAL = 0.8
"""Added latency as a share of that of nbdkit; 1 is the limit."""


@contextlib.contextmanager
def served_device(*arguments: str) -> Iterator[dict[str, Any]]:
    """Serve a device; what the server said at its end is put into the value."""
    report: dict[str, Any] = {}
    server = subprocess.Popen(
        [SLEDSIM, "serve", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    for line in server.stderr:
        if line.startswith("Ctrl-C"):
            break
    try:
        yield report
    finally:
        server.terminate()
        report.update(json.loads(server.communicate(timeout=30)[0] or "{}"))


def two_wakes_us() -> float:
    """Return what a byte to another process and back takes at rest: the least that can be added."""
    took = []
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as cat:
        assert cat.stdin is not None
        assert cat.stdout is not None
        for _ in range(2000):
            time.sleep(0.5e-3)
            start = time.perf_counter_ns()
            cat.stdin.write(b"x")
            cat.stdout.read(1)
            took.append((time.perf_counter_ns() - start) / 1e3)
    return statistics.median(took)


def makers(base: str | None) -> dict[str, Any]:
    """Return what starts each server."""
    found: dict[str, Any] = {"sledsim": sledsim}
    if base is not None:
        found["base"] = partial(sledsim, python_path=base)
    if has("nbdkit", "nbdfuse"):
        found["nbdkit"] = nbdkit
    return found


def has(*programs: str) -> bool:
    """Whether all these programs are installed."""
    return all(shutil.which(program) for program in programs)


@contextlib.contextmanager
def started(base: str | None, latency_ms: int, *, fuse: bool) -> Iterator[dict[str, Running]]:
    """Start all servers."""
    with contextlib.ExitStack() as stack:
        running = {}
        for name, maker in makers(base).items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            running[name] = stack.enter_context(maker(folder, latency_ms, fuse=fuse))
        yield running


def spread(values: list[float]) -> dict[str, float]:
    """Return the median with the least and the greatest value."""
    return {
        "median": round(statistics.median(values), 2),
        "least": round(min(values), 2),
        "greatest": round(max(values), 2),
    }


def latency(base: str | None, latency_ms: int, reads: int) -> dict[str, Any]:
    """Measure reads one at a time, by the way to the device and by server."""
    fuse = Path("/dev/fuse").exists() and os.geteuid() == 0
    with contextlib.ExitStack() as stack:
        ways: dict[tuple[str, str], Any] = {}
        servers = stack.enter_context(started(base, latency_ms, fuse=fuse))
        for name, server in servers.items():
            ways["nbd", name] = stack.enter_context(nbd_reader(server.socket))
            if server.file is not None:
                ways["fuse", name] = stack.enter_context(file_reader(server.file))
                loop = stack.enter_context(loop_device(server.file))
                ways["fuse and loop", name] = stack.enter_context(file_reader(loop))
        turns: dict[tuple[str, str], list[tuple[float, ...]]] = {way: [] for way in ways}
        for turn in range(TURNS):
            for way in list(ways)[:: -1 if turn % 2 else 1]:
                pids = servers[way[1]].pids
                latencies_us(ways[way], 20, turn)
                before = sum(map(cpu_s, pids))
                took = latencies_us(ways[way], reads, turn)
                cpu_us = 1e6 * (sum(map(cpu_s, pids)) - before) / reads
                p50, p99 = (took[int(share * (reads - 1))] for share in (0.5, 0.99))
                turns[way].append((p50 - 1e3 * latency_ms, p99 - 1e3 * latency_ms, cpu_us))
    keys = ("added_p50_us", "added_p99_us", "cpu_us")
    return tables(
        {
            way: dict(zip(keys, map(list, zip(*each, strict=True)), strict=True))
            for way, each in turns.items()
        }
    )


def throughput(base: str | None) -> dict[str, Any]:
    """Measure NBD where the model takes no time, by number of connections and by server."""
    turns: dict[tuple[str, str], dict[str, list[float]]] = {}
    with started(base, 0, fuse=False) as servers:
        for turn in range(FIO_TURNS):
            for connections in CONNECTIONS:
                for name in list(servers)[:: -1 if turn % 2 else 1]:
                    way = (f"nbd, {connections} connections of depth {DEPTH}", name)
                    for key, value in fio(servers[name], connections).items():
                        turns.setdefault(way, {}).setdefault(key, []).append(value)
    return tables(turns)


def fio(server: Running, connections: int) -> dict[str, float]:
    """Let fio read for a second; return requests per second and CPU time of the server."""
    command = ["fio", "--name=b", "--ioengine=nbd", f"--uri=nbd+unix:///?socket={server.socket}"]
    command += ["--rw=randread", "--bs=4k", f"--iodepth={DEPTH}", f"--numjobs={connections}"]
    command += ["--size=256m", "--time_based", "--runtime=1", "--group_reporting"]
    before = sum(map(cpu_s, server.pids))
    said = subprocess.run(
        [*command, "--output-format=json"], capture_output=True, text=True, check=True
    ).stdout
    cpu = sum(map(cpu_s, server.pids)) - before
    (job,) = json.loads(said[said.index("{") :])["jobs"]
    return {"iops": job["read"]["iops"], "cpu_us": 1e6 * cpu / job["read"]["total_ios"]}


def tables(turns: dict[tuple[str, str], dict[str, list[float]]]) -> dict[str, Any]:
    """Return the spread of each figure by way and server, and ratios to the others in turns."""
    found: dict[str, Any] = {}
    for (way, name), figures in turns.items():
        into = found.setdefault(way, {})
        into[name] = {key: spread(values) for key, values in figures.items()}
        ours = turns[way, "sledsim"]
        if name != "sledsim":
            into[f"sledsim / {name}"] = {
                key: spread([a / b for a, b in zip(ours[key], values, strict=True)])
                for key, values in figures.items()
            }
    return found


def emulator_rates(base: str | None = None) -> dict[str, Any]:
    """Measure the emulator, beside nbdkit if it is installed."""
    results: dict[str, Any] = {
        "two_wakes_p50_us": round(two_wakes_us(), 1),
        "goal_added_to_nbdkit": ADDED_GOAL,
    }
    if not has("nbdkit", "nbdfuse"):
        results["missing"] = "nbdkit or nbdfuse is missing: sledsim is measured alone"
    for latency_ms, reads in LATENCIES_MS.items():
        results[f"depth 1, model time {latency_ms} ms"] = latency(base, latency_ms, reads)
    if has("fio"):
        results["model time 0 ms"] = throughput(base)
    return results


def lines(results: dict[str, Any]) -> Iterator[str]:
    """Write the results as text."""
    for title, part in results.items():
        if not isinstance(part, dict):
            yield f"{title}: {part}"
            continue
        yield f"{title}: median [least to greatest of the turns]"
        for way, servers in part.items():
            for name, figures in servers.items():
                said = "  ".join(
                    f"{key} {of['median']:.5g} [{of['least']:.5g} to {of['greatest']:.5g}]"
                    for key, of in figures.items()
                )
                yield f"  {way}, {name}: {said}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", metavar="FOLDER", help="the Python path of another build")
    parser.add_argument("--json", action="store_true", help="print all as JSON")
    options = parser.parse_args()
    measured = emulator_rates(options.base)
    print(json.dumps(measured, indent=2) if options.json else "\n".join(lines(measured)))
