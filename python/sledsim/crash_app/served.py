"""Devices that are served in this process, and file systems mounted from them."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Protocol

from sledsim._core import SledsimError
from sledsim.emulator.mounting import system

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from sledsim.crash_app.file_systems import FileSystem


class Status(Protocol):
    """Anything with the status of a server."""

    def status(self) -> dict[str, Any]:
        """Return the statistics so far."""
        ...


def model_ns(server: Status) -> int:
    """Return the model time of the one device of a server."""
    (export,) = server.status()["exports"]
    return int(export["model_time_ns"])


@contextlib.contextmanager
def attached(file: Path) -> Iterator[str]:
    """Give a loop device with direct I/O on a served file.

    Raises
    ------
    SledsimError
        If there is none.
    """
    loop = system.attach(file, read_only=False)
    try:
        yield loop
    finally:
        system.detach(loop)


@contextlib.contextmanager
def mounted(loop: str, folder: Path, file_system: FileSystem) -> Iterator[None]:
    """Mount a file system.

    Raises
    ------
    FailedError
        If it cannot be mounted.
    """
    file_system.mount(loop, folder)
    try:
        yield
    finally:
        try:
            system.unmount(str(folder))
        except SledsimError:
            system.unmount(str(folder), lazily=True)


class Watchdog:
    """Cuts a served device off that does not answer in time: its users then get errors."""

    def __init__(self, point: Path, patience_s: float) -> None:
        """Watch what happens inside ``with`` blocks, at most so long in each.

        Parameters
        ----------
        point
            Where the server shows the device.
        patience_s
            How long a block may take.
        """
        self._patience_s = patience_s
        self._point = str(point)
        self.has_bitten = False
        """Whether it has cut the device off."""
        self._timer: threading.Timer | None = None

    @property
    def text(self) -> str:
        """What it has found."""
        return f"the device did not answer in {self._patience_s:g} s"

    def __enter__(self) -> None:
        self._timer = threading.Timer(self._patience_s, self._bite)
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        assert self._timer is not None
        self._timer.cancel()

    def _bite(self) -> None:
        self.has_bitten = True
        with contextlib.suppress(SledsimError):  # by force: what waits for the device fails
            system.run("umount", "--force", "--lazy", "--no-canonicalize", self._point)


@contextlib.contextmanager
def place(file: Path, folder: Path, file_system: FileSystem) -> Iterator[Path]:
    """Give what a program works on: the mounted folder, or the file of a raw device."""
    if file_system.is_raw:
        yield file
        return
    with attached(file) as loop, mounted(loop, folder, file_system):
        yield folder
