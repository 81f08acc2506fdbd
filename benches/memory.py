"""The memory that a process has used."""

from __future__ import annotations

import resource
from pathlib import Path


def peak_mib() -> float:
    """Return the peak of memory of this process, in MiB.

    Linux tells it of the program alone; elsewhere, and by getrusage, it is at least that of the
    process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
