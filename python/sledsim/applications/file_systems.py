"""File systems for applications: made once, and the same on every device."""

from __future__ import annotations

import shutil
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.emulator.mounting import system

if TYPE_CHECKING:
    from collections.abc import Iterator

_IDENTITY = str(uuid.UUID(int=0x51ED51))
"""Of each file system, and the seed of its hashes: else files lie elsewhere each time."""


@dataclass(frozen=True)
class FileSystem:
    """How a file system is made and mounted."""

    kind: str
    """For ``mount -t``."""
    maker: tuple[str, ...]
    options: str
    """For ``mount -o``, beside those of the application."""


_EXT4 = (*system.MAKERS["ext4"], "-b", "4096", "-U", _IDENTITY, "-E", f"hash_seed={_IDENTITY}")
# Which group of blocks is filled next depends on the size of the device if this is on.
_EXT4_OPTIONS = "noatime,mb_optimize_scan=0"

FILE_SYSTEMS = {
    "ext4": FileSystem("ext4", _EXT4, _EXT4_OPTIONS),
    "ext4_without_journal": FileSystem("ext4", (*_EXT4, "-O", "^has_journal"), _EXT4_OPTIONS),
    "xfs": FileSystem("xfs", (*system.MAKERS["xfs"], "-m", f"uuid={_IDENTITY}"), "noatime"),
    "btrfs": FileSystem("btrfs", (*system.MAKERS["btrfs"], "-U", _IDENTITY), "noatime"),
}
"""The file systems that applications run on."""


def make(file: Path, mib: int, file_system: FileSystem) -> None:
    """Make a file with an empty file system of so many MiB.

    Raises
    ------
    SledsimError
        If that fails.
    """
    with file.open("xb") as image:
        image.truncate(mib << 20)
    system.run(*file_system.maker, str(file))


@contextmanager
def mounted(file: Path, folder: Path, file_system: FileSystem) -> Iterator[None]:
    """Mount the file system in a file, without emulation.

    Raises
    ------
    SledsimError
        If that fails.
    """
    loop = system.run("losetup", "--find", "--show", f"--sector-size={system.BLOCK}", str(file))
    loop = loop.strip()
    try:
        system.run("mount", "-t", file_system.kind, "-o", "noatime", loop, str(folder))
        try:
            yield
        finally:
            try:
                system.unmount(str(folder))
            except system.FailedError:
                with suppress(system.FailedError):
                    system.unmount(str(folder), lazily=True)
                raise
    finally:
        system.detach(loop)


def copy(file: Path, to: Path, capacity: int) -> None:
    """Copy a file as the first bytes of a device.

    Raises
    ------
    SledsimError
        If it is larger than the device, or there is no room.
    """
    if file.stat().st_size > capacity:
        raise SledsimError(
            f"a file system of {file.stat().st_size:,} bytes has no room on {capacity:,}"
        )
    free = shutil.disk_usage(to.parent).free
    if file.stat().st_blocks * 512 > free:
        raise SledsimError(f"{to.parent}: has no room for {file.stat().st_blocks * 512:,} bytes")
    system.run("cp", "--sparse=always", str(file), str(to))
    with to.open("r+b") as image:
        image.truncate(capacity)
