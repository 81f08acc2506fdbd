"""Traces of many volumes, or of a long time: split, and simulated part by part."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from sledsim import _core
from sledsim._arguments import optional, path_text, real, refuse
from sledsim._core import SledsimError
from sledsim._own_schedulers import is_path
from sledsim._progress import told
from sledsim.executors import completed
from sledsim.executors import workers as opened
from sledsim.results import cautions
from sledsim.results.rows import Rows
from sledsim.simulation import Run
from sledsim.traces.parts import split

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator
    from os import PathLike

    from sledsim._load import Load
    from sledsim._own_schedulers import SchedulerLike
    from sledsim._progress import ProgressLike
    from sledsim.executors import ExecutorLike
    from sledsim.hardware import Device
    from sledsim.traces.parts import TraceParts

_Outcome: TypeAlias = "tuple[_core.Statistics, bytes] | str"
"""Statistics and facts of a part, or why it failed."""


class VolumesRun(Run):
    """The result of :func:`simulate` with ``split``: a run whose requests are those of all parts.

    A part that fails has its error in :attr:`volumes`, and the run a caution.
    """

    def __init__(self, document: dict[str, Any], statistics: _core.Statistics, table: Rows) -> None:
        super().__init__(document, statistics)
        self._table = table

    def __repr__(self) -> str:
        count, by = self.split["count"], self.split["by"]
        where = f" in {count} {by}{'' if count == 1 else 's'}"
        return f"<sledsim run: {self._told(where)}>"

    def _no_rows(self) -> str:
        return "rows are kept of a single run only: run one volume or window for them"

    @property
    def split(self) -> dict[str, Any]:
        """How the trace was split: the number of parts and requests, and what became of them."""
        split: dict[str, Any] = self._document["split"]
        return split

    @property
    def volumes(self) -> Rows:
        """A row for each volume or window, in the order in which they begin in the trace.

        Any library that reads the Arrow PyCapsule interface reads it. See the page on volumes for
        the columns.
        """
        return self._table


def run_parts(
    trace: Load,
    device: Device,
    scheduler: SchedulerLike,
    by: float | str,
    *,
    warm_up_s: float | None = None,
    workers: ExecutorLike = None,
    folder: str | PathLike[str] | None = None,
    table: str | PathLike[str] | None = None,
    progress: ProgressLike = None,
) -> VolumesRun:
    """Run the parts of a trace, as :func:`sledsim.simulate` with ``split=by``."""
    windows = _windows(by, warm_up_s)
    if _core.trace_of(trace._core) is None:
        must = "a trace, to be split; sledsim trace generate writes a workload as one"
        refuse("load", trace.name, must)
    if not isinstance(scheduler, str) or is_path(scheduler):
        refuse("scheduler", scheduler, "one of sledsim's with split")
    results = _core.Parts(device._core, scheduler)
    file = optional(path_text, "table", table)
    if file is not None:
        _core.check_table_file(file)
    where = optional(path_text, "folder", folder)
    with (
        told(progress) as tell,
        opened(workers) as pool,
        split(trace, windows, where, tell, min(pool.count, os.cpu_count() or 1)) as parts,
    ):
        results.expect(parts.text)
        listed = parts.listed
        done, everything = 0, listed["requests"]
        run = partial(_run_part, stopped=pool.stopped) if pool.shares_memory else _run_part

        def beat() -> None:
            if tell is not None:
                tell(done, everything)

        for task, outcome in completed(pool, run, _tasks(device, scheduler, parts), beat):
            done += listed["parts"][task.index]["requests"]
            if isinstance(outcome, str):
                results.fail(task.index, outcome)
            else:
                results.add(task.index, *outcome)
    merged = results.finish(file)
    document = json.loads(merged["document"])
    document["caution"] = cautions.of(document)
    assert merged["table"] is not None  # (there is at least one part)
    return VolumesRun(document, merged["statistics"], Rows(merged["table"]))


def _windows(by: object, warm_up_s: object) -> tuple[float, float] | None:
    """Return the length of windows and of their warm-up; ``None`` to split by volume."""
    if isinstance(by, str) and by == "volumes":
        if warm_up_s is not None:
            must = "left out by volume: it is a key of the trace then, read_trace(warm_up_s=...)"
            refuse("warm_up_s", warm_up_s, must)
        return None
    try:
        length = real("split", by, 1e-9, 9e9)
    except SledsimError:
        refuse("split", by, '"volumes", or the length of windows in s, from 1e-09 to 9e+09')
    return length, length / 10 if warm_up_s is None else real("warm_up_s", warm_up_s, 0, 9e9)


@dataclass(frozen=True)
class _Part:
    """A part to be run."""

    index: int
    path: str
    keys: list[tuple[str, object]]
    bounds_ns: tuple[int, int] | None
    device: Device
    scheduler: str


def _tasks(device: Device, scheduler: str, parts: TraceParts) -> Iterator[_Part]:
    listed = parts.listed
    largest_first = sorted(enumerate(listed["parts"]), key=lambda entry: -entry[1]["requests"])
    for index, part in largest_first:  # so that no worker has a large one left at the end
        keys = listed["keys"] | part.get("keys", {})
        bounds = (part["start_ns"], part["end_ns"]) if "start_ns" in part else None
        path = str(parts.folder / part["file"])
        yield _Part(index, path, list(keys.items()), bounds, device, scheduler)


def _run_part(part: _Part, stopped: threading.Event | None = None) -> _Outcome:
    """Run a part; its errors are results, as those of another part may be none."""

    def look(_done: int, _of: int | None) -> None:
        if stopped is not None and stopped.is_set():
            raise KeyboardInterrupt

    try:
        load = _core.Load.trace(part.path, part.keys)
        core = part.device._core
        return _core.run_part(core, load, part.scheduler, part.bounds_ns, look)
    except SledsimError as error:
        return str(error).removeprefix(f"{part.path}: ")
