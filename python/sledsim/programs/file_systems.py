"""File systems of programs: how they are made, mounted and looked over."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.emulator.mounting import system

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_IDENTITY = str(uuid.UUID(int=0x51ED51))
"""Of each file system, and the seed of its hashes: else files lie elsewhere each time."""


@dataclass(frozen=True)
class Kind:
    """A kind of file system."""

    type: str
    """For ``mount -t``."""
    maker: tuple[str, ...]
    options: str
    """For ``mount -o``, beside those that are given."""
    checker: tuple[str, ...] = ()
    """The command that checks for damage and repairs nothing; its exit code is 0 without any."""


_EXT4 = (*system.MAKERS["ext4"], "-b", "4096", "-U", _IDENTITY, "-E", f"hash_seed={_IDENTITY}")
# Which group of blocks is filled next depends on the size of the device if this is on.
_EXT4_OPTIONS = "noatime,mb_optimize_scan=0"
_XFS = (*system.MAKERS["xfs"], "-m", f"uuid={_IDENTITY}")

KINDS = {
    "ext4": Kind("ext4", _EXT4, _EXT4_OPTIONS, ("e2fsck", "-fn")),
    "ext4_without_journal": Kind("ext4", (*_EXT4, "-O", "^has_journal"), _EXT4_OPTIONS),
    "xfs": Kind("xfs", _XFS, "noatime", ("xfs_repair", "-n")),
    "btrfs": Kind("btrfs", (*system.MAKERS["btrfs"], "-U", _IDENTITY), "noatime"),
}
"""The kinds by name."""


@dataclass(frozen=True)
class FileSystem:
    """A file system and how it is mounted."""

    name: str = "ext4"
    """One of `KINDS`."""
    options: str = ""
    """Further ones for ``mount -o``."""
    mib: int = 64
    """Its size."""

    @property
    def kind(self) -> Kind:
        """How all of its kind are made and mounted."""
        return KINDS[self.name]

    @property
    def mount_options(self) -> str:
        """All for ``mount -o``."""
        return ",".join(filter(None, (self.kind.options, self.options)))

    def need(self) -> None:
        """Check that everything for it is installed."""
        system.need_mounting(self.kind.maker[0])

    def make(self, image: Path) -> None:
        """Make a file with an empty file system."""
        with image.open("xb") as file:
            file.truncate(self.mib << 20)
        system.run(*self.kind.maker, str(image))

    @contextlib.contextmanager
    def mount(
        self, loop: str, folder: Path, options: str | None = None, *, strictly: bool = False
    ) -> Iterator[None]:
        """Mount the one on a device, by default with its own options.

        Strictly, it is an error if it is still in use at the end.
        """
        options = self.mount_options if options is None else options
        system.run("mount", "-t", self.kind.type, "-o", options, loop, str(folder))
        try:
            yield
        finally:
            try:
                system.unmount(str(folder))
            except SledsimError:
                system.unmount(str(folder), lazily=True)
                if strictly:
                    raise

    @contextlib.contextmanager
    def mount_plainly(self, image: Path, folder: Path) -> Iterator[None]:
        """Mount the one in a file, without emulation and its own options."""
        words = ("--find", "--show", f"--sector-size={system.BLOCK}", str(image))
        with (
            _detached(system.run("losetup", *words).strip()) as loop,
            self.mount(loop, folder, "noatime", strictly=True),
        ):
            yield

    def damage(self, device: str) -> str:
        """Look for damage while it is not mounted; return what was found, or nothing."""
        done = system.run_to_end(*self.kind.checker, device)
        if done.returncode == 0:
            return ""
        said = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        said = [line for line in said if not line.startswith(("Pass ", "Phase "))]
        text = (
            "; ".join(said[:3]) or " ".join(done.stderr.split()) or f"ends with {done.returncode}"
        )
        return f"{self.kind.checker[0]}: {text}"


def attach(file: Path) -> contextlib.AbstractContextManager[str]:
    """Give a loop device with direct I/O on a served file."""
    return _detached(system.attach(file, read_only=False))


@contextlib.contextmanager
def _detached(loop: str) -> Iterator[str]:
    """Detach a loop device at the end."""
    try:
        yield loop
    finally:
        system.detach(loop)


def copy(file: Path, to: Path, capacity: int) -> None:
    """Copy a file as the first bytes of a device."""
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
