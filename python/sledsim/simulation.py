"""Simulations of a load on a device."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypeAlias, overload

from sledsim import _core
from sledsim._above import Drawn, Explained, Tabled, plots, saved
from sledsim._arguments import as_list, optional, path_text, real, refuse, share, text, whole
from sledsim._number_text import measured, number, percent, response_decimals, rounded
from sledsim._own_schedulers import scheduler_of
from sledsim._progress import told
from sledsim._values import digest_of
from sledsim.hardware import dotted_keys, wrap
from sledsim.loads import load_of
from sledsim.results import cautions
from sledsim.results.reported import Origin, Reported

if TYPE_CHECKING:
    from os import PathLike
    from typing import Unpack

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from sledsim._name_types import LayoutName
    from sledsim._own_schedulers import SchedulerLike
    from sledsim._progress import ProgressLike
    from sledsim.executors import ExecutorLike
    from sledsim.hardware import Device, DeviceLike
    from sledsim.loads import LoadLike
    from sledsim.plots.frame import How, Size
    from sledsim.plots.picture import Picture
    from sledsim.results.rows import Rows
    from sledsim.results.summaries import Summary
    from sledsim.volumes import VolumesRun

Task: TypeAlias = str | Mapping[str, object]
"""A background task: its name, perhaps with keys, or a mapping of its keys."""


class Run(Drawn, Explained, Tabled, Reported):
    """The result of a simulation; made by :func:`simulate`.

    Runs are values: two are equal if their documents and statistics are, and the rows and series
    that both have. They are hashable, as long as no one changes the document, and can be pickled
    with rows and series.
    """

    _kind = "run"

    def __init__(
        self,
        document: dict[str, Any],
        statistics: _core.Statistics,
        rows: Rows | None = None,
        series: Rows | None = None,
    ) -> None:
        super().__init__(document)
        self._statistics = statistics
        self._rows = rows
        self._series = series

    def __repr__(self) -> str:
        return f"<sledsim run: {self._told()}>"

    def _told(self, where: str = "") -> str:
        """Say on one line what came out; ``where`` is behind the number of requests."""
        summary, device = self.summary, self._document["device"]
        mean, told = summary["response_time_ms"]["mean"], summary["confidence"]["response_time_ms"]
        text = f"{number(summary['requests'])} requests{where} on {device}"
        if mean is not None:
            width = told["half_width_share"]
            within = "" if width is None else f" (± {percent(width)})"
            digits = rounded(mean, response_decimals(summary))
            text += f", mean response time {digits} ms{within}"
            text += f", {measured(summary['throughput_iops'])} requests/s"
        if mark := cautions.mark(self.cautions):
            named = ", ".join(code.replace("_", " ") for code in cautions.codes(self.cautions))
            text += f"; {mark} {named}"
        return text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        tables = ((self._rows, other._rows), (self._series, other._series))
        return (
            self._document == other._document
            and self._statistics.equals(other._statistics)
            and all(
                ours == theirs for ours, theirs in tables if ours is not None and theirs is not None
            )
        )

    __hash__ = Reported.__hash__

    @property
    def digest(self) -> str:
        """What identifies the run, without rows and series: SHA-256 in hexadecimal digits."""
        return digest_of(self._text() + self._statistics.to_bytes().hex())

    @property
    def summary(self) -> Summary:
        """Statistics with units in their names; see the page on results."""
        summary: Summary = self._document["summary"]
        return summary

    @property
    def workload(self) -> dict[str, Any]:
        """The load: every key in effect and what was done to a trace."""
        workload: dict[str, Any] = self._document["workload"]
        return workload

    @property
    def cautions(self) -> list[dict[str, Any]]:
        """Warnings about the results: ``code``, ``text`` and ``unreliable`` of each caution.

        ``unreliable`` says that the mean response time and its interval are unreliable.
        """
        found: list[dict[str, Any]] = self._document["caution"]
        return found

    def cdf(self, time: str = "response_time", op: str | None = None) -> list[tuple[float, float]]:
        """Return a distribution function, from the histograms that are always kept.

        Parameters
        ----------
        time
            A kind of time, named as in the summary but without its unit: ``"response_time"``,
            ``"service_time"``, ``"queue"``, ``"seek"``, ...
        op
            ``"read"``, ``"write"``, ``"flush"`` or ``"trim"``, for the response times of these
            alone.

        Returns
        -------
        list of (ms, share)
            Rising times, each with the share of the requests that did not take longer; a time is
            at most 1/1024 too high. The last is the maximum and 1. Empty without requests.

        Raises
        ------
        SledsimError
            For an unknown name, or an operation with another kind of time.
        """
        return self._statistics.cdf(text("time", time), optional(text, "op", op))

    def percentile(
        self, percent: float, time: str = "response_time", op: str | None = None
    ) -> float | None:
        """Return the time in ms that so many percent of the requests did not exceed.

        Parameters
        ----------
        percent
            Above 0 and at most 100, as 99 or 99.9.
        time, op
            As for :meth:`cdf`, from which it is read.

        Returns
        -------
        float or None
            At most 1/1024 too high; None without requests.

        Raises
        ------
        SledsimError
            As :meth:`cdf`, and for another percentage.
        """
        wanted = real("percent", percent, 0, 100) / 100
        if not wanted:
            refuse("percent", percent, "above 0 and at most 100")
        steps = self.cdf(time, op)
        return next((ms for ms, reached in steps if reached >= wanted * (1 - 1e-12)), None)

    @property
    def requests(self) -> int:
        """The number of requests counted, ``summary["requests"]``."""
        return self.summary["requests"]

    @property
    def rows(self) -> Rows:
        """One row per request of the host: :meth:`Rows.to_pandas`, :meth:`Rows.to_polars`, ...

        With ``simulate(..., parts=True)`` there are also the requests inside the device; these have
        a ``parent``. Any library that reads the Arrow PyCapsule interface takes it as it is.

        Raises
        ------
        RuntimeError
            If the rows were not kept in memory.
        """
        if self._rows is None:
            raise RuntimeError(self._no_rows())
        return self._rows

    def _no_rows(self) -> str:
        if self.summary["seeds"]:
            return "rows are kept of a single run only: run one seed for them"
        return "the rows were not kept in memory: simulate(..., rows=True) keeps them"

    @property
    def series(self) -> Rows:
        """Throughput, outstanding requests and power by window of time, as :attr:`rows`.

        Raises
        ------
        RuntimeError
            If no series was asked for.
        """
        if self._series is None:
            raise RuntimeError("there is no time series: simulate(..., series=True) makes one")
        return self._series

    def to_pandas(self) -> pd.DataFrame:
        """Return :attr:`rows` as a data frame of pandas: :meth:`Rows.to_pandas`."""
        return self.rows.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return :attr:`rows` as a data frame of Polars: :meth:`Rows.to_polars`."""
        return self.rows.to_polars()

    def to_arrow(self) -> pa.Table:
        """Return :attr:`rows` as a table of pyarrow: :meth:`Rows.to_arrow`."""
        return self.rows.to_arrow()

    def plot_path(
        self,
        path: str | PathLike[str] | None = None,
        *,
        requests: int | None = None,
        start_ms: float = 0.0,
        **how: Unpack[How],
    ) -> Picture:
        """Draw where the arm or the sled went over time; see :func:`sledsim.plots.path`.

        Parameters
        ----------
        path
            A file to write, too: ``.png``, ``.svg`` or ``.pdf``.
        requests, start_ms, **how
            As there.

        Raises
        ------
        SledsimError
            As there, and if the file cannot be written.
        """
        return saved(plots().path(self, requests=requests, start_ms=start_ms, **how), path)

    def animate(
        self,
        path: str | PathLike[str],
        *,
        start_ms: float = 0.0,
        seconds: float | None = None,
        speed: float = 0.01,
        size: Size = None,
    ) -> None:
        """Write a film of the arm or the sled at work, with the requests that wait, for slides.

        A sled is seen from above, a disk as a platter with its arm. Below is where it went over
        time, by cause. Rows have the ends of each way alone: it is drawn straight between them.

        Parameters
        ----------
        path
            The file: ``.gif``, or ``.mp4``, which ffmpeg writes.
        start_ms
            When the film begins, in the time of the run.
        seconds
            How long it takes, at most 60; by default 5, or less if the run ends sooner.
        speed
            How much of the time of the run passes in that of the film: 0.01 is a hundred times
            slower.
        size
            As for :func:`sledsim.plots.cdf`.

        Raises
        ------
        SledsimError
            For another ending, a time after the run, a device with several arms or sleds or none,
            a missing library, or a file that cannot be written.
        """
        plots().animate(self, path, start_ms=start_ms, seconds=seconds, speed=speed, size=size)

    def to_perfetto(self, path: str | PathLike[str]) -> None:
        """Write a trace of :attr:`rows` and their causes for https://ui.perfetto.dev.

        Its counter of outstanding requests counts those of the host. It has the power over time if
        the run has a series (``simulate(..., series=True)``).

        Parameters
        ----------
        path
            The file to write, ``.pftrace`` or ``.perfetto-trace``.

        Raises
        ------
        SledsimError
            For another ending, or a file that cannot be written.
        RuntimeError
            If the rows were not kept in memory; :func:`sledsim.rows_to_perfetto` reads them from a
            file.
        """
        if self._rows is None:
            raise RuntimeError(f"{self._no_rows()}, and rows_to_perfetto reads those of a file")
        series = None if self._series is None else self._series._core
        rows = self._rows._core
        _core.perfetto_of_rows(rows, series, path_text("path", path))


