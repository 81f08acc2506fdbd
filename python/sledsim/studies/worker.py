"""The work on a batch of points, on any worker."""

from __future__ import annotations

import os
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError, StudyTable
from sledsim.simulation import Outputs
from sledsim.studies.experiments import EXPERIMENTS
from sledsim.studies.points import Jobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledsim.studies.design import Cell, Kind, Point


@dataclass(frozen=True)
class Shared:
    """What all batches of a study have in common."""

    study: str
    """Identifies the call, so that a worker can reuse what it made for the batch before."""
    numbers: str
    """The version of the numbers at the client."""
    experiment: str
    parameters: Mapping[str, Kind]
    """Keys of the points, and the kinds of their columns."""
    rows: Path | None
    """The folder for the rows of runs."""
    parts: bool
    """Whether these have the requests inside devices, too."""


@dataclass(frozen=True)
class Batch:
    """Points to be run by one task."""

    shared: Shared
    base: Point
    """Keys with the same value at all points."""
    cells: Mapping[str, Cell]
    """The same, as they stand in the table."""
    runs: Sequence[Planned]


@dataclass(frozen=True)
class Planned:
    """A replication of a point."""

    key: str
    """What identifies it in the study."""
    digest: str
    """The digest of its job at the client."""
    point: Point
    """What it has beside the base."""
    cells: Mapping[str, Cell]
    """The same, as they stand in the table."""
    replication: int


class WorkerError(SledsimError):
    """A worker that cannot do what the client wants: of another version, or without a file."""


_jobs: tuple[str, Jobs] | None = None
"""The study that this process worked on last, and what it made of its keys."""
_lock = threading.Lock()


def run_batch(batch: Batch, stopped: threading.Event | None = None) -> StudyTable:
    """Run points and return their rows.

    Parameters
    ----------
    batch
        The points.
    stopped
        Set when the result is not wanted any more.
    """
    shared = batch.shared
    if shared.numbers != _core.NUMBERS:
        raise WorkerError(
            f"{_here()}: has sledsim {_core.NUMBERS}, and the study is of {shared.numbers}; "
            "install the same version on all workers"
        )
    jobs = _jobs_of(shared)
    rows = [_row(jobs, batch, planned, stopped) for planned in batch.runs]
    return table_of(rows, shared)


def run_batch_ipc(batch: Batch) -> bytes:
    """Run points and return their rows as an Arrow IPC stream, for another process."""
    return run_batch(batch).to_ipc()


def table_of(rows: Sequence[Mapping[str, Any]], shared: Shared) -> StudyTable:
    """Return rows as a table, with all columns of the study."""
    return StudyTable(
        [(name, kind, [row.get(name) for row in rows]) for name, kind in columns_of(shared).items()]
    )


def columns_of(shared: Shared) -> dict[str, Kind]:
    """Return the columns of a study in order, with their kinds."""
    results = EXPERIMENTS[shared.experiment].columns
    named = {result_column(name, shared.parameters): kind for name, kind in results.items()}
    return {**shared.parameters, **OWN_COLUMNS, **named}


def result_column(name: str, parameters: Mapping[str, Kind]) -> str:
    """Return the column of a result: its name, after ``result.`` if a key is called like that."""
    return f"result.{name}" if name in parameters else name


OWN_COLUMNS: dict[str, Kind] = {
    "replication": "number",
    "seed_used": "number",
    "key": "text",
    "digest": "text",
    "version": "text",
    "seconds": "number",
    "error": "text",
}
"""Columns beside parameters and results."""


def _jobs_of(shared: Shared) -> Jobs:
    global _jobs  # noqa: PLW0603 (one study at a time in a process of workers)
    with _lock:
        if _jobs is None or _jobs[0] != shared.study:
            _jobs = (shared.study, Jobs(shared.experiment))
        return _jobs[1]


def _row(
    jobs: Jobs, batch: Batch, planned: Planned, stopped: threading.Event | None
) -> dict[str, Any]:
    shared, point = batch.shared, {**batch.base, **planned.point}
    try:
        job = jobs.of(point)
        found = job.digest
    except SledsimError as error:
        raise WorkerError(f"{_here()}: {error}") from None
    if found != planned.digest:
        raise WorkerError(
            f"{_here()}: a file of this point has other content than at the client: {point}"
        )

    def beat(_done: int, _of: int | None) -> None:
        if stopped is not None and stopped.is_set():
            raise KeyboardInterrupt

    rows = False if shared.rows is None else shared.rows / f"{planned.key}.parquet"
    outputs = Outputs(rows=rows, parts=shared.parts)
    begun = time.perf_counter()
    result: dict[str, Any] = {}
    failure = None
    try:
        result = EXPERIMENTS[shared.experiment].run(job, planned.replication, outputs, beat)
    except SledsimError as error:
        failure = str(error)
    seed = job.load.seed
    parameters = shared.parameters
    return {
        **{result_column(name, parameters): value for name, value in result.items()},
        **batch.cells,
        **planned.cells,
        "replication": planned.replication,
        "seed_used": None if seed is None else seed + planned.replication,
        "key": planned.key,
        "digest": planned.digest,
        "version": shared.numbers,
        "seconds": time.perf_counter() - begun,
        "error": failure,
    }


def _here() -> str:
    return f"worker {os.getpid()} on {socket.gethostname()}"
