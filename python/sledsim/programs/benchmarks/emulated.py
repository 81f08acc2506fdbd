"""Applications on emulated devices, in real time; needs root."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import VERSION, SledsimError, SpecError
from sledsim.emulator import export_spec
from sledsim.emulator.control import ask, control_path
from sledsim.emulator.mounting import supervisor, system
from sledsim.emulator.mounting.state import State
from sledsim.emulator.mounting.unmount import end
from sledsim.hardware import device as device_named
from sledsim.hardware.labels import absolute, file_name
from sledsim.programs.benchmarks import recordings
from sledsim.programs.benchmarks.io_statistics import facts_of
from sledsim.programs.benchmarks.outcome import Outcome
from sledsim.programs.file_systems import KINDS, FileSystem, copy
from sledsim.programs.folders import work_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from sledsim.programs.program import Benchmark, Ran


@dataclass(frozen=True)
class Settings:
    """Settings of the runs of applications."""

    scheduler: str = "fcfs"
    file_system: str | None = None
    """One of `KINDS`; by default that of the application."""
    options: str | None = None
    """For ``mount -o``; by default those of the application."""
    mib: int = 1536
    """Size of the file system, the same on every device."""
    record: Path | None = None
    """A folder for recordings."""
    folder: Path | None = None
    """Folder for the data between runs; by default in memory."""


def check(application: Benchmark, settings: Settings) -> None:
    """Check the requirements on this machine."""
    system.need_root("bench-app", "; without it --replay replays a recording")
    recordings.need_pyarrow()
    application.need()
    _file_system(application, settings).need()
    if settings.record is not None and not settings.record.is_dir():
        raise SledsimError(f"--record {settings.record}: must be a folder that exists")


def _file_system(application: Benchmark, settings: Settings) -> FileSystem:
    name = settings.file_system or application.file_system
    if name not in KINDS:
        raise SpecError(f"file system '{name}': must be one of {', '.join(KINDS)}")
    options = application.mount_options if settings.options is None else settings.options
    return FileSystem(name, options, settings.mib)


class Bench:
    """An application with its data, ready for one device after the other."""

    def __init__(self, application: Benchmark, settings: Settings, folder: Path) -> None:
        """Made by `prepare`."""
        self._application = application
        self._settings = settings
        self._folder = folder
        self._base = folder / "base.img"
        self._mount = folder / "mnt"
        self._file_system = _file_system(application, settings)

    def fill(self) -> None:
        """Make the file system and the data."""
        self._mount.mkdir()
        self._file_system.make(self._base)
        with self._file_system.mount_plainly(self._base, self._mount):
            self._application.fill(self._mount)

    def run(self, name: str) -> tuple[Outcome, Path]:
        """Run it on a device; return its outcome and the recording of it."""
        image, raw = self._folder / "device.img", self._folder / "raw.parquet"
        device = device_named(name)
        try:
            copy(self._base, image, device.blocks * system.BLOCK)
            with (
                self._served(name, image, raw) as count,
                self._application.start(self._mount) as work,
            ):
                first, begin = count(), time.perf_counter()
                ran = work()
                run_s, last = time.perf_counter() - begin, count()
            outcome, rows = self._outcome(device.name, raw, run_s, ran, range(first, last))
        finally:
            image.unlink(missing_ok=True)
        file = self._folder / f"{self._application.name}-{file_name(name)}.parquet"
        recordings.save(rows, file, self._about(outcome, rows))
        if self._settings.record is not None:
            for path in (file, file.with_suffix(".toml")):
                shutil.copy(path, self._settings.record)
        return outcome, file

    @contextlib.contextmanager
    def _served(self, name: str, image: Path, raw: Path) -> Iterator[Callable[[], int]]:
        """Mount the device; yield a function that counts its requests."""
        wanted = supervisor.Wanted(
            directory=os.path.realpath(self._mount),
            name="device",
            file_system=self._file_system.kind.type,
            make=False,
            options=self._file_system.mount_options,
            serve=export_spec.DEFAULTS
            | {
                "device": absolute(name),
                "scheduler": self._settings.scheduler,
                "file": str(image),
                "record": str(raw),
            },
        )
        made = supervisor.background(wanted)
        state = State.named(made["directory"])
        assert state is not None
        try:
            if self._application.read_ahead_kib is not None:
                queue = Path("/sys/block", Path(made["loop"]).name, "queue/read_ahead_kb")
                queue.write_text(str(self._application.read_ahead_kib), encoding="ascii")

            def count() -> int:
                (export,) = json.loads(ask(control_path(made["server"])))["exports"]
                requests: int = export["summary"]["requests"] + export["outstanding"]
                return requests

            yield count
        finally:
            self._end(state)

    def _end(self, state: State) -> None:
        try:
            end(state, lambda _: None)
        except SledsimError:
            with contextlib.suppress(SledsimError):
                end(state, lambda _: None, lazily=True)
            raise

    def _outcome(
        self, device: str, raw: Path, run_s: float, ran: Ran, ids: range
    ) -> tuple[Outcome, pa.Table]:
        import pyarrow.compute as pc  # an extra
        import pyarrow.parquet as pq

        rows = pq.read_table(raw)
        ours = pc.and_(pc.greater_equal(rows["id"], ids.start), pc.less(rows["id"], ids.stop))
        rows = rows.filter(ours)
        late = sorted(rows["lateness_ns"].to_pylist())
        shares = {"p50": 0.5, "p99": 0.99, "max": 1.0}
        outcome = Outcome(
            application=self._application.name,
            device=device,
            run_s=run_s,
            compute_s=ran.compute_s,
            facts=facts_of(rows),
            emulated=True,
            lateness_us={
                key: late[min(int(share * len(late)), len(late) - 1)] / 1e3
                for key, share in shares.items()
                if late
            },
            report=ran.report,
        )
        return outcome, rows

    def _about(self, outcome: Outcome, rows: pa.Table) -> dict[str, Any]:
        import pyarrow.compute as pc  # an extra

        facts, file_system = outcome.facts, self._file_system
        ends = pc.add(rows["lbn"], pc.cast(rows["blocks"], "int64"))
        return {
            "title": f"{self._application.title}, recorded on {outcome.device}",
            "format": "parquet",
            "date": datetime.now(tz=UTC).date(),
            "description": self._application.about,
            "limits": list(_LIMITS),
            "figures": {
                **{name: getattr(facts, name) for name in _COUNTS},
                "mean_blocks": facts.mean_blocks or 0.0,
                "end_lbn": pc.max(ends).as_py() or 0,
                "duration_s": facts.duration_s,
            },
            "run": {
                "application": outcome.application,
                "device": outcome.device,
                "run_s": outcome.run_s,
                "compute_s": outcome.compute_s,
                **{f"lateness_{key}_us": value for key, value in outcome.lateness_us.items()},
            },
            "keys": self._application.values,
            "recording": {
                "file_system": file_system.name,
                "file_system_mib": file_system.mib,
                "mount_options": file_system.mount_options,
                "scheduler": self._settings.scheduler,
                "chain": f"{file_system.kind.type} > loop (direct I/O) > FUSE > sledsim {VERSION}",
                "kernel": f"{platform.system()} {platform.release()}",
            },
            "report": outcome.report,
        }


_COUNTS = ("requests", "reads", "writes", "flushes")
_LIMITS = (
    "A closed replay takes a request to wait for the latest completion that the program had seen.",
    "Think times hold what one machine computed, and the ways to the emulator and back.",
    "What the page cache hid is not in it.",
)


@contextlib.contextmanager
def prepare(application: Benchmark, settings: Settings) -> Iterator[Bench]:
    """Make the data of an application; they are removed at the end."""
    check(application, settings)
    with work_folder("sledsim-bench-", settings.folder) as folder:
        bench = Bench(application, settings, folder)
        bench.fill()
        yield bench