def schedulers() -> list[str]:
    """Names of the schedulers, the default first."""
    return _core.names("schedulers")


@overload
def simulate(
    load: LoadLike,
    device: DeviceLike,
    scheduler: SchedulerLike = "fcfs",
    *,
    layout: LayoutName | str | Mapping[str, object] | None = None,
    background: Task | Sequence[Task] = (),
    rows: bool | str | PathLike[str] | None = None,
    parts: bool = False,
    series: bool | str | PathLike[str] = False,
    series_ms: float | None = None,
    precision: float | str | None = None,
    replications: int = 1,
    workers: int | None = None,
    split: None = None,
    progress: ProgressLike = None,
) -> Run: ...
@overload
def simulate(
    load: LoadLike,
    device: DeviceLike,
    scheduler: SchedulerLike = "fcfs",
    *,
    split: Literal["volumes"] | float,
    layout: LayoutName | str | Mapping[str, object] | None = None,
    warm_up_s: float | None = None,
    folder: str | PathLike[str] | None = None,
    table: str | PathLike[str] | None = None,
    workers: ExecutorLike = None,
    progress: ProgressLike = None,
) -> VolumesRun: ...
def simulate(
    load: LoadLike,
    device: DeviceLike,
    scheduler: SchedulerLike = "fcfs",
    *,
    layout: LayoutName | str | Mapping[str, object] | None = None,
    background: Task | Sequence[Task] = (),
    rows: bool | str | PathLike[str] | None = None,
    parts: bool = False,
    series: bool | str | PathLike[str] = False,
    series_ms: float | None = None,
    precision: float | str | None = None,
    replications: int = 1,
    workers: ExecutorLike = None,
    split: Literal["volumes"] | float | None = None,
    warm_up_s: float | None = None,
    folder: str | PathLike[str] | None = None,
    table: str | PathLike[str] | None = None,
    progress: ProgressLike = None,
) -> Run:
    """Run a load on a device.

    Parameters
    ----------
    load, device
        What to run, and on what; or their names: ``simulate("random", "g2")``,
        ``simulate("sample:postmark-ext4", "my.toml")``.
    scheduler
        One of :func:`schedulers`, with keys as in ``"aged_sptf(age_weight=0.02)"`` and
        ``"fcfs(host=c_look)"``. Or one of your own: an object with ``pick(queue, now_ms)``, which
        is copied for each mechanism, its class, or where that is: ``"module:Class"``,
        ``"file.py:Class"``. See the page on schedulers.
    layout
        The layout: a name from the page on layouts, or a mapping of a layout's keys with
        its name: ``{"name": "subregioned", "regions": 5}``. By default that of the device.
    background
        Tasks that use the tips which requests leave unused, in the order of their precedence:
        names from the page on parallel access, with keys as in ``"scan(order=lbn; tail=0.01)"`` or
        as a mapping, ``{"task": "scan", "tail": 0.01}``. Their results are
        ``summary["background"]``. The device must be a single sled.
    rows
        ``True`` keeps one row per request of the host in memory (about 230 bytes each), ``False``
        keeps none, a path (``.parquet`` or ``.csv``) streams them to a file in constant memory. By
        default they are kept, but of several replications they cannot be.
    parts
        Keep also the requests inside a device made of devices, each with its ``parent``.
    series
        ``True`` makes a time series, a path (``.csv`` or ``.parquet``) writes it, too.
    series_ms
        The length of its windows; by default 1, 2, 4, ... ms, so that there are at most 1,024.
    precision
        Run until the 95 % confidence interval of the mean response time reaches no further than
        this share of the mean to either side (0.01 or ``"1%"``), or the load ends. Without
        ``requests=`` of its own a generated load ends after 100 million.
    replications
        Number of runs, with the seed of the load and those after it; their results are merged.
    workers
        How many runs, or parts of a trace, at once; by default as many as there are processors.
        With ``split`` also another executor, as for :func:`sledsim.executors.workers`:
        ``"processes:4"``, ``"dask://HOST:PORT"``. Results do not depend on it, bit for bit.
    split
        Split a trace, a pipe, too, and run each part on a device of its own: ``"volumes"``, by the
        devices of the trace, or by time, windows of so many seconds on the clock of the replay.
        The keys of the trace apply to each part. See the page on volumes. Such a run has no
        ``background``, ``rows``, ``series``, ``precision`` or ``replications``.
    warm_up_s
        How long before a window its part begins, at most 16 windows. These requests are simulated
        and not counted. By default a tenth of a window.
    folder
        Where the files of the parts go and stay, for further runs with the same trace and keys. By
        default a temporary folder (in ``TMPDIR``). Workers on other machines must see it.
    table
        A ``.csv`` or ``.parquet`` file for :attr:`VolumesRun.volumes`.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of requests
        completed and of all, if known (of a trace: estimated). A trace that is read twice counts
        the requests of the first reading before. With ``split``, that of the requests read, then
        that of those of complete parts.

    Returns
    -------
    Run
        With ``split``, a :class:`VolumesRun`.

    Raises
    ------
    SledsimError
        For errors in the load, its file, the layout (an unknown name or key, one that
        the device cannot have), a scheduler of yours or the output. Nothing is left behind
        then. With ``split`` also for a load that is no trace, an executor that fails, or if all
        parts fail.
    """
    from sledsim.layout_maps import with_layout  # the command line has a layout in its device

    laid = with_layout(device, layout)
    if split is not None:
        _refuse_given(
            "left out with split; a run of one volume, read_trace(trace_device=...), can have it",
            background=background if tasks_of(background) else None,
            rows=None if rows is False else rows,
            parts=None if parts is False else parts,
            series=None if series is False else series,
            series_ms=series_ms,
            precision=precision,
            replications=None if whole("replications", replications, 1) == 1 else replications,
        )
        from sledsim.volumes import run_parts  # no other run needs executors

        return run_parts(
            load_of(load),
            laid,
            scheduler,
            split,
            warm_up_s=warm_up_s,
            workers=workers,
            folder=folder,
            table=table,
            progress=progress,
        )
    _refuse_given(
        "given with split=SECONDS; of a whole run it is a key of the load", warm_up_s=warm_up_s
    )
    _refuse_given('given with split="volumes" or split=SECONDS', folder=folder, table=table)
    if not isinstance(workers, SupportsFloat | None):
        refuse("workers", workers, "an integer of at least 1; other executors need split")
    outputs = Outputs(rows=rows, parts=parts, series=series, series_ms=series_ms)
    return run_load(
        load,
        laid,
        scheduler,
        outputs,
        background=background,
        precision=precision,
        replications=replications,
        workers=optional(whole, "workers", workers, 1),
        progress=progress,
    )


