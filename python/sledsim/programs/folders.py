"""Folders that programs and their devices are in."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.emulator.mounting.work import clean_stale, working

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LEAST_FREE = 256 << 20


@contextlib.contextmanager
def work_folder(prefix: str, where: Path | None = None) -> Iterator[Path]:
    """Give a new folder for the time of a run, by default in memory if there is some.

    What runs that were killed have left is removed before.
    """
    clean_stale()
    with working(prefix, where) as folder:
        folder.chmod(0o711)  # a server that is not root has its data in it
        yield folder


def need_room(folder: Path) -> None:
    """Refuse a folder on a file system that is full."""
    free = shutil.disk_usage(folder).free
    if free < _LEAST_FREE:
        raise SledsimError(
            f"{folder}: has {free >> 20} MiB of room, {_LEAST_FREE >> 20} are needed"
        )


def need_empty(folder: Path) -> None:
    """Make a folder, or see that it is empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SledsimError(
                f"--folder {folder}: must be empty; it holds another experiment, or other files"
            )
    except OSError as error:
        raise SledsimError(f"--folder {folder}: {error.strerror}") from None
