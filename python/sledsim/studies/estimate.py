"""Estimates of the time that a sweep takes."""

from __future__ import annotations

import contextlib
import itertools
import time
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.executors import workers
from sledsim.simulation import Outputs
from sledsim.studies.experiments import EXPERIMENTS
from sledsim.studies.points import Jobs

if TYPE_CHECKING:
    from sledsim.executors import ExecutorLike
    from sledsim.studies.runner import Sweep

_PROBES = 6
_ENOUGH_S = 0.3
"""A probe that takes so long is stopped; the rest is estimated from its progress."""


class _Enough(Exception):  # noqa: N818 (no error)
    """Ends a probe."""


def estimate(sweep: Sweep, executor: ExecutorLike) -> float:
    """Return about how many seconds the missing runs of a sweep take.

    Runs that are in the folder tell; without any, a few points are run for a moment each.
    """
    if not sweep.missing:
        return 0.0
    with workers(executor) as pool:
        count = min(pool.count, sweep.missing)
    known = sweep.seconds_there()
    each = sum(known) / len(known) if known else _probed(sweep)
    return each * sweep.missing / count


def _probed(sweep: Sweep) -> float:
    """Return the mean time of a few points, evenly spread over all."""
    jobs = Jobs(sweep.shared.experiment)
    points = sweep.runs // sweep.replications
    step = max(1, points // _PROBES)
    times = []
    for point in itertools.islice(sweep.design, 0, points, step):
        job = jobs.of(point)
        begun, share = time.perf_counter(), [1.0]

        def beat(
            done: int, of: int | None, begun: float = begun, share: list[float] = share
        ) -> None:
            if time.perf_counter() - begun > _ENOUGH_S and of and done:
                share[0] = done / of
                raise _Enough

        with contextlib.suppress(_Enough, SledsimError):
            EXPERIMENTS[sweep.shared.experiment].run(job, 0, Outputs(rows=False), beat)
        times.append((time.perf_counter() - begun) / share[0])
    return sum(times) / len(times)
