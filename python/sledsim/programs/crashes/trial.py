"""One failure of power: what is left is served, mounted, recovered and checked."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim.emulator.mounting import system
from sledsim.programs.crashes import journals
from sledsim.programs.crashes.outcomes import Inspection, Verdict
from sledsim.programs.crashes.watchdog import Watchdog
from sledsim.programs.file_systems import attach

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.emulator.recordings import Cut, ServedCut
    from sledsim.programs.crashes.file_systems import CrashFileSystem
    from sledsim.programs.program import CrashProgram
    from sledsim.programs.spans import Span

PHASES = {
    "startup": "device start-up",
    "recovery": "hybrid recovery",
    "file_system": "file system",
    "database": "program",
}
"""What the time to be back in service is made of."""
_WARNING, _SHOWN = 4, 3
"""The level of warnings of the kernel, and how many of its messages are shown."""


@dataclass(frozen=True)
class Trial:
    """What one cut came to."""

    verdict: Verdict
    times_ms: dict[str, float | None]
    """By `PHASES`, in model time; ``None`` of what was not reached."""
    work: dict[str, bool]
    """Whether the recovery of ``device``, ``file_system`` and ``program`` had anything to do."""
    damage: str = ""
    """What a check of the file system found afterwards."""


@dataclass(frozen=True)
class Trials:
    """Tries what is left after a cut; any number at once."""

    program: CrashProgram
    file_system: CrashFileSystem
    folder: Path
    """For files and mount points."""
    patience_s: float
    """How long a check may take."""
    journal: list[Span]
    """Where the journal of the file system lies, in bytes."""
    fsck: bool
    """Whether the file system is looked over after every check, not only after bad ones."""

    def __call__(self, number: int, cut: Cut, acknowledged: list[bytes]) -> Trial:
        """Try a cut of a recording, after which these lines had been acknowledged."""
        folder = self.folder / f"cut-{number}"
        point, mount = folder / "fuse", folder / "mnt"
        for each in (folder, point, mount):
            each.mkdir()
        told = folder / "acknowledged.txt"
        told.write_bytes(b"".join(acknowledged))
        folder.chmod(0o711)  # a server that is not root has its data in it
        times: dict[str, float | None] = dict.fromkeys(PHASES)
        work = dict.fromkeys(("device", "file_system", "program"), False)
        try:
            with cut.served(point, self.folder.name) as server:
                inspection = Inspection(told, self.patience_s)
                _timed(inspection, server, times)
                verdict, damage = self._tried(server, mount, inspection, times, work)
            work["program"] = inspection.had_work
        finally:
            told.unlink()
            for each in (point, mount, folder):
                with contextlib.suppress(OSError):
                    each.rmdir()
        return Trial(verdict, times, work, damage)

    def _tried(
        self,
        server: ServedCut,
        mount: Path,
        inspection: Inspection,
        times: dict[str, float | None],
        work: dict[str, bool],
    ) -> tuple[Verdict, str]:
        file, file_system = Path(server.path), self.file_system
        if file_system.is_raw:
            return self.program.check(file, inspection), ""
        watch = Watchdog(self.patience_s, functools.partial(_cut_off, file.parent))
        silent = f"the device did not answer in {self.patience_s:g} s"
        with contextlib.ExitStack() as stack:
            try:
                with watch:
                    if file_system.name == "ext4":
                        work["file_system"] = journals.holds_transactions(file, self.journal)
                    loop = stack.enter_context(attach(file))
            except (SledsimError, OSError):
                if not watch.has_bitten:
                    raise
                return Verdict("not_mounted", silent), ""
            kernel = stack.enter_context(_messages(loop))
            with contextlib.ExitStack() as mounts:
                begin = server.now_ns()
                try:
                    with watch:
                        mounts.enter_context(file_system.mount(loop, mount))
                except system.FailedError as error:
                    found = silent if watch.has_bitten else str(error)
                    return Verdict("not_mounted", " | ".join([found, *_errors(kernel())])), ""
                times["file_system"] = (server.now_ns() - begin) / 1e6
                if file_system.name == "xfs":
                    work["file_system"] = any("Starting recovery" in line for _, line in kernel())
                verdict = self.program.check(mount, inspection)
            wanted = self.fsck or not verdict.is_good
            damage = file_system.damage(loop) if wanted else ""
            if not verdict.is_good and (said := _errors(kernel())):
                verdict = replace(verdict, text=" | ".join([verdict.text, *said]))
            return verdict, damage


def _cut_off(point: Path) -> None:
    """Cut off the device that is served there: its users then get errors."""
    with contextlib.suppress(SledsimError):  # by force: what waits for the device fails
        system.run("umount", "--force", "--lazy", "--no-canonicalize", str(point))


def _timed(inspection: Inspection, server: ServedCut, times: dict[str, float | None]) -> None:
    """Have the program's own recovery measured, in model time."""
    begun: list[int] = []
    inspection.begins = lambda: begun.append(server.now_ns())

    def ends() -> None:
        times["database"] = (server.now_ns() - begun[-1]) / 1e6

    inspection.ends = ends


def _errors(said: list[tuple[int, str]]) -> list[str]:
    """Return the first messages that are warnings or worse."""
    return [text for level, text in said if level <= _WARNING][:_SHOWN]


@contextlib.contextmanager
def _messages(loop: str) -> Iterator[Any]:
    """Give a function that returns what the kernel has said of a device since, with its levels."""
    try:
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:  # not in every container
        yield list
        return
    os.lseek(log, 0, os.SEEK_END)
    name, found = Path(loop).name, list[tuple[int, str]]()

    def read() -> list[tuple[int, str]]:
        with contextlib.suppress(BlockingIOError):
            while True:
                try:
                    line = os.read(log, 8192).decode(errors="replace")
                except BrokenPipeError:  # lines were overwritten
                    continue
                head, _, rest = line.partition(";")
                text = rest.partition("\n")[0]
                if re.search(rf"\b{name}\b", text):
                    found.append((int(head.partition(",")[0]) & 7, text))
        return found

    try:
        yield read
    finally:
        os.close(log)
