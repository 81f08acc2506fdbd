"""The file systems on which programs meet failures of power."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledsim._arguments import placed
from sledsim._core import SledsimError, SpecError
from sledsim.applications import file_systems
from sledsim.emulator.mounting import system

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("ext4", "xfs", "raw")
"""The file systems; ``raw`` is none."""
DATA_MODES = ("ordered", "journal", "writeback")
"""How ext4 treats data, as its option ``data``."""
_CHECKS = {"ext4": ("e2fsck", "-fn"), "xfs": ("xfs_repair", "-n")}
"""What looks for damage and changes nothing; it ends with 0 if there is none."""
_TOOLS = {"e2fsck": "e2fsprogs", "debugfs": "e2fsprogs", "xfs_repair": "xfsprogs"}


@dataclass(frozen=True)
class FileSystem:
    """A file system and how it is mounted."""

    name: str = "ext4"
    data: str = "ordered"
    """One of `DATA_MODES`; ext4 only."""
    barriers: bool = True
    """Whether it has the device flush; ext4 only."""
    options: str = ""
    """Further ones for ``mount -o``."""
    mib: int = 64
    """Its size."""

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises
        ------
        SpecError
            For an unknown name, or an option that this file system does not have.
        """
        if self.name not in NAMES:
            _refuse("file_system", self.name, f"one of {', '.join(NAMES)}")
        if self.data not in DATA_MODES:
            _refuse("data", self.data, f"one of {', '.join(DATA_MODES)}")
        if self.name != "ext4" and self.data != "ordered":
            _refuse("data", self.data, f"left out with {self.name}: only ext4 has such modes")
        if self.name != "ext4" and not self.barriers:
            _refuse("barriers", "off", f"left out with {self.name}: only ext4 can go without")
        if self.is_raw and self.options:
            _refuse("options", self.options, "left out with raw: nothing is mounted")
        if not self.is_raw and self.mib << 20 < self.least_bytes:
            _refuse("fs_mib", self.mib, f"at least {self.least_bytes >> 20} for {self.name}")

    @property
    def is_raw(self) -> bool:
        """Whether there is no file system."""
        return self.name == "raw"

    @property
    def least_bytes(self) -> int:
        """The smallest size that its maker accepts, with a journal of its own."""
        return max(system.LEAST_BYTES[self.name], 8 << 20)

    @property
    def _kind(self) -> file_systems.FileSystem:
        return file_systems.FILE_SYSTEMS[self.name]

    @property
    def mount_options(self) -> str:
        """For ``mount -o``."""
        said = [self._kind.options]
        if self.name == "xfs":  # several cuts are mounted at once
            said.append("nouuid")
        if self.name == "ext4":
            said += [f"data={self.data}", "barrier" if self.barriers else "nobarrier"]
        return ",".join(filter(None, [*said, self.options]))

    def __str__(self) -> str:
        if self.is_raw:
            return "the raw device"
        said = [self.name, "" if self.data == "ordered" else f"data={self.data}"]
        return ", ".join(filter(None, [*said, "" if self.barriers else "no barriers"]))

    def need(self) -> None:
        """Check that everything for it is installed.

        Raises
        ------
        SledsimError
            If something is missing.
        """
        if self.is_raw:
            return
        system.need_mounting(self._kind.maker[0])
        for tool in (_CHECKS[self.name][0], *(["debugfs"] if self.name == "ext4" else [])):
            _need(tool)

    def make(self, image: Path) -> None:
        """Make a file with an empty file system.

        Raises
        ------
        SledsimError
            If that fails.
        """
        file_systems.make(image, self.mib, self._kind)

    def mount(self, loop: str, folder: Path) -> None:
        """Mount it, as a machine does that starts again after its power has failed.

        Raises
        ------
        FailedError
            If that fails.
        """
        system.run("mount", "-t", self._kind.kind, "-o", self.mount_options, loop, str(folder))

    def damage(self, device: str) -> str:
        """Look for damage while it is not mounted; return what was found, or nothing."""
        done = subprocess.run(
            [*_CHECKS[self.name], device],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode == 0:
            return ""
        said = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        said = [line for line in said if not line.startswith(("Pass ", "Phase "))]
        text = (
            "; ".join(said[:3]) or " ".join(done.stderr.split()) or f"ends with {done.returncode}"
        )
        return f"{_CHECKS[self.name][0]}: {text}"

    def journal(self, image: Path) -> list[tuple[int, int]]:
        """Return where its journal is in an image: spans of bytes.

        Raises
        ------
        SledsimError
            If that cannot be found.
        """
        if self.is_raw:
            return []
        return _ext4_journal(image) if self.name == "ext4" else [_xfs_log(image)]


def _refuse(key: str, value: object, must: str) -> None:
    raise placed(SpecError, f"{key} = {value}: must be {must}", key=key)


def _need(tool: str) -> None:
    import shutil  # used once

    if shutil.which(tool) is None:
        raise SledsimError(f"{tool} is missing: install the package {_TOOLS[tool]}")


def _ext4_journal(image: Path) -> list[tuple[int, int]]:
    block = struct.unpack_from("<I", _read(image, 1024, 1024), 24)[0]
    size = 1024 << block
    done = subprocess.run(
        ["debugfs", "-R", "dump_extents -l <8>", str(image)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    spans = []
    for line in done.stdout.splitlines()[1:]:
        # level/levels, entry/entries, first - last logical, first - last physical, length
        fields = line.replace("/", " ").replace("-", " ").split()
        if len(fields) >= 8 and all(field.isdecimal() for field in fields[:8]):
            first, last = int(fields[6]), int(fields[7])
            spans.append((first * size, (last + 1) * size))
    if not spans:
        raise SledsimError(
            f"{image}: debugfs does not tell where the journal is: {done.stderr.strip()}"
        )
    return spans


def _xfs_log(image: Path) -> tuple[int, int]:
    head = _read(image, 0, 512)
    if head[:4] != b"XFSB":
        raise SledsimError(f"{image}: has no superblock of xfs")
    (size,) = struct.unpack_from(">I", head, 4)
    (start,) = struct.unpack_from(">Q", head, 48)
    group_blocks, _, _, blocks = struct.unpack_from(">IIII", head, 84)
    shift = head[124]
    first = (start >> shift) * group_blocks + (start & ((1 << shift) - 1))
    return first * size, (first + blocks) * size


def _read(image: Path, at: int, count: int) -> bytes:
    with image.open("rb") as file:
        file.seek(at)
        return file.read(count)
