"""Measure what the workloads hplajw and cello carry over from a public trace.

    python scripts/measure_reuse.py hplajw-1992-week.srt

It prints, by operation, the histogram of reuse distances in file-system blocks of 8 KB (the keys
``reuse_set``, ``reuse_distances`` and ``reuse_counts``), the gaps between one request and the next
that are most frequent (``interleave_kib``), and the index of dispersion of the arrivals with the
``bias`` that fits it at the rates of the workloads.
"""

from __future__ import annotations

import csv
import math
import sys
import tempfile
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from pathlib import Path

import sledsim as ss

BLOCK = 8192
SHIFT = 4096
"""Where blocks begin: 99 % of the requests of 8 KB or more begin 4 KB after a multiple of 8 KB."""

ENDS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
"""Ends of the cells of the histogram; the number of blocks is the last."""

RATES = {"read": {"hplajw": 25.861, "cello": 7.23085, "tpcd": 9.48298}}
RATES["write"] = {"hplajw": 17.02622, "cello": 17.96361}
CASCADE_S = 32.0
WINDOWS_S = [2.0**power for power in range(-4, 5)]

Request = tuple[float, int, int, int]
"""Time in s, device, offset and length in bytes."""


def requests(path: str) -> dict[str, list[Request]]:
    """Return the requests of a trace by operation."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "trace.csv"
        ss.convert_trace(path, table)
        found: dict[str, list[Request]] = {"read": [], "write": []}
        with table.open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                place = int(row["device"]), int(row["offset_bytes"]), int(row["bytes"])
                found[row["op"]].append((int(row["time_ns"]) * 1e-9, *place))
    return found


def distances(trace: list[Request]) -> tuple[list[int | None], int]:
    """Return the distance of each request's first block, ``None`` if new, and the blocks used."""
    last: dict[tuple[int, int], int] = {}
    order: list[int] = []  # when the blocks were used last, in rising order
    found: list[int | None] = []
    clock = 0
    for _, device, offset, length in trace:
        start = offset + SHIFT
        for number in range(start // BLOCK, (start + length - 1) // BLOCK + 1):
            block = (device, number)
            before = last.get(block)
            distance = None
            if before is not None:
                distance = len(order) - bisect_right(order, before)
                del order[bisect_left(order, before)]
            if number == start // BLOCK:
                found.append(distance)
            last[block] = clock
            insort(order, clock)
            clock += 1
    return found, len(last)


def histogram(found: list[int | None], blocks: int) -> tuple[list[int], list[int]]:
    """Return the ends of the cells and the counts."""
    ends = [end for end in ENDS if end < blocks] + [blocks]
    counts = [0] * len(ends)
    for distance in found:
        if distance is not None:
            counts[bisect_right(ends, distance)] += 1
    return ends, counts


def gaps(trace: list[Request]) -> list[tuple[float, float]]:
    """Return the most frequent gaps in KiB, with their shares in %."""
    ends: dict[int, int] = {}
    counts: Counter[float] = Counter()
    for _, device, offset, length in trace:
        if device in ends:
            counts[(offset - ends[device]) / 1024] += 1
        ends[device] = offset + length
    return [(gap, round(100 * count / len(trace), 2)) for gap, count in counts.most_common(4)]


def dispersion(trace: list[Request], window_s: float) -> float:
    """Return the variance over the mean of the arrivals in windows."""
    start, end = trace[0][0], trace[-1][0]
    windows = int((end - start) / window_s)
    counts = Counter(int((time - start) / window_s) for time, *_ in trace)
    inside = [count for window, count in counts.items() if window < windows]
    mean = sum(inside) / windows
    return (sum(count * count for count in inside) / windows - mean * mean) / mean


def bias(found: list[float], rate: float) -> float:
    """Return the bias, in steps of 0.005, whose dispersion at a rate is nearest, by logarithms."""

    def error(bias: float) -> float:
        square = 2 * (bias * bias + (1 - bias) ** 2)
        levels = [math.log2(CASCADE_S / window) for window in WINDOWS_S]
        model = [
            1 + rate * window * (square**level - 1)
            for window, level in zip(WINDOWS_S, levels, strict=True)
        ]
        return sum(math.log(a / b) ** 2 for a, b in zip(model, found, strict=True))

    return min((step / 200 for step in range(100, 196)), key=error)


def main() -> None:
    """Print the figures."""
    for op, trace in requests(sys.argv[1]).items():
        found, blocks = distances(trace)
        ends, counts = histogram(found, blocks)
        print(f"[{op}]  # {len(trace)} requests, {found.count(None)} of blocks not used before")
        print(f"reuse_set = {blocks}\nreuse_distances = {ends}\nreuse_counts = {counts}")
        print(f"# gaps in KiB, %: {gaps(trace)}")
        variance = [dispersion(trace, window) for window in WINDOWS_S]
        print(f"# index of dispersion, 1/16 to 16 s: {[round(value, 2) for value in variance]}")
        print(f"# bias: { ({name: bias(variance, rate) for name, rate in RATES[op].items()}) }")


if __name__ == "__main__":
    main()
