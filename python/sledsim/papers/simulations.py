"""Simulations of items: each is done once, and its outcome is in a store that all items share."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections import Counter
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from sledsim._load import Load
from sledsim.hardware import Device
from sledsim.papers.outcomes import OutcomeStore
from sledsim.simulation import Run, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

P = ParamSpec("P")
T = TypeVar("T")

ENVIRONMENT = "SLEDSIM_OUTCOMES"
"""The variable of the environment that names a folder for all of them."""

_stores: list[OutcomeStore] = []
"""Those in use, the innermost last; items may simulate in threads."""


def summary_of(
    load: Load, device: Device, scheduler: str = "fcfs", *, replications: int = 1, **keys: Any
) -> dict[str, Any]:
    """Return the summary of a run, as :attr:`Run.summary <sledsim.Run.summary>` has it.

    Where :func:`sledsim.papers.run` runs items, or ``SLEDSIM_OUTCOMES`` of the environment names a
    folder, it is read from a store if there was such a run before. An item that needs rows or a
    distribution calls :func:`run_of`.

    Parameters
    ----------
    load, device, scheduler, replications
        As for :func:`sledsim.simulate`. Replications are run one after the other.
    **keys
        ``layout``, ``background`` and ``precision``, likewise.
    """
    named = os.environ.get(ENVIRONMENT)
    if _stores or named:
        store = _stores[-1] if _stores else OutcomeStore(named or "")
        document = store.simulate(
            load, device, scheduler, replications=replications, workers=1, **keys
        )
    else:
        document = simulate(
            load, device, scheduler, replications=replications, rows=False, workers=1, **keys
        ).to_dict()
    _collect(document["caution"])
    summary: dict[str, Any] = document["summary"]
    return summary


_collecting: list[list[Sequence[Mapping[str, Any]]]] = []
"""Collections of the cautions of each run, the innermost last."""


def _collect(run: Sequence[Mapping[str, Any]]) -> None:
    if _collecting:
        _collecting[-1].append(run)


@contextlib.contextmanager
def collecting() -> Iterator[list[Sequence[Mapping[str, Any]]]]:
    """Collect the cautions of each run that :func:`summary_of` or :func:`run_of` returns."""
    _collecting.append([])
    try:
        yield _collecting[-1]
    finally:
        _collecting.pop()


def together(runs: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the cautions of many runs by kind, the gravest first, each with the number of runs.

    The warm-up is left out: an item has one where it chose to.
    """
    found = [one for run in runs for one in run if one["code"] != "warm_up"]
    kinds = {one["code"]: one["unreliable"] for one in found}
    counts = Counter(one["code"] for one in found)
    return [
        {
            "code": code,
            "text": f"{code.replace('_', ' ')}: {counts[code]:,} of {len(runs):,} runs",
            "unreliable": unreliable,
        }
        for code, unreliable in sorted(kinds.items(), key=lambda kind: (not kind[1], kind[0]))
    ]


def run_of(load: Load, device: Device, scheduler: str = "fcfs", **keys: Any) -> Run:
    """Return :func:`sledsim.simulate` of the same, for rows and distributions."""
    run: Run = simulate(load, device, scheduler, **keys)
    _collect(run.cautions)
    return run


def service_times_ms(
    loads: Sequence[Load], device: Device, scheduler: str = "fcfs", **keys: Any
) -> list[float]:
    """Return for each request of some runs the time from the start of positioning to completion.

    SIGMETRICS 2000 and CMU-CS-00-136 call this the service time: it has the bus in it, and the
    time in a buffer. :attr:`Run.summary <sledsim.Run.summary>` has the time at mechanisms alone.
    """
    times: list[float] = []
    for load in loads:
        run = run_of(load, device, scheduler, **keys)
        cut = run.summary["warm_up"]
        first = 0 if cut is None else cut["requests"]
        columns = run.rows.to_arrow().select(["id", "start_ns", "completion_ns"])
        rows = zip(*(column.to_pylist() for column in columns.columns), strict=True)
        times += [(end - start) / 1e6 for id_, start, end in rows if id_ >= first]
    return times


def once(function: Callable[P, T]) -> Callable[P, T]:
    """Call a function once for the same arguments; the cautions of its runs count each time."""

    def collected(*arguments: Hashable) -> tuple[T, list[Sequence[Mapping[str, Any]]]]:
        with collecting() as runs:
            return cast("Callable[..., T]", function)(*arguments), runs

    kept = cache(collected)

    @wraps(function)
    def call(*arguments: P.args, **keys: P.kwargs) -> T:
        result, runs = kept(*inspect.signature(function).bind(*arguments, **keys).args)
        for run in runs:
            _collect(run)
        return result

    return call


@contextlib.contextmanager
def stored_in(folder: Path) -> Iterator[OutcomeStore]:
    """Let :func:`summary_of` use the store in a folder."""
    _stores.append(OutcomeStore(folder))
    try:
        yield _stores[-1]
    finally:
        _stores.pop()


def folder_of(output: Path) -> Path:
    """Return the folder of the store for items whose files go to ``output``.

    That is the folder :data:`ENVIRONMENT` names, or else one beside them.
    """
    named = os.environ.get(ENVIRONMENT)
    return Path(named) if named else output / "outcomes"
