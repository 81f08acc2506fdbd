"""Section 2.4.11: a buffer between media and bus, and what it prefetches."""

from __future__ import annotations

from typing import Any

from sledsim.hardware import Device
from sledsim.loads import workload
from sledsim.papers import Found, Setup, summary_of
from sledsim.papers.osdi2000 import parts

BUFFER = {"size_kib": 1024, "segments": 8, "read_ahead": "full"}
NO_PREFETCH = BUFFER | {"read_ahead": "none"}
LARGE_KIB, HOST_MIB = 256, 64
REUSED_BLOCKS = 2**20
"""512 MB, in which blocks are read again by Zipf's law."""


def mean_ms(device: Device, requests: int, kind: str, **keys: Any) -> float:
    """Return the mean response time of reads of one size, one after the other."""
    load = workload(kind, requests=requests, read_fraction=1, size="fixed", **keys)
    return float(summary_of(load, device)["response_time_ms"]["mean"])


def reuse_percent(device: Device, requests: int) -> dict[str, float]:
    """Return the shares of reads that the host's cache and the device's buffer serve."""
    load = workload(
        "zipf",
        requests=requests,
        read_fraction=1,
        size="fixed",
        mean_size_kib=4,
        blocking=8,
        unit_blocks=8,
        zipf_exponent=1.0,
        last_lbn=REUSED_BLOCKS - 1,
    )
    host, _, own = summary_of(load, device)["devices"]
    return {
        "device": 100 * own["counts"]["read_hits"] / requests,
        "host": 100 * host["counts"]["segments_read_found"] / host["counts"]["segments_read"],
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read with a buffer and without."""
    requests = 2_000 if quick else 20_000
    sequence: dict[str, Any] = {"kind": "sequential", "sequential_fraction": 1, "mean_size_kib": 4}
    buffers = {"prefetching": BUFFER, "none": NO_PREFETCH}
    prefetch = {
        name: mean_ms(parts.sled(setup, buffer=buffer), requests, **sequence)
        for name, buffer in buffers.items()
    }
    matching = {
        name: mean_ms(
            parts.sled(setup, buffer=NO_PREFETCH | {"speed_matching": kind}),
            requests // 2,
            "random",
            mean_size_kib=LARGE_KIB,
        )
        for name, kind in (("speed matching", "block"), ("none", "none"))
    }
    cached = parts.device(setup["sled"], buffer=BUFFER, controller_cache={"cache_mib": HOST_MIB})
    return Found(
        {
            "prefetch_ms": prefetch,
            "matching_ms": matching,
            "reuse_percent": reuse_percent(cached, 10 * requests),
        }
    )
