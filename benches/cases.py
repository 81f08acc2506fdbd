"""What `make bench` measures: each case by name, with what it needs and what it does.

A case is prepared, which is not timed, and done, which is. Both must work with packages of before,
as far back as one wants to compare with. Loads are generated, so that every machine has them: of
the traces of the papers, cello and TPC-C are not public, and the week of hplajw that is has but
44,519 requests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import sledsim as ss
from inputs import COLUMNS, FOLDER, LINES, array, place, trace, written


@dataclass(frozen=True)
class Outcome:
    """What a case has come to."""

    requests: int
    document: Any
    """As JSON: what two builds must agree on, beside the files."""
    files: tuple[Path, ...] = ()


Work = Callable[[], Outcome]


@dataclass(frozen=True)
class Case:
    """One line of the table of `make bench`."""

    title: str
    prepare: Callable[[Path, float], Work]
    """Makes ready in a folder, at a share of the usual size; returns what is timed."""
    only_named: bool = field(default=False, kw_only=True)
    """It takes so long that it is measured only if it is named."""


def requests_of(usual: int, share: float) -> int:
    """Return the number of requests at a share of the usual size."""
    return max(round(usual * share), 100)


def simulated(
    usual: int,
    device: str | Callable[[], Path] = "g2",
    scheduler: str = "fcfs",
    *,
    workload: str = "random",
    rows: bool = False,
    **keys: Any,
) -> Callable[[Path, float], Work]:
    """Simulate a load; with `rows`, every request goes to a file."""

    def prepare(folder: Path, share: float) -> Work:
        made = ss.device(device if isinstance(device, str) else device())
        load = ss.workload(workload, requests=requests_of(usual, share), **keys)
        return partial(simulate, load, made, scheduler, folder / "rows.parquet" if rows else None)

    return prepare


def simulate(load: ss.Load, device: ss.Device, scheduler: str, rows: Path | None) -> Outcome:
    """Simulate; the document is the summary."""
    run = ss.simulate(load, device, scheduler, rows=False if rows is None else rows)
    summary: dict[str, Any] = dict(run.summary)
    return Outcome(summary["requests"], summary, () if rows is None else (rows,))


def replayed(usual: int, trace_format: Any) -> Callable[[Path, float], Work]:
    """Read and replay a text trace, one request outstanding."""

    def prepare(_folder: Path, share: float) -> Work:
        file = trace(trace_format, requests_of(usual, share))
        load = ss.read_trace(file, trace_format=trace_format, queue_depth=1)
        return partial(simulate, load, ss.device("g2"), "fcfs", None)

    return prepare


def read(usual: int, trace_format: str) -> Callable[[Path, float], Work]:
    """Read a text trace as `sledsim trace info --quick` does."""

    def prepare(_folder: Path, share: float) -> Work:
        lines = requests_of(usual, share)
        file = trace(trace_format, lines)
        keys: dict[str, Any] = {"columns": COLUMNS} if trace_format == "csv" else {}
        return lambda: Outcome(lines, dict(ss.trace_info(file, quick=True, **keys)))

    return prepare


class PythonLru:
    """The least recently used goes; a policy written in Python."""

    def __init__(self, _slots: int) -> None:
        self._order: OrderedDict[int, None] = OrderedDict()

    def hit(self, key: int) -> None:
        """Note an access to a cached key."""
        self._order.move_to_end(key)

    def admit(self, key: int) -> None:
        """Note a key that is cached from now on."""
        self._order[key] = None

    def evict(self) -> int:
        """Return the key that goes."""
        return self._order.popitem(last=False)[0]


def hits(usual: int, policy: str | type[PythonLru]) -> Callable[[Path, float], Work]:
    """Count the hits of 10^7 keys under Zipf's law in a cache that holds 2.6 % of them."""

    def prepare(_folder: Path, share: float) -> Work:
        load = ss.workload("zipf", requests=requests_of(usual, share), size="fixed", blocking=8)

        def work() -> Outcome:
            rows = ss.hit_ratios(
                load, sizes_mib=[1024], segment_kib=4, policies=[policy], device_blocks=80_000_000
            )
            return Outcome(rows[0]["accesses"], rows)

        return work

    return prepare


def short_runs(_folder: Path, share: float) -> Work:
    """Make device and load anew for each of many runs of 1000 requests."""
    runs = requests_of(500, share)

    def work() -> Outcome:
        summaries = []
        for seed in range(runs):
            load = ss.workload("random", requests=1000, rate=500, seed=seed)
            summaries.append(dict(ss.simulate(load, ss.device("g2"), rows=False).summary))
        return Outcome(1000 * runs, summaries)

    return work


