"""Records of the mounts, for all processes: ``/run/sledsim/mount-*.json``."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import secrets
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sledsim._core import SledsimError
from sledsim.emulator.mounting.system import is_attached

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = Path("/run/sledsim")
_SIGNALED = 0x400
"""Flag of a process that ends by a signal, ``PF_SIGNALED``."""


@dataclass(frozen=True)
class Process:
    """A process, identified by its number and its start."""

    pid: int
    start: int
    """In clock ticks since the machine started."""

    @classmethod
    def of(cls, pid: int) -> Self:
        """Return the process that has that number now."""
        fields = _facts(pid)
        if fields[0] in "ZX":  # ended, and its parent has not waited for it yet
            raise ProcessLookupError
        return cls(pid, int(fields[19]))

    def is_alive(self) -> bool:
        """Return whether it still runs."""
        try:
            return Process.of(self.pid) == self
        except ProcessLookupError:
            return False

    def goes_on(self) -> bool:
        """Return whether it runs, and has not been killed.

        One that waits for a file that it serves itself can be killed, but does not end before that
        is unmounted by force.
        """
        try:
            status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8", errors="replace")
            flags = int(_facts(self.pid)[6])
        except OSError:
            return False
        pending = int(status.partition("\nSigPnd:")[2].partition("\n")[0], 16)
        is_killed = flags & _SIGNALED or pending >> (signal.SIGKILL - 1) & 1
        return not is_killed and self.is_alive()

    def signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.is_alive():
            os.kill(self.pid, number)


def _facts(pid: int) -> list[str]:
    """Return what the kernel tells of a process, from its state on."""
    try:
        about = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise ProcessLookupError from None
    # The name in parentheses may contain anything. State is the first field after it.
    return about.rpartition(")")[2].split()


@dataclass
class State:
    """The record of one ``sledsim mount``."""

    key: str
    """Names its files in `RUN`."""
    directory: str | None
    """Where the file system is; ``None`` for a block device alone."""
    supervisor: Process
    server: Process | None = None
    loop: str | None = None
    """The loop device, as in ``/dev/loop0``."""
    number: str | None = None
    """Major and minor number of the FUSE file system, as in ``0:39``."""

    @staticmethod
    def key_of(directory: str | None) -> str:
        """Return the key of a mount by its directory; a unique one without a directory."""
        if directory is None:
            return f"mount-{secrets.token_hex(8)}"
        return f"mount-{hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]}"

    @property
    def point(self) -> Path:
        """The FUSE mount point."""
        return RUN / self.key

    @property
    def closing(self) -> Path:
        """The file for the final report of the supervisor, written only if it exists."""
        return RUN / f"{self.key}.closing"

    @property
    def name(self) -> str:
        """Its name for the user: the directory or the loop device."""
        return self.directory or self.loop or self.key

    @property
    def _path(self) -> Path:
        return RUN / f"{self.key}.json"

    def save(self, *, new: bool = False) -> None:
        """Write the record."""
        RUN.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")
        try:
            if new:
                os.link(draft, self._path)
            else:
                draft.replace(self._path)
        finally:
            draft.unlink(missing_ok=True)

    def remove(self) -> None:
        """Forget it."""
        self._path.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a record."""
        try:
            said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            for name in ("supervisor", "server"):
                said[name] = said[name] and Process(**said[name])
            return cls(**said)
        except (ValueError, KeyError, TypeError) as error:
            raise SledsimError(
                f"{path}: not written by this version of sledsim ({error})"
            ) from None

    @classmethod
    def all(cls) -> Iterator[Self]:
        """Find all records."""
        for path in sorted(RUN.glob("mount-*.json")):
            try:
                yield cls.load(path)
            except FileNotFoundError:
                continue

    @classmethod
    def named(cls, name: str) -> Self | None:
        """Find the mount of a directory or loop device."""
        path = os.path.realpath(name)
        found = [state for state in cls.all() if path in (state.directory, state.loop)]
        # One that is about to end may still name the loop device that the next has taken.
        found.sort(key=lambda state: path == state.loop and not is_attached(path, state.point))
        return found[0] if found else None
