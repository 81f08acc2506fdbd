"""Folders that runs work in, recorded for all processes: ``/run/sledsim/work-*.json``.

A run that is killed leaves its folder, which may be in memory, and what is mounted there. The
record names the process, so that another one can clean up after it. Users other than root have
their records in the folder of their control sockets.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import secrets
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.emulator.mounting import system
from sledsim.emulator.mounting.state import RUN, Process

if TYPE_CHECKING:
    from collections.abc import Iterator

_MEMORY = Path("/dev/shm")
_PATIENCE_S = 30.0
"""How long processes may take to end, and mounts to go."""
_LOOK_S = 0.05


@dataclass(frozen=True)
class Work:
    """The record of one folder."""

    folder: Path
    """Absolute and without links. Its name is unique, and all that is mounted from it has it."""
    owner: Process
    """The process that works there."""

    @property
    def _record(self) -> Path:
        return _records() / f"work-{self.folder.name}.json"

    def save(self) -> None:
        """Write the record."""
        draft = self._record.with_suffix(".draft")
        document = {"folder": str(self.folder), "owner": dataclasses.asdict(self.owner)}
        draft.write_text(json.dumps(document), encoding="utf-8")
        draft.replace(self._record)

    def clean(self) -> None:
        """Unmount what is mounted in the folder, and remove the folder and the record."""
        with contextlib.suppress(FileNotFoundError), self._record.open("rb") as record:
            fcntl.flock(record, fcntl.LOCK_EX)  # one process at a time cleans
            if not self._record.exists():
                return
            self._kill_scripts()
            until = time.monotonic() + _PATIENCE_S
            while left := self._undone():
                if time.monotonic() > until:
                    raise SledsimError(
                        f"{self.folder}: cannot be cleaned up: {', '.join(left)} is in use"
                    )
                time.sleep(_LOOK_S)
            self._remove_folder()
            self._record.unlink(missing_ok=True)

    def _kill_scripts(self) -> None:
        """Kill what scripts have started: the environment of these processes names the folder."""
        begins = tuple(f"SLEDSIM_{name}={self.folder}/".encode() for name in ("FOLDER", "DEVICE"))
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended, or is not ours
                said = (process / "environ").read_bytes().split(b"\0")
                if any(each.startswith(begins) for each in said):
                    os.kill(int(process.name), signal.SIGKILL)

    def _undone(self) -> list[str]:
        """Unmount and detach; return what is still there. A ``sledsim mount`` then ends itself."""
        there = [(point, kind) for point, kind, _ in system.mounts() if self._has(point)]
        fuse = [point for point, kind in there if kind.startswith("fuse")]
        for point in fuse:
            # Also if it is in use: what waits for the server, which is gone, fails then. Else an
            # unmount would wait for ever, and so would the server if it waits for itself.
            _unmount_fuse(point, "--force")
        for point in reversed([point for point, _ in there if point not in fuse]):
            _unmount(point)
        loops = list(system.loops_named(self.folder.name)) if os.geteuid() == 0 else []
        for loop in loops:
            with contextlib.suppress(SledsimError):
                system.detach(loop)
        for point in fuse:
            _unmount_fuse(point, "--force", "--lazy")
        return [point for point, _ in there if system.mounted_at(point)] + [
            loop for loop in loops if loop in system.loops_named(self.folder.name)
        ]

    def _remove_folder(self) -> None:
        if self.folder.is_symlink() or not self.folder.is_dir():  # not ours, or gone
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.folder.exists():
            raise SledsimError(f"{self.folder}: cannot be removed")

    def _has(self, path: str) -> bool:
        return path.startswith(f"{self.folder}/")


def _records() -> Path:
    """Return the folder of the records."""
    if os.geteuid() == 0:
        RUN.mkdir(mode=0o700, parents=True, exist_ok=True)
        return RUN
    from sledsim.emulator.control import folder  # HTTP takes long to import

    return folder()


def _unmount(point: str) -> None:
    try:
        system.unmount(point)
    except SledsimError:
        with contextlib.suppress(SledsimError):
            system.unmount(point, lazily=True)


def _unmount_fuse(point: str, *how: str) -> None:
    words = ("umount", *how, "--no-canonicalize") if os.geteuid() == 0 else _AS_USER
    with contextlib.suppress(SledsimError):
        system.run(*words, point)


_AS_USER = ("fusermount3", "-u", "-z", "--")


@contextlib.contextmanager
def working(prefix: str, where: Path | None = None) -> Iterator[Path]:
    """Give a new folder, and remove it at the end with all that is mounted there.

    Parameters
    ----------
    prefix
        Begins its name.
    where
        The folder that it is made in; by default memory, if there is some.
    """
    if where is None:
        has_memory = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
        where = _MEMORY if has_memory else Path(tempfile.gettempdir())
    # Recorded before it is made: whenever this process is killed, the folder is found.
    work = Work(where.resolve() / f"{prefix}{secrets.token_hex(6)}", Process.of(os.getpid()))
    work.save()
    try:
        try:
            work.folder.mkdir(mode=0o700)
        except OSError as error:
            raise SledsimError(
                f"{where}: {error.strerror}; give a folder that can be written to"
            ) from None
        yield work.folder
    finally:
        with contextlib.suppress(SledsimError):  # then the next run tries again
            work.clean()


def stale() -> Iterator[Work]:
    """Find the folders of runs that have been killed."""
    for path in sorted(_records().glob("work-*.json")):
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            work = Work(Path(said["folder"]), Process(**said["owner"]))
        except FileNotFoundError:
            continue
        except (ValueError, KeyError, TypeError) as error:
            raise SledsimError(
                f"{path}: not written by this version of sledsim ({error})"
            ) from None
        if not work.owner.goes_on():
            yield work


def clean_stale() -> None:
    """Clean up after all runs that have been killed, as far as that can be done."""
    with contextlib.suppress(SledsimError):
        for work in stale():
            with contextlib.suppress(SledsimError):
                work.clean()
