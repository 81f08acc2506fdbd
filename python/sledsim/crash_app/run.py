"""The one run of the program on the emulated device, which is recorded with its data."""

from __future__ import annotations

import contextlib
import shutil
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim.applications import file_systems
from sledsim.crash_app import served
from sledsim.crash_app.placing import Spans, Watch
from sledsim.emulator import serve
from sledsim.emulator.mounting import system
from sledsim.hardware import device_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sledsim.crash_app.file_systems import FileSystem
    from sledsim.crash_app.program import CrashProgram
    from sledsim.crash_app.setup import Setup

RECORDING = "recording"
ACKNOWLEDGED = "acknowledged.txt"


@dataclass(frozen=True)
class Run:
    """What is known of a run beside its recording."""

    window_ns: tuple[int, int]
    """Begin and end of the load, of the monotonic clock."""
    journal: list[tuple[int, int]]
    """Where the journal of the file system lies: spans of bytes."""
    logs: list[tuple[int, int]]
    """Where logs of the program lay."""
    data: list[tuple[int, int]] | None
    """Where data files lay; ``None`` where everything else is data."""

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, document: dict[str, Any]) -> Run:
        """Return what `to_dict` gave."""
        spans = {
            name: None if document[name] is None else [(a, b) for a, b in document[name]]
            for name in ("journal", "logs", "data")
        }
        first, last = document["window_ns"]
        return cls((first, last), spans["journal"] or [], spans["logs"] or [], spans["data"])

    @property
    def places(self) -> tuple[Spans, Spans | None]:
        """Where logs and data files lay, to look requests up in."""
        return Spans([*self.journal, *self.logs]), None if self.data is None else Spans(self.data)


def recorded(
    setup: Setup, program: CrashProgram, file_system: FileSystem, work: Path, keep: Path
) -> Run:
    """Fill the device, and run the program on it.

    Parameters
    ----------
    setup, program, file_system
        What is run.
    work
        A folder for files that are not kept.
    keep
        The folder that gets the recording and the file of what was acknowledged.

    Raises
    ------
    SledsimError
        If anything fails; nothing stays mounted.
    """
    capacity = device_of(setup.export().device).blocks * system.BLOCK
    base, image, point, folder = (work / name for name in ("base.img", "device.img", "fuse", "mnt"))
    point.mkdir()
    folder.mkdir()
    _fill(program, file_system, base, folder, capacity)
    file_systems.copy(base, image, capacity)
    journal = file_system.journal(base)
    base.unlink()
    made = setup.export(work.name, file=str(image), record_data=str(keep / RECORDING))
    acknowledged = keep / ACKNOWLEDGED
    acknowledged.touch()
    with (
        serve(made, fuse=point),
        served.place(point / work.name, folder, file_system) as place,
    ):
        data = [] if file_system.is_raw else _files(program, place)
        with _watch(program, place) as watch:
            first = time.monotonic_ns()
            program.run(place, acknowledged)
            last = time.monotonic_ns()
        data += [] if file_system.is_raw else _files(program, place)
    image.unlink()
    logs = [] if watch is None else watch.spans
    return Run((first, last), journal, logs, None if file_system.is_raw else sorted(set(data)))


def _fill(
    program: CrashProgram, file_system: FileSystem, base: Path, folder: Path, capacity: int
) -> None:
    if file_system.is_raw:
        with base.open("xb") as file:
            file.truncate(capacity)
        program.fill(base)
        if base.stat().st_size != capacity:
            raise SledsimError(
                f"{program.name}: the fill left {base.stat().st_size:,} bytes of {capacity:,}"
            )
        return
    file_system.make(base)
    with file_systems.mounted(base, folder, file_systems.FILE_SYSTEMS[file_system.name]):
        program.fill(folder)


def _files(program: CrashProgram, folder: Path) -> list[tuple[int, int]]:
    watch = Watch(folder, program.data_files)
    watch.look()
    return watch.spans


@contextlib.contextmanager
def _watch(program: CrashProgram, place: Path) -> Iterator[Watch | None]:
    if not place.is_dir() or not program.log_files:
        yield None
        return
    with Watch(place, program.log_files) as watch:
        yield watch


def room(folder: Path) -> None:
    """Refuse a folder on a file system that is full.

    Raises
    ------
    SledsimError
        If there is hardly any room.
    """
    free = shutil.disk_usage(folder).free
    if free < _LEAST_FREE:
        raise SledsimError(
            f"{folder}: has {free >> 20} MiB of room, {_LEAST_FREE >> 20} are needed"
        )


_LEAST_FREE = 256 << 20
