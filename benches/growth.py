"""Prints how a request's cost grows: `python benches/growth.py [depth|device|requests]...`.

By the depth of the queue under each scheduler, by the device and its size, and by the number of
requests, with the peak of memory. Each figure is the median of three runs, each in a process of its
own. The tables are those of docs/performance.md.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import sledsim as ss
from memory import peak_mib

if TYPE_CHECKING:
    from collections.abc import Iterable

RUNS = 3
DEPTHS = tuple(4**power for power in range(8))
DEVICES = ("g1", "g2", "g3", "msst2005", "atlas10k", "nearline20t", "superdisk", "mcd", "mwb")
COUNTS = (10_000, 100_000, 1_000_000, 10_000_000)


@dataclass(frozen=True)
class Setting:
    """What is simulated: random requests, closed."""

    requests: int
    device: str = "g2"
    scheduler: str = "fcfs"
    depth: int = 1
    rows: bool = False


@dataclass(frozen=True)
class Cost:
    """What it took."""

    make_ms: float
    """To make the device."""
    request_ns: float
    """CPU time of a request."""
    peak_mib: float


def once(setting: Setting) -> Cost:
    """Simulate in this process."""
    ss.simulate(ss.workload("random", requests=10), ss.device("g2"), rows=False)  # imports
    start = time.process_time()
    device = ss.device(setting.device)
    made = time.process_time()
    load = ss.workload("random", requests=setting.requests, queue_depth=setting.depth)
    with tempfile.TemporaryDirectory() as folder:
        rows = f"{folder}/rows.parquet" if setting.rows else False
        begun = time.process_time()
        ss.simulate(load, device, setting.scheduler, rows=rows)
        used = time.process_time() - begun
    return Cost(1e3 * (made - start), 1e9 * used / setting.requests, peak_mib())


def cost(setting: Setting) -> Cost:
    """Simulate in processes of their own; return the medians."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        costs = pool.map(once, [setting] * RUNS, chunksize=1)
    return Cost(
        median(one.make_ms for one in costs),
        median(one.request_ns for one in costs),
        max(one.peak_mib for one in costs),
    )


def show(head: list[str], rows: Iterable[list[str]]) -> None:
    """Print a table of Markdown, line by line as it is measured."""
    print(f"\n| {' | '.join(head)} |\n|{' --- |' * len(head)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def by_depth() -> None:
    """Show the CPU time of a request in ns, by scheduler and depth."""

    def cell(scheduler: str, depth: int) -> str:
        setting = Setting(100_000 + 10 * depth, scheduler=scheduler, depth=depth)
        return f"{cost(setting).request_ns:,.0f}"

    rows = ([name, *(cell(name, depth) for depth in DEPTHS)] for name in ss.schedulers())
    show(["ns a request at depth", *map(str, DEPTHS)], rows)


def by_device() -> None:
    """Show the cost of a request and of making the device, by device."""

    def row(name: str) -> list[str]:
        measured = cost(Setting(200_000, name))
        size = f"{ss.device(name).blocks * 512 / 1e9:,.1f}"
        return [name, size, f"{measured.make_ms:.1f}", f"{measured.request_ns:,.0f}"]

    show(["device", "GB", "ms to make it", "ns a request"], map(row, DEVICES))


def by_requests() -> None:
    """Show the cost of a request and the peak of memory, by the number of requests."""

    def row(requests: int) -> list[str]:
        costs = [cost(Setting(requests, rows=rows)) for rows in (False, True)]
        cells = (f"{one.request_ns:,.0f} | {one.peak_mib:,.0f}" for one in costs)
        return [f"{requests:,}", *cells]

    head = ["requests", "ns a request", "MiB", "ns with rows", "MiB with rows"]
    show(head, map(row, COUNTS))


TABLES = {"depth": by_depth, "device": by_device, "requests": by_requests}


if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        if table not in TABLES:
            sys.exit(f"{table}: no such table; known are {', '.join(TABLES)}")
        TABLES[table]()
