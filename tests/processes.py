"""Processes of this machine, as ``/proc`` has them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim.emulator.mounting.state import Process

if TYPE_CHECKING:
    from collections.abc import Iterator


def descendants(pid: int) -> Iterator[Process]:
    """Find all that a process has started, and what that has started."""
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, file.read_text("ascii").split()):
                with contextlib.suppress(ProcessLookupError):
                    yield Process.of(child)
                yield from descendants(child)


def compute_s(process: Process) -> float:
    """Return the processor time of a process so far, in s."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
