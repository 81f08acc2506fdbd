"""Prints how a request's cost grows: `python benches/growth.py [TABLE]...`.

The tables are `depth` of the queue under each scheduler, `device` and its size, `members` of an
array, and `requests`, each with the peak of memory. A figure is the median of three runs, each in a
process of its own. The tables are those of docs/performance.md.
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
from inputs import array
from memory import peak_mib

if TYPE_CHECKING:
    from collections.abc import Iterable

RUNS = 3
DEPTHS = (1, 4, 16, 64, 256, 1024, 4096, 16_384, 100_000)
DEVICES = ("g1", "g2", "g3", "msst2005", "atlas10k", "nearline20t", "superdisk", "mcd", "mwb")
MEMBERS = (4, 8, 16, 32, 64)
COUNTS = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)


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


def mib(one: Cost) -> str:
    """Return the peak of memory as it is written."""
    return f"{one.peak_mib:,.0f}"


def show(head: list[str], rows: Iterable[list[str]]) -> None:
    """Print a table of Markdown, line by line as it is measured."""
    print(f"\n| {' | '.join(head)} |\n|{' --- |' * len(head)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def by_depth() -> None:
    """Show the CPU time of a request in ns, by scheduler and depth, and the memory at the last."""

    def row(scheduler: str) -> list[str]:
        costs = [
            cost(Setting(100_000 + 10 * depth, scheduler=scheduler, depth=depth))
            for depth in DEPTHS
        ]
        return [scheduler, *(f"{one.request_ns:,.0f}" for one in costs), mib(costs[-1])]

    show(["ns a request at depth", *map(str, DEPTHS), "MiB"], map(row, ss.schedulers()))


def by_device() -> None:
    """Show the cost of a request and of making the device, by device."""

    def row(name: str) -> list[str]:
        measured = cost(Setting(200_000, name))
        size = f"{ss.device(name).blocks * 512 / 1e9:,.1f}"
        times = f"{measured.make_ms:.1f}", f"{measured.request_ns:,.0f}"
        return [name, size, *times, mib(measured)]

    show(["device", "GB", "ms to make it", "ns a request", "MiB"], map(row, DEVICES))


def by_members() -> None:
    """Show the cost of a request and the peak of memory, by the members of an array."""

    def row(members: int) -> list[str]:
        costs = [cost(Setting(100_000, str(array(kind, members)))) for kind in ("raid0", "raid5")]
        return [str(members), *(f"{one.request_ns:,.0f}" for one in costs), mib(costs[-1])]

    show(["members", "ns a request, RAID 0", "RAID 5", "MiB"], map(row, MEMBERS))


def by_requests() -> None:
    """Show the cost of a request and the peak of memory; most requests without rows alone."""

    def row(requests: int) -> list[str]:
        both = (False, True) if requests < COUNTS[-1] else (False,)
        costs = [cost(Setting(requests, rows=rows)) for rows in both]
        cells = [text for one in costs for text in (f"{one.request_ns:,.0f}", mib(one))]
        return [f"{requests:,}", *cells, *[""] * (4 - len(cells))]

    head = ["requests", "ns a request", "MiB", "ns with rows", "MiB with rows"]
    show(head, map(row, COUNTS))


TABLES = {
    "depth": by_depth,
    "device": by_device,
    "members": by_members,
    "requests": by_requests,
}


if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        if table not in TABLES:
            sys.exit(f"{table}: no such table; known are {', '.join(TABLES)}")
        TABLES[table]()
