"""The one run of the program on the emulated device, which is recorded with its data."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim.emulator import serve
from sledsim.emulator.mounting import system
from sledsim.hardware import device_of
from sledsim.programs.crashes.placing import Watch
from sledsim.programs.file_systems import copy
from sledsim.programs.spans import Spans

if TYPE_CHECKING:
    from pathlib import Path

    from sledsim.programs.crashes.file_systems import CrashFileSystem
    from sledsim.programs.crashes.setup import Setup
    from sledsim.programs.program import CrashProgram
    from sledsim.programs.spans import Span

RECORDING = "recording"
ACKNOWLEDGED = "acknowledged.txt"


@dataclass(frozen=True)
class Run:
    """What is known of a run beside its recording."""

    window_ns: Span
    """Begin and end of the load, of the monotonic clock."""
    journal: list[Span]
    """Where the journal of the file system lies: spans of bytes."""
    logs: list[Span]
    """Where logs of the program lay."""
    data: list[Span] | None
    """Where data files lay; ``None`` where everything else is data."""

    @classmethod
    def of(cls, document: dict[str, Any]) -> Run:
        """Return the one that JSON was made of."""

        def spans(name: str) -> list[Span]:
            return [(begin, end) for begin, end in document[name]]

        first, last = document["window_ns"]
        data = None if document["data"] is None else spans("data")
        return cls((first, last), spans("journal"), spans("logs"), data)

    @property
    def places(self) -> tuple[Spans, Spans | None]:
        """Where logs and data files lay, to look requests up in."""
        return Spans([*self.journal, *self.logs]), None if self.data is None else Spans(self.data)


def record(
    setup: Setup, program: CrashProgram, file_system: CrashFileSystem, work: Path, keep: Path
) -> Run:
    """Fill the device, and run the program on it; return when all is unmounted.

    The folder to keep gets the recording and the file of what was acknowledged.
    """
    capacity = device_of(setup.export().device).blocks * system.BLOCK
    base, image, point, folder = (work / name for name in ("base.img", "device.img", "fuse", "mnt"))
    point.mkdir()
    folder.mkdir()
    _fill(program, file_system, base, folder, capacity)
    copy(base, image, capacity)
    journal = file_system.journal(base)
    base.unlink()
    made = setup.export(work.name, file=str(image), record_data=str(keep / RECORDING))
    acknowledged = keep / ACKNOWLEDGED
    acknowledged.touch()
    raw = file_system.is_raw
    with serve(made, fuse=point), file_system.place(point / work.name, folder) as place:
        data = Watch(place, () if raw else program.data_files)
        data.look()
        with Watch(place, () if raw else program.log_files) as logs:
            first = time.monotonic_ns()
            program.run(place, acknowledged)
            last = time.monotonic_ns()
        data.look()
    image.unlink()
    return Run((first, last), journal, logs.spans, None if raw else data.spans)


def _fill(
    program: CrashProgram, file_system: CrashFileSystem, base: Path, folder: Path, capacity: int
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
    with file_system.mount_plainly(base, folder):
        program.fill(folder)
