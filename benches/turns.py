"""Measures one case of two builds in turns, with a loop of fixed arithmetic beside them.

On a machine that others use too, a second is not a second: clocks fall and caches are shared. What
is measured within the same second suffers alike, so that ratios within a turn hold where times do
not. CPU time leaves out what others were given; wall time does not.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from differences import differences

WORKER = Path(__file__).with_name("worker.py")
LOOP_ROUNDS = 20_000_000
"""Some 0.15 s. The loop is compiled (crates/sledsim-experiments/benches/scenario.rs), as
interpreters and libraries of one machine differ in speed from those of the next; its steps wait for
each other, so that neither compilers nor wider processors change what it measures: the clock and
latencies."""
Record = dict[str, Any]


def loop_cpu_s(yardstick: Path) -> float:
    """Run the loop of fixed arithmetic; return its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(yardstick), f"loop={LOOP_ROUNDS}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def once(case: str, share: float, package: Path | None, folder: Path) -> Record:
    """Do a case in a process of its own, with the installed package or that of a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variables = dict(os.environ) if package is None else os.environ | {"PYTHONPATH": str(package)}
    command = [sys.executable, str(WORKER), case, str(share), str(folder)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"error": lines[-1]}
    result: Record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return result


def in_turns(
    case: str, share: float, turns: int, base: Path | None, yardstick: Path, folder: Path
) -> Record:
    """Measure a case of the new build, and of the base if there is one: A B A B, `turns` times.

    Every second turn begins with the other build. Results are compared in every turn.
    """
    builds: dict[str, Path | None] = {"new": None} if base is None else {"base": base, "new": None}
    record: Record = {
        "loop_ns": [],
        **{build: {"cpu_s": [], "wall_s": [], "peak_mib": []} for build in builds},
    }
    found: list[str] | None = None
    for turn in range(turns):
        record["loop_ns"].append(1e9 * loop_cpu_s(yardstick) / LOOP_ROUNDS)
        results: Record = {}
        for build in list(builds)[:: -1 if turn % 2 else 1]:
            result = once(case, share, builds[build], folder / build)
            if "error" in result:
                record[build] = {"error": result["error"]}
                builds.pop(build)
                continue
            for key, values in record[build].items():
                values.append(result[key])
            results[build] = result
            record["requests"] = result["requests"]
        if len(results) == 2 and not found:
            found = differences(results["base"], results["new"])
    if found is not None:
        record["differences"] = found
    return record
