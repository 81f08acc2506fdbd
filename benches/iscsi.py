"""The iSCSI target beside the NBD server, where the device takes no time.

One server serves one device both ways, over TCP. At depth 1 this very program is the client, in
turns; for throughput qemu-img is, with the drivers of QEMU for both. Of each figure there is the
median of all turns, the least and the greatest. Run by benches/bench.py, or alone.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import statistics
import subprocess
from typing import Any

from emulator import served_device, spread
from emulator_clients import TARGET, iscsi_reader, latencies_us, nbd_reader

MEMORY = ("--device=memory", "--set=device.latency_ms=0", "--set=device.ms_per_block=0")
TURNS, READS = 20, 1000
QEMU_TURNS, REQUESTS = 5, 50_000
LATENCY_GOAL, THROUGHPUT_GOAL = 1.5, 0.5
"""Of NBD: the most latency at depth 1, and the least throughput."""


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as it:
        port: int = it.getsockname()[1]
        return port


def latency(nbd: int, iscsi: int, *, writes: bool) -> dict[str, Any]:
    """Measure requests one at a time, in turns."""
    turns: dict[str, list[float]] = {"nbd": [], "iscsi": []}
    with nbd_reader(nbd, writes=writes) as one, iscsi_reader(iscsi, writes=writes) as other:
        ways = {"nbd": one, "iscsi": other}
        for turn in range(TURNS):
            for way in list(ways)[:: -1 if turn % 2 else 1]:
                turns[way].append(statistics.median(latencies_us(ways[way], READS, turn)))
    ratios = [one / other for one, other in zip(turns["iscsi"], turns["nbd"], strict=True)]
    return {
        **{f"{way}_us": spread(took) for way, took in turns.items()},
        "iscsi_to_nbd": spread(ratios),
        "goal_at_most": LATENCY_GOAL,
    }


def throughput(urls: dict[str, str], depth: int, *, writes: bool) -> dict[str, Any]:
    """Measure requests/s of qemu-img, in turns."""
    rates: dict[str, list[float]] = {way: [] for way in urls}
    for turn in range(QEMU_TURNS):
        for way in list(urls)[:: -1 if turn % 2 else 1]:
            command = ["qemu-img", "bench", "-f", "raw", "-c", str(REQUESTS), "-d", str(depth)]
            command += ["-s", "4096", *(["-w"] if writes else []), urls[way]]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            took = re.search(r"completed in ([0-9.]+) seconds", said)
            assert took is not None
            rates[way].append(REQUESTS / float(took[1]))
    ratios = [one / other for one, other in zip(rates["iscsi"], rates["nbd"], strict=True)]
    return {
        **{f"{way}_requests_per_s": spread(values) for way, values in rates.items()},
        "iscsi_to_nbd": spread(ratios),
        "goal_at_least": THROUGHPUT_GOAL,
    }


def iscsi_rates() -> dict[str, Any]:
    """Measure latency and throughput beside NBD."""
    nbd, iscsi = free_port(), free_port()
    results: dict[str, Any] = {}
    with served_device(*MEMORY, f"--nbd=:{nbd}", f"--iscsi=127.0.0.1:{iscsi}"):
        for kind in ("read", "write"):
            writes = kind == "write"
            results[f"{kind}_depth_1"] = latency(nbd, iscsi, writes=writes)
            if shutil.which("qemu-img") is None:
                results["missing"] = "qemu-img is missing: throughput is not measured"
                continue
            urls = {
                "nbd": f"nbd://127.0.0.1:{nbd}",
                "iscsi": f"iscsi://127.0.0.1:{iscsi}/{TARGET}/0",
            }
            results[f"{kind}_depth_32"] = throughput(urls, 32, writes=writes)
    return results


if __name__ == "__main__":
    print(json.dumps(iscsi_rates(), indent=2))
