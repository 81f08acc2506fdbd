"""File systems that meet failures of power."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledsim._arguments import placed
from sledsim._core import SpecError
from sledsim.emulator.mounting import system
from sledsim.programs.crashes import journals
from sledsim.programs.file_systems import FileSystem, attach

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("ext4", "xfs", "raw")
"""The file systems; ``raw`` is none."""
DATA_MODES = ("ordered", "journal", "writeback")
"""How ext4 treats data, as its option ``data``."""


@dataclass(frozen=True)
class CrashFileSystem(FileSystem):
    """One of `NAMES`, and what it promises."""

    data: str = "ordered"
    """One of `DATA_MODES`; ext4 only."""
    barriers: bool = True
    """Whether it has the device flush; ext4 only."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
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
    def mount_options(self) -> str:
        """All for ``mount -o``."""
        said = [self.kind.options]
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
        """Check that everything for it is installed."""
        if self.is_raw:
            return
        super().need()
        for tool in (self.kind.checker[0], *(["debugfs"] if self.name == "ext4" else [])):
            system.need(tool)

    @contextlib.contextmanager
    def place(self, file: Path, folder: Path) -> Iterator[Path]:
        """Give what a program works on: the mounted folder, or the file of a raw device."""
        if self.is_raw:
            yield file
            return
        with attach(file) as loop, self.mount(loop, folder):
            yield folder

    def journal(self, image: Path) -> list[tuple[int, int]]:
        """Return where its journal is in an image: spans of bytes."""
        if self.is_raw:
            return []
        return journals.of_ext4(image) if self.name == "ext4" else [journals.of_xfs(image)]


def _refuse(key: str, value: object, must: str) -> None:
    raise placed(SpecError, f"{key} = {value}: must be {must}", key=key)
