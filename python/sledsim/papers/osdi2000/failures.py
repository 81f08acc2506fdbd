"""Section 6: failures of tips, errors, arrays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim.papers import Found, run_of, summary_of
from sledsim.power import column

if TYPE_CHECKING:
    from collections.abc import Mapping

SLED, DISK = "osdi2000", "atlas10k"
FAILED, SPARES = 40, 64
MOVED, SPARE_CYLINDERS = 2, 60
"""Tips whose squares move elsewhere: each is a hundredth of 2500 cylinders."""
SIZE_KIB, STREAM_KIB = 4, 256
ARRAY = Path(__file__).parent / "devices" / "raid5.toml"


def responses_ms(requests: int, faults: Mapping[str, Any]) -> list[float]:
    """Return the response time of each of some requests in sequences."""
    load = ss.workload(
        "sequential", requests=requests, sequential_fraction=0.5, rate=500, mean_size_kib=16
    )
    run = run_of(load, ss.device(SLED, faults=dict(faults)))
    ends, begins = (column(run.requests, name) for name in ("completion_ns", "arrival_ns"))
    return [(end - begin) / 1e6 for end, begin in zip(ends, begins, strict=True)]


def stream_ms(requests: int, faults: Mapping[str, Any]) -> float:
    """Return the mean response time of large reads in sequence."""
    load = ss.workload(
        "sequential",
        requests=requests,
        sequential_fraction=1,
        read_fraction=1,
        size="fixed",
        mean_size_kib=STREAM_KIB,
    )
    summary = summary_of(load, ss.device(SLED, faults=dict(faults)))
    return float(summary["response_time_ms"]["mean"])


def retries_ms(requests: int, faults: Mapping[str, Any]) -> tuple[float, float]:
    """Return the mean time of retries, and the longest in a request."""
    load = ss.workload(
        requests=requests, read_fraction=1, size="fixed", mean_size_kib=SIZE_KIB, blocking=8
    )
    run = run_of(load, ss.device(SLED, faults=dict(faults)))
    took = column(run.requests, "retry_ns")
    counts = run.summary["devices"][0]["counts"]
    errors = counts["retries"] + counts["seek_errors"]
    return sum(took) / 1e6 / errors, max(took) / 1e6


def small_write(child: str, keys: Mapping[str, Any], requests: int) -> float:
    """Return the extra time of a small write to RAID 5 against one to a child alone, in ms."""
    array = ss.device(ARRAY, child={"base": child, **keys})
    load = ss.workload(
        requests=requests, read_fraction=0, size="fixed", mean_size_kib=SIZE_KIB, blocking=8
    )
    one, other = (
        summary_of(load, on)["response_time_ms"]["mean"] for on in (array, ss.device(child, **keys))
    )
    return float(one - other)


def simulate(*, quick: bool) -> Found:
    """Run with failures and without."""
    requests = 2_000 if quick else 20_000
    spare = {"spare_tips": SPARES}
    moved = {"remap": "elsewhere", "spare_cylinders": SPARE_CYLINDERS}
    plain = responses_ms(requests, spare)
    replaced = responses_ms(requests, spare | {"failed_tips": FAILED})
    streams = {
        "spare tips": stream_ms(requests // 20, spare | {"failed_tips": MOVED}),
        "elsewhere": stream_ms(requests // 20, moved | {"failed_tips": MOVED}),
    }
    reread_ms, _ = retries_ms(requests, {"read_error_rate": 1e-3, "retries": 10})
    _, longest_ms = retries_ms(requests, {"seek_error_rate": 0.02})
    one = ss.tip_failures(ecc_tips=1, failed_tips=1, trials=100 if quick else 10_000)
    turn_ms = ss.device(DISK).spec["derived"]["revolution_ms"]
    small = {
        "MEMS": small_write(SLED, {}, requests),
        "disk": small_write(DISK, {"buffer": {"write_back": "none"}}, requests),
    }
    added = [after - before for after, before in zip(replaced, plain, strict=True)]
    return Found(
        {
            "spare_ms": sum(added) / len(added),
            "spare_longest_ms": max(map(abs, added)),
            "elsewhere": streams,
            "single_lost": 100 * one.lost_share[1],
            "reread": {"MEMS": reread_ms, "disk": turn_ms},
            "seek_error_ms": longest_ms,
            "small_writes": small,
        }
    )
