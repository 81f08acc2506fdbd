"""A store of simulation results in files, for runs that are repeated unchanged.

>>> from tempfile import TemporaryDirectory
>>> from sledsim import device, workload
>>> from sledsim.papers.outcomes import OutcomeStore
>>> with TemporaryDirectory() as folder:
...     store = OutcomeStore(folder)
...     outcomes = [store.simulate(workload(requests=100), device("g2")) for _ in range(2)]
>>> outcomes[0] == outcomes[1], store.simulated, store.read
(True, 1, 1)

Nothing is stored unless a store is asked: :func:`sledsim.simulate` always simulates.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import placed
from sledsim._core import OutputError, SledsimError
from sledsim._input_files import content as content_of
from sledsim.layout_maps import with_layout
from sledsim.simulation import simulate, with_background

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from sledsim._load import Load
    from sledsim._name_types import LayoutName, SchedulerName
    from sledsim._progress import ProgressLike
    from sledsim.hardware import Device
    from sledsim.simulation import Task

_FORMAT = 2
"""Format of the files; others are not read."""
_CORE = "core-"
"""Prefix of the folders with the outcomes of one core."""


class OutcomeStore:
    """Outcomes in a folder, one file for each run.

    An outcome is found again by the SHA-256 of all that it depends on: the compiled core, the
    digests of device and load (with layout, background tasks and the content of traces), scheduler,
    precision and replications. No other file of the package has a part in it. A run with a trace
    that is no regular file is simulated each time.

    The folder may be deleted at any time. It holds the outcomes of one core: the first of another
    removes them. Several processes may use it at once. A file that is damaged is simulated and
    written again, with a ``RuntimeWarning``.

    Parameters
    ----------
    folder
        Where the files go; made when the first is written.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self.simulated = 0
        """How many runs were simulated."""
        self.read = 0
        """How many were read instead."""

    def __repr__(self) -> str:
        return f"<sledsim outcomes in {self.folder}>"

    def simulate(
        self,
        load: Load,
        device: Device,
        scheduler: SchedulerName | str = "fcfs",
        *,
        layout: LayoutName | str | Mapping[str, object] | None = None,
        background: Task | Sequence[Task] = (),
        precision: float | None = None,
        replications: int = 1,
        workers: int | None = None,
        progress: ProgressLike = None,
    ) -> dict[str, Any]:
        """Return the outcome of a run, as :attr:`Run.to_dict() <sledsim.Run.to_dict()>` has it.

        The parameters are those of :func:`sledsim.simulate`, which keeps no rows here. The
        document is the caller's own.

        Raises
        ------
        SledsimError
            As :func:`sledsim.simulate`; for a folder that cannot be written; for a core that was
            replaced on the disk since it was loaded.
        """
        on = with_background(with_layout(device, layout), background)

        def key() -> str | None:
            return _key(load, on, scheduler, precision, replications)

        before = key()
        if before is not None and (outcome := self._find(before)) is not None:
            self.read += 1
            return outcome
        self.simulated += 1
        outcome = simulate(
            load,
            on,
            scheduler,
            rows=False,
            precision=precision,
            replications=replications,
            workers=workers,
            progress=progress,
        ).to_dict()
        # A trace may have been written meanwhile.
        if before is not None and key() == before:
            self._keep(before, outcome)
        return outcome

    def _file(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / f"{_CORE}{core_digest()[:16]}" / f"{name}.json"

    def _find(self, key: str) -> dict[str, Any] | None:
        file = self._file(key)
        try:
            digest, _, content = content_of(file).partition(b"\n")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise placed(
                SledsimError, f"{file}: cannot be read: {error.strerror}", file=file
            ) from None
        if hashlib.sha256(content).hexdigest().encode() == digest:
            entry = json.loads(content)
            if entry["key"] == key:
                outcome: dict[str, Any] = entry["outcome"]
                return outcome
        warnings.warn(f"{file}: is damaged, simulated again", RuntimeWarning, stacklevel=3)
        return None

    def _keep(self, key: str, outcome: dict[str, Any]) -> None:
        file = self._file(key)
        content = json.dumps({"key": key, "outcome": outcome}).encode()
        content = hashlib.sha256(content).hexdigest().encode() + b"\n" + content
        self._make(file.parent)
        try:
            _core.write_atomically(file, content)
        except SledsimError:
            # Another process may have removed the folder just now.
            if file.parent.is_dir():
                raise
            self._make(file.parent)
            _core.write_atomically(file, content)

    def _make(self, own: Path) -> None:
        """Make the folder of this core, and remove those of others where it was not there."""
        if own.is_dir():
            return
        try:
            own.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise placed(
                OutputError, f"{own}: cannot be made: {error.strerror}", file=own
            ) from None
        for other in self.folder.glob(f"{_CORE}*"):
            if other != own:
                shutil.rmtree(other, ignore_errors=True)


def _key(
    load: Load, device: Device, scheduler: str, precision: float | None, replications: int
) -> str | None:
    """Return all that an outcome depends on as text, or ``None`` if it cannot be told."""
    try:
        values = device.digest, load.digest
    except SledsimError:
        return None  # a stream; of a file that cannot be read, the core reports the error
    try:
        return json.dumps((_FORMAT, core_digest(), *values, scheduler, precision, replications))
    except (TypeError, ValueError):
        return None


def _state() -> tuple[int, int, int]:
    about = Path(_core.__file__).stat()
    return about.st_ino, about.st_mtime_ns, about.st_size


_LOADED = _state()
"""The core's file, as it was when it was loaded."""


@cache
def core_digest() -> str:
    """Return the SHA-256 of the compiled core that is loaded.

    Raises
    ------
    SledsimError
        If its file was replaced since.
    """
    with Path(_core.__file__).open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if _state() != _LOADED:
        raise placed(
            SledsimError,
            f"{_core.__file__}: was replaced since it was loaded; start again",
            file=_core.__file__,
        )
    return digest
