"""Prints what a request costs by part: `python benches/parts.py CASE...` (of benches/callgrind.py).

Callgrind counts the instructions of each line of source, also where a function was inlined. They
are gathered by the folder that holds the line; lines of the standard library and conversions of
units count for the function in which they were inlined. As in benches/counts.py, a quarter of the
requests is subtracted, so that the start is not in it. Nanoseconds are the CPU time of a request,
measured, and shared out as if all instructions took equally long.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median

from builds import program
from callgrind import CASES, arguments_of, instructions, is_there

PARTS: dict[str, str | None] = {
    "sledsim-core/src/engine": "engine",
    "sledsim-core/src/model": "engine",
    "sledsim-core/src/workloads": "source",
    "sledsim-base/src/random": "source",
    "sledsim-experiments/src/replay": "source",
    "sledsim-experiments/src/load": "source",
    "sledsim-experiments/src/generate": "source",
    "sledsim-traces": "source",
    "sledsim-core/src/queueing/schedulers": "scheduler",
    "sledsim-core/src/queueing": "station",
    "sledsim-core/src/devices": "mechanism",
    "sledsim-core/src/layouts": "mechanism",
    "sledsim-core/src/power": "mechanism",
    "sledsim-core/src/compose": "hybrids, arrays, caches",
    "sledsim-experiments/src/stats": "statistics",
    "sledsim-base/src/distribution": "statistics",
    "sledsim-base/src/cells": "statistics",
    "sledsim-base/src/elementary": "mechanism",
    "sledsim-base/src/units": None,  # of those that convert
    "sledsim-experiments/src/damaged_parquet": "rows",
    "sledsim-experiments/src/run": "statistics",
    "sledsim-base/src/row": "rows",
    "/parquet-": "rows",
    "/arrow-": "rows",
    "/zstd": "rows",
    "/libm-": "mathematics (libm)",
    "crates/sledsim-": "other code of sledsim",
}
"""The part of a source file by what its path contains; the first that does counts."""
OTHERS = "standard library, allocation, copying"


def part_of(path: str) -> str | None:
    """Return the part of a source file; none if it has none of its own."""
    return next((part for inside, part in PARTS.items() if inside in path), None)


def by_part(profile: Path) -> Counter[str]:
    """Sum the instructions of a profile by part."""
    counts: Counter[str] = Counter()
    names: dict[str, str] = {}

    def named(text: str) -> str:
        key, _, name = text.partition(" ")
        return names.setdefault(key, name)

    own = inlined = None
    skip = False
    for line in profile.read_text(encoding="utf-8", errors="replace").splitlines():
        word, is_key, rest = line.partition("=")
        if is_key and word in {"fl", "fi", "fe", "cfi", "cfl"}:
            part = part_of(named(rest))
            if word == "fl":
                own = inlined = part
            elif word in {"fi", "fe"}:
                inlined = part or own
        elif word == "calls":
            skip = True  # the next line is the cost of what is called
        elif line[:1].isdigit() or line[:1] in {"+", "-", "*"}:
            if not skip:
                counts[inlined or OTHERS] += int(line.split()[1])
            skip = False
    return counts


def counted(built: Path, case: str) -> dict[str, float]:
    """Return the instructions of a request by part."""
    requests, _ = CASES[case]
    few = requests // 4
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sums = []
        for number in (few, requests):
            profile = folder / f"{number}.profile"
            instructions(built, arguments_of(case, number, folder / "rows.parquet"), profile)
            sums.append(by_part(profile))
    least, most = sums
    return {part: (most[part] - least[part]) / (requests - few) for part in most}


def cpu_ns(built: Path, case: str) -> float:
    """Return the CPU time of a request: the median of five runs of 25 times as many."""
    requests = 25 * CASES[case][0]
    times = []
    with tempfile.TemporaryDirectory() as folder:
        arguments = arguments_of(case, requests, Path(folder) / "rows.parquet")
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([str(built), *arguments], check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1e9 * median(times) / requests


def main(cases: list[str]) -> None:
    """Print a table of Markdown for each case."""
    if unknown := [case for case in cases if case not in CASES]:
        sys.exit(f"{unknown[0]}: no such case; known are {', '.join(CASES)}")
    if not is_there():
        sys.exit("valgrind is not installed")
    os.environ["CARGO_PROFILE_RELEASE_STRIP"] = "none"
    os.environ["CARGO_PROFILE_RELEASE_DEBUG"] = "line-tables-only"
    built = program("-p", "sledsim-experiments")
    for case in cases or CASES:
        parts, time_ns = counted(built, case), cpu_ns(built, case)
        whole = sum(parts.values())
        print(f"\n{case}: {whole:,.0f} instructions and {time_ns:,.0f} ns of CPU time a request\n")
        print("| part | instructions | share | ns |\n| --- | --- | --- | --- |")
        for part, count in sorted(parts.items(), key=lambda pair: -pair[1]):
            if count >= 0.005 * whole:
                share = count / whole
                print(f"| {part} | {count:,.0f} | {share:.1%} | {share * time_ns:,.0f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