def _refuse_given(must: str, **arguments: object) -> None:
    """Refuse arguments that are given."""
    for name, given in arguments.items():
        if given is not None:
            refuse(name, given, must)


@dataclass(frozen=True)
class Outputs:
    """What a run writes or keeps: as in :func:`simulate`, and a trace for Perfetto."""

    rows: bool | str | PathLike[str] | None = None
    parts: bool = False
    series: bool | str | PathLike[str] = False
    series_ms: float | None = None
    perfetto: str | PathLike[str] | None = None


def run_load(
    load: LoadLike,
    device: Device,
    scheduler: SchedulerLike,
    outputs: Outputs,
    *,
    background: Task | Sequence[Task] = (),
    precision: float | str | None = None,
    replications: int = 1,
    workers: int | None = None,
    progress: ProgressLike = None,
) -> Run:
    """Run a load on a device, as :func:`simulate`, with all outputs."""
    replications = whole("replications", replications, 1)
    workers = optional(whole, "workers", workers, 1)
    rows = replications == 1 if outputs.rows is None else outputs.rows
    if not isinstance(outputs.parts, bool):
        refuse("parts", outputs.parts, "True or False")
    if outputs.parts and rows is False and replications == 1 and outputs.perfetto is None:
        refuse("parts", outputs.parts, "given with rows=True or rows=PATH, where they go")
    requested = load_of(load)
    with told(progress) as beat:
        ran = _core.run(
            device._core,
            requested._core,
            scheduler_of(scheduler),
            tasks_of(background),
            _kept("rows", rows),
            _kept("series", outputs.series),
            optional(real, "series_ms", outputs.series_ms),
            optional(share, "precision", precision),
            replications,
            workers or 0,
            beat,
            optional(path_text, "perfetto", outputs.perfetto),
            outputs.parts,
        )
    document = json.loads(ran["document"])
    document["caution"] = cautions.of(document)
    run = Run(document, ran["statistics"], _table(ran["rows"]), _table(ran["series"]))
    run.origin = Origin.of(device, requested, scheduler)
    return run


def _table(core: _core.Rows | None) -> Rows | None:
    """Return a table of the core as one of the package, or ``None``."""
    if core is None:
        return None
    from sledsim.results.rows import Rows  # most runs keep none

    return Rows(core)


def _kept(name: str, given: object) -> bool | str:
    if isinstance(given, bool):
        return given
    if not isinstance(given, str | os.PathLike):
        refuse(name, given, "True, False or the path of a .parquet or .csv file")
    return path_text(name, given)


def with_background(device: Device, background: Task | Sequence[Task]) -> Device:
    """Return a device with background tasks, in place of its own if any are given."""
    tasks = tasks_of(background)
    return wrap(device._core.with_background(tasks)) if tasks else device


def tasks_of(background: Task | Sequence[Task]) -> list[list[tuple[str, object]]]:
    """Return background tasks as the core takes them: keys, or a label as the only one."""
    given = [background] if isinstance(background, str | Mapping) else background
    tasks = []
    for task in as_list("background", given):
        if isinstance(task, Mapping):
            tasks.append(list(dotted_keys(task)))
        else:
            tasks.append([("label", text("background", task))])
    return tasks