def free_scan(_folder: Path, share: float) -> Work:
    """Read a share of a device for free, under random requests of 4 KiB."""
    device = ss.device("cmu2003", active_tips=1280, micropositioning_cylinders=5)
    count = requests_of(200_000, share)
    load = ss.workload("random", rate=10, requests=count, size="fixed", blocking=8)

    def work() -> Outcome:
        run = ss.simulate(load, device, background={"task": "scan"}, rows=False)
        return Outcome(run.summary["requests"], dict(run.summary))

    return work


def batched(_folder: Path, share: float) -> Work:
    """Gather ten reads of a class at a time within a window."""
    device = ss.device("cmu2003", batching={"kind": "window", "window_ms": 2.0})
    groups = requests_of(20_000, share)
    lines = ["ms,lbn,more\n"]
    for group in range(groups):
        blocks = device.equivalent(place(group))[group % 9 :: 10]
        lines += [f"{3 * group},{lbn},{int(lbn != blocks[-1])}\n" for lbn in blocks]
    file = written(FOLDER / f"batches-{groups}.csv", lines)
    columns = "time=ms:ms, offset=lbn:512B, bytes=:512B, op=:read, linked=more"
    load = ss.read_trace(file, columns=columns)
    return partial(simulate, load, device, "fcfs", None)


def papers(folder: Path, _share: float) -> Work:
    """Draw all items of all papers, in full, in a process of their own."""
    command = [sys.executable, "-m", "sledsim", "papers", "run", "--workers=1", "-o", str(folder)]

    def work() -> Outcome:
        apart = os.environ | {"SLEDSIM_OUTCOMES": str(folder / "outcomes")}
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=apart)
        files = sorted(folder.glob("*/*.json"))
        read = {str(file.relative_to(folder)): json.loads(file.read_bytes()) for file in files}
        return Outcome(len(read), read)

    return work


def all_cases() -> dict[str, Case]:
    """Return all cases by name, in the order of the table."""
    cases = {
        "g2_closed": Case("g2 FCFS random, closed", simulated(1_000_000)),
        "g2_open": Case("g2 FCFS random, open", simulated(1_000_000, rate=500)),
        "g2_rows": Case("the same, closed, rows to Parquet", simulated(1_000_000, rows=True)),
        "g2_open_rows": Case(
            "the same, open, rows to Parquet", simulated(1_000_000, rows=True, rate=500)
        ),
    }
    for scheduler in ("sptf", "sstf_lbn", "c_look", "aged_sptf"):
        for depth in (16, 64, 256, 4096):
            cases[f"g2_{scheduler}_{depth}"] = Case(
                f"g2 {scheduler} at {depth}",
                simulated(400_000, "g2", scheduler, queue_depth=depth),
            )
    cases["atlas10k"] = Case("atlas10k FCFS random", simulated(1_000_000, "atlas10k"))
    cases["atlas10k_sptf_64"] = Case(
        "atlas10k sptf at 64", simulated(200_000, "atlas10k", "sptf", queue_depth=64)
    )
    for device in ("mcd", "mwb", "disk_ram"):
        for load in ("cello", "tpcc", "hplajw"):
            cases[f"{device}_{load}"] = Case(
                f"{device} on {load}", simulated(150_000, device, workload=load)
            )
    for device in ("nearline20t", "exos2x18"):
        cases[device] = Case(f"{device} FCFS random", simulated(300_000, device))
        cases[f"{device}_sptf_64"] = Case(
            f"{device} sptf at 64", simulated(100_000, device, "sptf", queue_depth=64)
        )
    for kind in ("raid0", "raid10", "raid5"):
        four = partial(array, kind, 4)
        cases[kind] = Case(f"{kind} of four g2, random", simulated(150_000, four))
        cases[f"{kind}_sequential"] = Case(
            f"{kind} of four g2, sequential",
            simulated(150_000, four, workload="sequential", sequential_fraction=1),
        )
    cases["raid5_writes"] = Case(
        "RAID 5 of four g2, random writes",
        simulated(150_000, partial(array, "raid5", 4), read_fraction=0),
    )
    for trace_format in ("disksim_ascii", "fio_iolog"):
        cases[f"replay_{trace_format}"] = Case(
            f"{trace_format}, replayed", replayed(500_000, trace_format)
        )
    for policy in ("lru", "s3fifo", "arc", "lfuda", "opt"):
        cases[f"hits_{policy}"] = Case(f"hit ratio of {policy}", hits(1_000_000, policy))
    cases["hits_python"] = Case("hit ratio of LRU in Python", hits(1_000_000, PythonLru))
    for trace_format in LINES:
        cases[f"read_{trace_format}"] = Case(
            f"{trace_format}, read only", read(1_000_000, trace_format)
        )
    return cases | {
        "short_runs": Case("runs of 1000 requests", short_runs),
        "free_scan": Case("cmu2003, a scan for free", free_scan),
        "batches": Case("cmu2003, batches of ten by a window", batched),
        "papers": Case("papers, all, full", papers, only_named=True),
    }
