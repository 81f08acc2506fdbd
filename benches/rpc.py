"""How many batches a server takes over RPC where the device takes no time.

The server is a program of its own; the client is sledsim.connect. Two devices take no time:
`memory` with no latency, which serves batches of one, and a sled at the greatest speed there is (a
million seconds of it in one), which serves batches of ten blocks of a class in one pass. Run by
benches/bench.py, or alone.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from emulator import served_device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.emulator.remote import Command

SECONDS = 3
GOAL = 20_000
"""Batches/s where the model takes no time."""
MEMORY = ("--device=memory", "--set=device.latency_ms=0", "--set=device.ms_per_block=0")
SLED = ("--device=cmu2003", "--speed=1e6")


def one_at_a_time(remote: ss.emulator.RemoteDevice, batch: list[Command]) -> dict[str, float]:
    """Measure calls that wait for each other."""
    took_us = []
    end = time.perf_counter() + SECONDS
    while (start := time.perf_counter()) < end:
        remote.batch(batch)
        took_us.append(1e6 * (time.perf_counter() - start))
    took_us.sort()
    return {
        "batches_per_s": len(took_us) / SECONDS,
        "us_p50": took_us[len(took_us) // 2],
        "us_p99": took_us[99 * len(took_us) // 100],
    }


def streamed(
    remote: ss.emulator.RemoteDevice, batch: list[Command], under_way: int
) -> dict[str, float]:
    """Measure batches of which many are under way."""
    start = time.perf_counter()

    def batches() -> Iterator[list[Command]]:
        while time.perf_counter() - start < SECONDS:
            yield batch

    done = sum(1 for _ in remote.batches(batches(), under_way))
    return {"batches_per_s": done / (time.perf_counter() - start), "goal_batches_per_s": GOAL}


def rpc_rates() -> dict[str, Any]:
    """Measure both devices, one batch at a time and streamed."""
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder) / "s.sock"
        for name, device in (("memory", MEMORY), ("sled_at_1e6", SLED)):
            with served_device(*device, f"--rpc=unix:{socket}"), ss.connect(f"unix:{socket}") as it:
                lbns = it.equivalent(123_456)[::10] if name != "memory" else [123_456]
                reads: list[Command] = [("read", lbn, 1) for lbn in lbns]
                writes: list[Command] = [("write", lbn, bytes(512)) for lbn in lbns]
                results[name] = {
                    "commands_per_batch": len(reads),
                    "read_one_at_a_time": one_at_a_time(it, reads),
                    "read_64_under_way": streamed(it, reads, 64),
                    "write_64_under_way": streamed(it, writes, 64),
                }
    return results


if __name__ == "__main__":
    print(json.dumps(rpc_rates(), indent=2))
