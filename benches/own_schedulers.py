"""Prints how fast schedulers written in Python serve: `python benches/own_schedulers.py`.

On `g2`, closed at each depth, beside the built-in ones that pick the same, in turns; the best of
three in requests/s.
"""

# ruff: noqa: ARG002 - pick has these parameters

from __future__ import annotations

import time

import numpy as np
import sledsim as ss

REQUESTS, TURNS, DEPTHS = 50_000, 3, (4, 16, 64, 256)


class Nearest:
    """SSTF by cylinder, with NumPy."""

    wants_positioning = False

    def pick(self, queue: ss.Queue, now_ms: float) -> int:
        """Take the nearest."""
        return int(np.abs(queue.cylinder - queue.current_cylinder).argmin())


class Plain:
    """The same in plain Python."""

    wants_positioning = False

    def pick(self, queue: ss.Queue, now_ms: float) -> int:
        """Take the nearest."""
        here = queue.current_cylinder
        far = [abs(cylinder - here) for cylinder in queue.cylinder.tolist()]
        return far.index(min(far))


class Soonest:
    """SPTF, by the positioning times of the device."""

    def pick(self, queue: ss.Queue, now_ms: float) -> int:
        """Take the soonest."""
        return int(queue.positioning_ms.argmin())


def main() -> None:
    """Measure each at each depth."""
    cases: dict[str, str | type[ss.Scheduler]] = {
        "Nearest": Nearest,
        "Plain": Plain,
        "Soonest": Soonest,
        "sstf_lbn": "sstf_lbn",
        "sptf": "sptf",
    }
    print("depth", *(f"{name:>10}" for name in cases))
    for depth in DEPTHS:
        load = ss.workload("random", queue_depth=depth, requests=REQUESTS)
        best = [0.0] * len(cases)
        for _ in range(TURNS):
            for index, case in enumerate(cases.values()):
                began = time.perf_counter()
                ss.simulate(load, "g2", case, rows=False)
                best[index] = max(best[index], REQUESTS / (time.perf_counter() - began))
        print(f"{depth:5}", *(f"{rate:10,.0f}" for rate in best))


if __name__ == "__main__":
    main()
