"""Devices that are served in this process, and file systems mounted from them."""

from __future__ import annotations

import contextlib
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


@contextlib.contextmanager
def place(file: Path, folder: Path, file_system: FileSystem) -> Iterator[Path]:
    """Give what a program works on: the mounted folder, or the file of a raw device."""
    if file_system.is_raw:
        yield file
        return
    with attached(file) as loop, mounted(loop, folder, file_system):
        yield folder
