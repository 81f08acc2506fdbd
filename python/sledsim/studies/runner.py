"""Sweeps: many simulations on many workers, which can be interrupted and resumed."""

from __future__ import annotations

import hashlib
import itertools
import json
import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import MOST_ITEMS, path_text, placed, refuse, whole
from sledsim._core import SledsimError, StudyTable
from sledsim._progress import told
from sledsim.executors import completed
from sledsim.executors import workers as opened
from sledsim.studies.design import Design, sent, shown
from sledsim.studies.experiments import EXPERIMENTS
from sledsim.studies.points import Jobs
from sledsim.studies.store import ABOUT, Store
from sledsim.studies.study import Study
from sledsim.studies.worker import (
    OWN_COLUMNS,
    Batch,
    Planned,
    Shared,
    columns_of,
    run_batch,
    run_batch_ipc,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from sledsim._progress import Beat, ProgressLike
    from sledsim.executors import ExecutorLike
    from sledsim.studies.design import Point

_FORMAT = 1
_KINDS = {"experiment": str, "parameters": dict, "fixed": dict}
"""What a file about a study must have."""
_BATCH_SECONDS = 0.25
"""How long a batch is to take at least: many short runs are sent together."""
_TASK_SECONDS = 0.005
"""Seconds for each worker by which a batch is longer, as a scheduler handles a few hundred tasks
per second."""
_MOST_BATCH = 8192


def sweep(
    base: Mapping[str, object],
    *,
    grid: Mapping[str, object] | None = None,
    zip: Mapping[str, object] | None = None,  # noqa: A002 (what it does)
    rows: object = None,
    where: Callable[[Point], object] | None = None,
    exclude: Sequence[Mapping[str, object]] = (),
    replications: int = 1,
    experiment: str = "simulate",
    workers: ExecutorLike = None,
    output: str | PathLike[str] | None = None,
    run_rows: bool = False,
    parts: bool = False,
    keep_versions: bool = False,
    progress: ProgressLike = None,
) -> Study:
    """Run a simulation at every point of a design.

    The points draw the same random numbers: replication ``k`` of each has the seed of its load plus
    ``k``, so that differences between points are not those of their draws.

    Parameters
    ----------
    base
        Keys with the same value at all points: ``device``, ``workload`` or ``trace`` or ``load`` or
        ``scenario``, ``scheduler``, ``layout``, ``background``, ``precision``, and every key that
        ``--set`` takes, ``rate`` or ``device.spring_factor``. Values may be objects, too.
    grid
        A sequence of values for each key; all combinations are points.
    zip
        Sequences of equal lengths, whose values belong together.
    rows
        A data frame, an Arrow table or a sequence of mappings, a row for each point. Each of
        ``rows``, ``zip`` and ``grid`` is combined with each of the others.
    where
        Called with each point, a dict; those for which it is false are left out.
    exclude
        Mappings of keys to a value or a list of values: points that agree are left out.
    replications
        Runs of each point, with consecutive seeds.
    experiment
        ``"simulate"``, ``"crash_test"`` with keys ``crash.points``, ``crash.flush``, ..., or
        ``"hit_ratios"`` with keys ``cache.policy``, ``cache.size_mib``, ``cache.segment_kib``.
    workers
        Where runs are made, as for :func:`sledsim.executors.workers`: threads of this process by
        default, ``"processes"``, ``"dask://HOST:PORT"``, or an executor.
    output
        A folder for the results. Runs that it has already are not made again. By default the
        results are in a temporary folder, which goes with the study.
    run_rows
        Write the rows of each run to ``output/rows/KEY.parquet``; the workers write them, so that
        they must see the folder.
    parts
        Write also the rows of the requests inside devices, as :func:`sledsim.simulate`.
    keep_versions
        Take results of other versions of sledsim in the folder as done, rather than refuse them.
    progress
        ``True`` for a bar on stderr, or what is called often with the number of runs done and of
        all.

    Returns
    -------
    Study
        Its tables do not depend on the executor, but for the column ``seconds``.

    Raises
    ------
    SledsimError
        Before anything is run, for a point with an unknown key or a wrong value, which is named,
        for two equal points, or for a folder of another study. While it runs, for a worker of
        another version, without a file or that died, or a folder that cannot be written: what is
        done by then is kept. A run that fails is a row with its error.
    """
    design = Design(base, grid=grid, zip=zip, rows=rows, where=where, exclude=exclude)
    with told(progress, "runs") as beat:
        running = Sweep(
            design,
            replications=replications,
            experiment=experiment,
            output=output,
            run_rows=run_rows,
            parts=parts,
            keep_versions=keep_versions,
        )
        running.run(workers, beat or (lambda _done, _of: None))
    return running.study()


class Sweep:
    """A sweep that was checked; the parameters are those of :func:`sweep`."""

    def __init__(
        self,
        design: Design,
        *,
        replications: int = 1,
        experiment: str = "simulate",
        output: str | PathLike[str] | None = None,
        run_rows: bool = False,
        parts: bool = False,
        keep_versions: bool = False,
    ) -> None:
        if experiment not in list(EXPERIMENTS):  # it may be no text
            refuse("experiment", experiment, f"one of {', '.join(EXPERIMENTS)}")
        self.design = design
        self.replications = whole("replications", replications, 1, MOST_ITEMS)
        design.runs(self.replications)
        folder = None if output is None else Path(path_text("output", output))
        if run_rows and folder is None:
            refuse("run_rows", run_rows, "given with output, the folder that they go to")
        if parts and not run_rows:
            refuse("parts", parts, "given with run_rows=True, the rows that they go to")
        kinds = design.kinds()
        own = next((key for key in kinds if key in OWN_COLUMNS), None)
        if own is not None:
            raise SledsimError(f"{own}: unknown key; every study has a column of that name")
        self.shared = Shared(
            uuid.uuid4().hex,
            _core.NUMBERS,
            experiment,
            kinds,
            folder.absolute() / "rows" if folder and run_rows else None,
            parts,
        )
        self._digests: list[str] = []
        self._keys: list[str] = []
        self._plan()
        self.store = Store(folder)
        self._open(keep_versions=keep_versions)
        self.failed = 0
        """Runs of this call that ended with an error."""
        self.run_now = 0
        """Runs of this call that are done."""

    @property
    def runs(self) -> int:
        """How many runs all points have."""
        return len(self._digests) * self.replications

    @property
    def missing(self) -> int:
        """How many of them are not in the folder."""
        return self.runs - self._there

    def seconds_there(self) -> list[float]:
        """Return how long the runs in the folder took."""
        return self.store.read(["seconds"]).column("seconds") or []

    def _plan(self) -> None:
        """Check all points, and tell what identifies each."""
        jobs = Jobs(self.shared.experiment)
        seen: set[str] = set()  # texts of values, as the table has them
        for point in self.design:
            try:
                job = jobs.of(point)
                if self.replications > 1 and job.load.seed is None and not self._has_own_seed:
                    refuse("replications", self.replications, "1: a trace has no seed")
                digest = job.digest
            except SledsimError as error:
                msg = f"{self.design.named(point)}: {error}" if self.design.varied else str(error)
                raise placed(
                    type(error), msg, file=error.file, line=error.line, key=error.key
                ) from None
            values = json.dumps([_identity(point[key]) for key in sorted(point)])
            if values in seen:
                raise SledsimError(
                    f"{self.design.named(point)}: is there twice; every point must differ"
                )
            seen.add(values)
            text = f"{self.shared.experiment} {digest} {values}"
            key = hashlib.sha256(text.encode()).hexdigest()[:32]
            self._digests.append(digest)
            self._keys.append(key)
        if not self._keys:
            raise SledsimError("the study has no point: where and exclude leave none")

    @property
    def _has_own_seed(self) -> bool:
        return self.shared.experiment == "crash_test"

    def _open(self, *, keep_versions: bool) -> None:
        """Compare the folder with the study, and look what is there."""
        about = self.store.about()
        if about is not None:
            self._compare(about)
        wanted = set(self.keys())
        self._done: set[str] = set()
        for key, version in self.store.known():
            if version != _core.NUMBERS and not keep_versions:
                raise SledsimError(
                    f"{self.store.folder}: has runs of version {version}, and this is "
                    f"{_core.NUMBERS}: give another folder, or keep_versions to take them as done"
                )
            if key in wanted:
                self._done.add(key)
        self._there = len(self._done)
        self.store.describe(self._about())

    def _about(self) -> dict[str, Any]:
        design = self.design
        return {
            "format": _FORMAT,
            "sledsim": _core.NUMBERS,
            "experiment": self.shared.experiment,
            "parameters": self.shared.parameters,
            "fixed": {key: shown(design.base[key]) for key in self._fixed()},
            "varied": design.varied,
            "points": len(self._keys),
            "replications": self.replications,
            "random_numbers": "common: replication k of every point has its load's seed plus k",
        }

    def _fixed(self) -> list[str]:
        return [key for key in self.design.parameters if key not in self.design.varied]

    def _compare(self, about: Mapping[str, Any]) -> None:
        """Refuse a folder of another study."""
        folder, mine = self.store.folder / ABOUT, self._about()
        if about.get("format") != _FORMAT:
            refuse("format", about.get("format"), str(_FORMAT), folder)
        for name, kind in _KINDS.items():
            if not isinstance(about.get(name), kind):
                raise placed(
                    SledsimError,
                    f"{folder}: is damaged: it has no {name}; give another folder, or remove it",
                    file=folder,
                    key=name,
                )
        for name in ("experiment", "parameters"):
            if about[name] != mine[name]:
                there = ", ".join(about[name]) if name == "parameters" else about[name]
                here = ", ".join(mine[name]) if name == "parameters" else mine[name]
                if there == here:
                    there, here = json.dumps(about[name]), json.dumps(mine[name])
                raise SledsimError(
                    f"{folder}: is of another study, with {name} {there}; this one has {here}"
                )
        for key in self._fixed():
            theirs, ours = about["fixed"].get(key), mine["fixed"][key]
            if theirs is not None and theirs != ours:
                raise SledsimError(
                    f"{folder}: is of another study, with {key} = {theirs}; this one has {ours}: "
                    "vary the key in one study, or give another folder"
                )

    def keys(self) -> Iterator[str]:
        """Iterate over what identifies each run, in order."""
        for key in self._keys:
            for replication in range(self.replications):
                yield _key(key, replication)

    def planned(self) -> Iterator[Planned]:
        """Iterate over the runs that are missing."""
        varied, kinds = self.design.varied, self.shared.parameters
        for digest, key, point in zip(self._digests, self._keys, self.design, strict=True):
            for replication in range(self.replications):
                own = _key(key, replication)
                if own not in self._done:
                    values = {name: point[name] for name in varied}
                    cells = self.design.cells(values, kinds)
                    yield Planned(own, digest, sent(values), cells, replication)

    def run(self, executor: ExecutorLike, progress: Beat) -> None:
        """Make the runs that are missing."""
        progress(self._there, self.runs)
        if not self.missing:
            return
        if self.shared.rows is not None:
            self.shared.rows.mkdir(exist_ok=True)
        base = {key: self.design.base[key] for key in self._fixed()}
        size, cells = [1], self.design.cells(base, self.shared.parameters)

        def batches() -> Iterator[Batch]:
            planned = self.planned()
            while runs := list(itertools.islice(planned, size[0])):
                yield Batch(self.shared, sent(base), cells, runs)

        def beat() -> None:
            self.store.tick()
            progress(self._there + self.run_now, self.runs)

        try:
            with opened(executor, self.missing) as pool:
                local = pool.shares_memory
                function: Any = partial(run_batch, stopped=pool.stopped) if local else run_batch_ipc
                for _, made in completed(pool, function, batches(), beat):
                    table = made if isinstance(made, StudyTable) else StudyTable.from_ipc(made)
                    self.store.add(table)
                    self.run_now += len(table)
                    self.failed += sum(error is not None for error in table.column("error") or [])
                    seconds = sum(table.column("seconds") or []) / len(table)
                    wanted = max(_BATCH_SECONDS, _TASK_SECONDS * pool.count)
                    size[0] = min(max(1, int(wanted / max(seconds, 1e-6))), _MOST_BATCH)
                    beat()
        finally:
            self.store.close()

    def study(self) -> Study:
        """Return the study as it is in the folder."""
        return Study(
            self.store,
            self.design.parameters,
            self.design.varied,
            list(columns_of(self.shared)),
            list(self.keys()),
            run=self.run_now,
        )


def _identity(value: object) -> str | float | bool:
    """Return what tells a value from others in the table: 1 is 1.0."""
    own = shown(value)
    return own if isinstance(own, str | bool) else float(own)


def _key(point: str, replication: int) -> str:
    return f"{point}-{replication}"
