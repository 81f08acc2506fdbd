"""Benchmarks of the emulator: latency beyond the time of the device, and throughput.

fio is the client, a program of its own, and so is the server. Run by benches/bench.py, or alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SERIAL_MS = 0.5
SECONDS = 5
OVERHEAD_GOAL_US = 30.0
ZERO_TIME_GOAL = 50_000
"""Requests/s through NBD where the model takes no time."""
SLEDSIM = Path(sysconfig.get_path("scripts")) / "sledsim"


@contextlib.contextmanager
def served(latency_ms: float, *where: str) -> Iterator[dict[str, Any]]:
    """Serve a device of constant latency; what the server said at its end is put into the value."""
    device = ("--device=memory", f"--set=device.latency_ms={latency_ms}")
    with served_device(*device, "--set=device.ms_per_block=0", *where) as report:
        yield report


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


def fio(*options: str) -> dict[str, Any]:
    """Run fio reading 4 KiB at random; return what it says of the reads."""
    command = ["fio", "--name=b", "--rw=randread", "--bs=4k", "--output-format=json"]
    command += ["--time_based", f"--runtime={SECONDS}", "--ramp_time=1", "--size=1g", *options]
    with tempfile.TemporaryDirectory() as folder:
        # Its own percentiles come in steps of 8 us there.
        command += [f"--write_lat_log={folder}/b"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        clat_us: list[float] = []
        for log in Path(folder).glob("b_clat.*.log"):
            clat_us += (int(line.split(",")[1]) / 1e3 for line in log.open(encoding="ascii"))
    text = done.stdout[done.stdout.index("{") :]
    clat_us.sort()
    return {
        "iops": sum(job["read"]["iops"] for job in json.loads(text)["jobs"]),
        "clat_us": {
            key: clat_us[int(share * (len(clat_us) - 1))]
            for key, share in (("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999))
        },
    }


def added(measured: dict[str, Any]) -> dict[str, float]:
    """Return by how much each percentile is above the time of the device, in us."""
    return {key: round(us - 1e3 * SERIAL_MS, 1) for key, us in measured["clat_us"].items()}


def two_wakes_us() -> float:
    """Return what a byte to another process and back takes at rest: the least that can be added."""
    took = []
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as cat:
        assert cat.stdin is not None
        assert cat.stdout is not None
        for _ in range(2000):
            time.sleep(SERIAL_MS / 1e3)
            start = time.perf_counter_ns()
            cat.stdin.write(b"x")
            cat.stdout.read(1)
            took.append((time.perf_counter_ns() - start) / 1e3)
    return sorted(took)[len(took) // 2]


def through_nbd(folder: Path, latency_ms: float, *options: str) -> dict[str, Any]:
    """Measure through a Unix socket."""
    socket = folder / "s.sock"
    with served(latency_ms, f"--nbd=unix:{socket}") as report:
        measured = fio("--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}", *options)
    return measured | {"lateness_us": report["exports"][0]["lateness_us"]}


def through_fuse(folder: Path, *options: str, loop: bool) -> dict[str, Any]:
    """Measure on the file, or on a loop device on it."""
    point = folder / "point"
    point.mkdir(exist_ok=True)
    with served(SERIAL_MS, f"--fuse={point}") as report:
        path = str(point / "memory")
        if loop:
            made = ["losetup", "--find", "--show", "--direct-io=on", path]
            path = subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()
        try:
            measured = fio("--direct=1", f"--filename={path}", *options)
        finally:
            if loop:
                subprocess.run(["losetup", "--detach", path], check=True)
                time.sleep(0.2)
    return measured | {"lateness_us": report["exports"][0]["lateness_us"]}


def emulator_rates() -> dict[str, Any]:
    """Measure the emulator; an empty result where fio is missing."""
    if shutil.which("fio") is None:
        return {}
    results: dict[str, Any] = {"two_wakes_p50_us": round(two_wakes_us(), 1)}
    serial = ("--iodepth=1",)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nbd = through_nbd(folder, SERIAL_MS, *serial)
        results["nbd_depth_1"] = nbd | {
            "added_us": added(nbd),
            "goal_added_p50_us": OVERHEAD_GOAL_US,
        }
        deep = through_nbd(folder, SERIAL_MS, "--iodepth=16")
        results["nbd_depth_16"] = deep | {"model_iops": 1e3 / SERIAL_MS}
        for jobs in (1, 2):
            zero = through_nbd(folder, 0.0, "--iodepth=32", f"--numjobs={jobs}")
            results[f"nbd_zero_time_{jobs}_clients"] = zero | {"goal_iops": ZERO_TIME_GOAL}
        if Path("/dev/fuse").exists() and os.geteuid() == 0:
            for key, loop in (("fuse_depth_1", False), ("fuse_loop_depth_1", True)):
                measured = through_fuse(folder, "--ioengine=psync", loop=loop)
                results[key] = measured | {
                    "added_us": added(measured),
                    "goal_added_p50_us": OVERHEAD_GOAL_US,
                }
            deep = through_fuse(folder, "--ioengine=libaio", "--iodepth=16", loop=True)
            results["fuse_loop_depth_16"] = deep | {"model_iops": 1e3 / SERIAL_MS}
    return results


if __name__ == "__main__":
    print(json.dumps(emulator_rates(), indent=2))
