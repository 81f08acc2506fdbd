"""How fast sledsim simulates, and how much memory it takes.

Each case runs in a process of its own, a few times over; the best time counts, as machines are
noisy. Prints JSON and writes it to ``out/bench.json``.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import sledsim as ss

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

REPEATS = 5
RATE_REQUESTS = 2_000_000
MEMORY_REQUESTS = (1_000_000, 10_000_000)

GOALS = {
    "g2_random_fcfs_statistics": {"floor": 3.0e6, "goal": 5.0e6},
    "g2_random_fcfs_parquet": {"floor": 1.5e6},
}
"""Requests/s to reach on one core of a machine like the developers'."""


def simulate(requests: int, *, parquet: bool) -> float:
    """Run g2 under the closed random load, first come first served; return the seconds it took."""
    device = ss.device("g2")
    load = ss.workload("random", requests=requests)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        ss.simulate(load, device=device, requests=f"{folder}/rows.parquet" if parquet else False)
        return time.perf_counter() - start


def measure(requests: int, repeats: int, answer: Connection, *, parquet: bool) -> None:
    """Send the times of some runs and the peak memory of this process in MiB."""
    times = [simulate(requests, parquet=parquet) for _ in range(repeats)]
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer.send((times, peak_mib))


def in_own_process(requests: int, repeats: int, *, parquet: bool) -> tuple[list[float], float]:
    """Call :func:`measure` in a fresh process."""
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(
        target=measure, args=(requests, repeats, there), kwargs={"parquet": parquet}
    )
    process.start()
    there.close()
    answer: tuple[list[float], float] = here.recv()
    process.join()
    return answer


def rate(name: str, *, parquet: bool) -> dict[str, float]:
    """Requests/s of one case: best and median of the repeats."""
    times, _ = in_own_process(RATE_REQUESTS, REPEATS, parquet=parquet)
    times.sort()
    best, median = times[0], times[len(times) // 2]
    return {
        "requests_per_s": round(RATE_REQUESTS / best),
        "median_requests_per_s": round(RATE_REQUESTS / median),
        **GOALS[name],
    }


def peaks(*, parquet: bool) -> dict[str, float]:
    """Peak memory in MiB by number of requests."""
    return {
        str(requests): round(in_own_process(requests, 1, parquet=parquet)[1], 1)
        for requests in MEMORY_REQUESTS
    }


def main() -> None:
    """Measure everything."""
    results = {
        "sledsim": ss.__version__,
        "rates": {
            "g2_random_fcfs_statistics": rate("g2_random_fcfs_statistics", parquet=False),
            "g2_random_fcfs_parquet": rate("g2_random_fcfs_parquet", parquet=True),
        },
        "peak_memory_mib": {
            "statistics": peaks(parquet=False),
            "parquet": peaks(parquet=True),
        },
    }
    text = json.dumps(results, indent=2)
    out = Path("out")
    out.mkdir(exist_ok=True)
    (out / "bench.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
