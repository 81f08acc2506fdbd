"""Section 6.1.1: failures of tips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.failures import tip_failures
from sledsim.loads import workload
from sledsim.papers import Found, Setup, run_of, summary_of
from sledsim.papers.osdi2000 import parts
from sledsim.papers.power import column

if TYPE_CHECKING:
    from collections.abc import Mapping

FAILED, SPARES = 40, 64
MOVED, SPARE_CYLINDERS = 2, 60
"""Tips whose squares move elsewhere: each is a hundredth of 2500 cylinders."""
STREAM_KIB = 256
MANY = 200
"""Failures that use up the spare tips."""


def responses_ms(setup: Setup, requests: int, faults: Mapping[str, Any]) -> list[float]:
    """Return the response time of each of some requests in sequences."""
    load = workload(
        "sequential", requests=requests, sequential_fraction=0.5, rate=500, mean_size_kib=16
    )
    run = run_of(load, parts.sled(setup, faults=dict(faults)))
    ends, begins = (column(run.rows, name) for name in ("completion_ns", "arrival_ns"))
    return [(end - begin) / 1e6 for end, begin in zip(ends, begins, strict=True)]


def stream_ms(setup: Setup, requests: int, faults: Mapping[str, Any]) -> float:
    """Return the mean response time of large reads in sequence."""
    load = workload(
        "sequential",
        requests=requests,
        sequential_fraction=1,
        read_fraction=1,
        size="fixed",
        mean_size_kib=STREAM_KIB,
    )
    summary = summary_of(load, parts.sled(setup, faults=dict(faults)))
    return float(summary["response_time_ms"]["mean"])


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run with failures and without, and count failures without motion."""
    requests, trials = (2_000, 100) if quick else (20_000, 10_000)
    spare = {"spare_tips": SPARES}
    moved = {"remap": "elsewhere", "spare_cylinders": SPARE_CYLINDERS}
    plain = responses_ms(setup, requests, spare)
    replaced = responses_ms(setup, requests, spare | {"failed_tips": FAILED})
    added = [after - before for after, before in zip(replaced, plain, strict=True)]
    one = tip_failures(ecc_tips=1, failed_tips=1, trials=trials)
    given_up = {
        what: tip_failures(
            ecc_tips=1, spare_tips=SPARES, failed_tips=MANY, out_of_spares=what, trials=trials
        )
        for what in ("capacity", "tolerance")
    }
    return Found(
        {
            "spare_ms": sum(added) / len(added),
            "spare_longest_ms": max(map(abs, added)),
            "elsewhere": {
                "spare tips": stream_ms(setup, requests // 20, spare | {"failed_tips": MOVED}),
                "elsewhere": stream_ms(setup, requests // 20, moved | {"failed_tips": MOVED}),
            },
            "single_lost": 100 * one.lost_share[1],
            "single_capacity": 100 * one.capacity_share[1],
            "capacity_left": {
                what: 100 * study.capacity_share[MANY] for what, study in given_up.items()
            },
            "lost": {what: 100 * study.lost_share[MANY] for what, study in given_up.items()},
        }
    )
