"""Does one case once, and writes what it took: `python benches/worker.py CASE SHARE FOLDER`.

It is a process of its own, so that no case finds the memory or the caches of another, and so that
PYTHONPATH chooses the build. FOLDER/result.json tells the seconds, the peak of memory and the
results.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import sledsim as ss
from cases import all_cases
from memory import peak_mib


def cpu_s() -> float:
    """Return the CPU seconds of this process, of all its threads, and of its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(name: str, share: float, folder: Path) -> None:
    """Prepare the case, do it, and write the result."""
    work = all_cases()[name].prepare(folder, share)
    # What is imported or made at the first simulation is not the case's.
    ss.simulate(ss.workload("random", requests=10), ss.device("g2"), rows=False)
    cpu, wall = cpu_s(), time.perf_counter()
    outcome = work()
    wall, cpu = time.perf_counter() - wall, cpu_s() - cpu
    result = {
        "requests": outcome.requests,
        "cpu_s": cpu,
        "wall_s": wall,
        "peak_mib": peak_mib(),
        "document": outcome.document,
        "files": [str(file) for file in outcome.files],
    }
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]))
