"""One failure of power: what is left is served, mounted, recovered and checked."""

from __future__ import annotations

import contextlib
import os
import re
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim.crash_app import served
from sledsim.crash_app.outcomes import Verdict
from sledsim.crash_app.program import Inspection
from sledsim.emulator.mounting import system

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.crash_app.file_systems import FileSystem
    from sledsim.crash_app.program import CrashProgram

PHASES = {
    "startup": "device start-up",
    "recovery": "hybrid recovery",
    "file_system": "file system",
    "database": "program",
}
"""What the time to be back in service is made of."""
_WARNING, _SHOWN = 4, 3
"""The level of warnings of the kernel, and how many of its messages are shown."""
_JBD2_MAGIC = 0xC03B_3998


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


class Trials:
    """Tries what is left after a cut; any number at once."""

    def __init__(
        self,
        program: CrashProgram,
        file_system: FileSystem,
        folder: Path,
        *,
        patience_s: float,
        journal: list[tuple[int, int]],
        fsck: bool,
    ) -> None:
        """Store what is tried.

        Parameters
        ----------
        program, file_system
            What ran.
        folder
            For files and mount points.
        patience_s
            How long a check may take.
        journal
            Where the journal of the file system lies, in bytes.
        fsck
            Whether the file system is looked over after every check, not only after bad ones.
        """
        self._program = program
        self._file_system = file_system
        self._folder = folder
        self._patience_s = patience_s
        self._journal = journal
        self._fsck = fsck

    def __call__(self, number: int, cut: Any, acknowledged: list[bytes]) -> Trial:
        """Try one cut.

        Parameters
        ----------
        number
            That of the cut, for names of files.
        cut
            A ``Cut`` of a recording.
        acknowledged
            The lines of what was acknowledged before.

        Raises
        ------
        SledsimError
            If it cannot be tried.
        """
        folder = self._folder / f"cut-{number}"
        point, mount = folder / "fuse", folder / "mnt"
        for each in (folder, point, mount):
            each.mkdir()
        told = folder / "acknowledged.txt"
        told.write_bytes(b"".join(acknowledged))
        folder.chmod(0o711)  # a server that is not root has its data in it
        times: dict[str, float | None] = dict.fromkeys(PHASES)
        times["startup"] = cut.facts["startup_ns"] / 1e6
        times["recovery"] = cut.facts["recovery_ns"] / 1e6
        work = {"device": cut.facts["recovery_ns"] > 0, "file_system": False, "program": False}
        try:
            with cut.served(point, self._folder.name) as server:
                inspection = Inspection(told, self._patience_s)
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
        server: Any,
        mount: Path,
        inspection: Inspection,
        times: dict[str, float | None],
        work: dict[str, bool],
    ) -> tuple[Verdict, str]:
        file, file_system = Path(server.path), self._file_system
        if file_system.is_raw:
            return self._program.check(file, inspection), ""
        watch = served.Watchdog(file.parent, self._patience_s)
        with contextlib.ExitStack() as stack:
            try:
                with watch:
                    if file_system.name == "ext4":
                        work["file_system"] = _holds_transactions(file, self._journal)
                    loop = stack.enter_context(served.attached(file))
            except (SledsimError, OSError):
                if not watch.has_bitten:
                    raise
                return Verdict("not_mounted", watch.text), ""
            kernel = stack.enter_context(_messages(loop))
            with contextlib.ExitStack() as mounts:
                begin = served.model_ns(server)
                try:
                    with watch:
                        mounts.enter_context(served.mounted(loop, mount, file_system))
                except system.FailedError as error:
                    found = watch.text if watch.has_bitten else str(error)
                    return Verdict("not_mounted", " | ".join([found, *_errors(kernel())])), ""
                times["file_system"] = (served.model_ns(server) - begin) / 1e6
                if file_system.name == "xfs":
                    work["file_system"] = any("Starting recovery" in line for _, line in kernel())
                verdict = self._program.check(mount, inspection)
            wanted = self._fsck or not verdict.is_good
            damage = file_system.damage(loop) if wanted else ""
            if not verdict.is_good and (said := _errors(kernel())):
                verdict = replace(verdict, text=" | ".join([verdict.text, *said]))
            return verdict, damage


def _timed(inspection: Inspection, server: Any, times: dict[str, float | None]) -> None:
    """Have the program's own recovery measured, in model time."""
    begun: list[int] = []
    inspection.begins = lambda: begun.append(served.model_ns(server))

    def ends() -> None:
        times["database"] = (served.model_ns(server) - begun[-1]) / 1e6

    inspection.ends = ends


def _holds_transactions(image: Path, journal: list[tuple[int, int]]) -> bool:
    """Return whether a journal of ext4 has a transaction that is not written back.

    Its first block tells where the log begins; there stands a block of the journal with the number
    that is expected, if anything was logged after that.
    """
    begin, _ = journal[0]
    try:
        head = _at(image, begin, 4096)
        size, _, _, sequence, start = struct.unpack_from(">IIIII", head, 12)
        if not start or not size:
            return False
        place = start * size
        for first, last in journal:
            if place < last - first:
                magic, _, found = struct.unpack_from(">III", _at(image, first + place, 4096))
                return bool(magic == _JBD2_MAGIC and found == sequence)
            place -= last - first
    except (OSError, struct.error):  # a block of it is unreadable: the mount will tell
        return True
    return False


def _at(image: Path, offset: int, count: int) -> bytes:
    with image.open("rb", buffering=0) as file:
        return os.pread(file.fileno(), count, offset)


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
