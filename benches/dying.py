"""Benchmark of served sleds whose tips may fail, beside the same sled with a plain store.

The servers run at once, at a speed at which the model takes no real time. Latency is of single
requests of 4 KiB, one to each server in turns, throughput that of fio at depth 32. "failed" is a
third sled, of whose tips 300 have failed and none is replaced: nearly all reads are decoded.
Run by benches/bench.py, or alone.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulator import has, spread
from emulator_clients import latencies_us, nbd_reader
from emulator_servers import started

if TYPE_CHECKING:
    from collections.abc import Iterator

TURNS = 9
SLEDS = {
    "plain": [],
    "words": ["--faults=ecc_tips=4,spare_tips=64"],
    "failed": ["--faults=ecc_tips=8,failed_tips=300"],
}
DEPTH = 32
REQUESTS = 6000
KINDS = ("randread", "randwrite")
ADDED_LIMIT_US = 10.0
THROUGHPUT_LIMIT = 0.5


@contextlib.contextmanager
def sled(folder: Path, arguments: list[str]) -> Iterator[Path]:
    """Serve a sled; yield its socket."""
    socket = folder / "s.sock"
    command = [sys.executable, "-m", "sledsim", "serve", "--json", "--device=g2", "--speed=1e6"]
    with started([*command, f"--nbd=unix:{socket}", *arguments], socket):
        yield socket


def fio(socket: Path, kind: str) -> float:
    """Let fio work for a second; return requests per second."""
    command = ["fio", "--name=b", "--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}"]
    command += [f"--rw={kind}", "--bs=4k", f"--iodepth={DEPTH}", "--size=256m", "--time_based"]
    command += ["--runtime=1", "--output-format=json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (job,) = json.loads(said[said.index("{") :])["jobs"]
    return float(job[kind.removeprefix("rand")]["iops"])


def latency(sockets: dict[str, Path], kind: str) -> dict[str, Any]:
    """Time single requests, one to each server in turns."""
    took: dict[str, list[float]] = {name: [] for name in sockets}
    with contextlib.ExitStack() as stack:
        writes = kind == "randwrite"
        clients = {
            name: stack.enter_context(nbd_reader(socket, writes=writes))
            for name, socket in sockets.items()
        }
        for turn in range(REQUESTS):
            for name in list(clients)[:: -1 if turn % 2 else 1]:
                took[name] += latencies_us(clients[name], 1, turn)
    p50 = {name: statistics.median(each) for name, each in took.items()}
    added = {
        name: round(statistics.median(a - b for a, b in zip(each, took["plain"], strict=True)), 2)
        for name, each in took.items()
    }
    return {name: {"p50_us": round(p50[name], 2), "added_us": added[name]} for name in took}


def tips_rates(_base: str | None = None) -> dict[str, Any]:
    """Measure the sleds in turns."""
    if not has("fio"):
        return {"missing": "fio"}
    results: dict[str, Any] = {
        "limit_added_p50_us": ADDED_LIMIT_US,
        "limit_throughput": THROUGHPUT_LIMIT,
    }
    with contextlib.ExitStack() as stack:
        sockets = {}
        for name, arguments in SLEDS.items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            sockets[name] = stack.enter_context(sled(folder, arguments))
            fio(sockets[name], "randwrite")  # something to read
        for kind in KINDS:
            results[f"{kind} of 4 KiB, depth 1"] = latency(sockets, kind)
            turns: dict[str, list[float]] = {name: [] for name in sockets}
            for turn in range(TURNS):
                for name in list(sockets)[:: -1 if turn % 2 else 1]:
                    turns[name].append(fio(sockets[name], kind))
            results[f"{kind} of 4 KiB, depth {DEPTH}"] = {
                name: {
                    "iops": spread(each),
                    "share_of_plain": spread(
                        [a / b for a, b in zip(each, turns["plain"], strict=True)]
                    ),
                }
                for name, each in turns.items()
            }
    return results


if __name__ == "__main__":
    print(json.dumps(tips_rates(), indent=2))
