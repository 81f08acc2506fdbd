"""Benchmarks of simulation speed and memory.

Each case runs in a process of its own, a few times over; the best time counts, as machines are
noisy. Prints JSON and writes it to ``out/bench.json``.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import sledsim as ss
from emulator import emulator_rates
from matplotlib.figure import Figure
from rpc import rpc_rates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

REPEATS = 5
RATE_REQUESTS = 2_000_000
MEMORY_REQUESTS = (1_000_000, 10_000_000)
TRACE_LINES = 3_000_000
TRACE_FLOOR_MB_S = 200
"""Of text, to be read on one core."""

GOALS = {
    "g2_random_fcfs_statistics": {"floor": 3.0e6, "goal": 5.0e6},
    "g2_random_fcfs_parquet": {"floor": 1.5e6},
    "atlas10k_random_fcfs_statistics": {"floor": 2.0e6},
}
"""Requests/s to reach on one core of a machine like the developers'."""

DEPTHS = tuple(4**power for power in range(8))
PICK_REQUESTS = {"g2": 500_000, "atlas10k": 200_000}
PICK_FLOORS = {
    "g2_sptf_16": 1e6,
    "g2_sptf_64": 1e6,
    "g2_sptf_256": 1e6,
    "g2_sptf_4096": 0.8e6,
    "g2_aged_sptf_256": 0.4e6,
    "g2_aged_sptf_4096": 0.3e6,
    "g2_c_look_64": 2.5e6,
    "g2_sstf_lbn_64": 2.5e6,
    "atlas10k_sptf_64": 0.3e6,
}
"""Requests/s to reach by device, scheduler and queue depth."""


def simulate(requests: int, *, parquet: bool, name: str) -> float:
    """Run a device under the closed random load, first come first served; return the seconds."""
    device = ss.device(name)
    load = ss.workload("random", requests=requests)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        ss.simulate(load, device=device, requests=f"{folder}/rows.parquet" if parquet else False)
        return time.perf_counter() - start


def measure(requests: int, repeats: int, answer: Connection, *, parquet: bool, device: str) -> None:
    """Send the times of some runs and the peak memory of this process in MiB."""
    times = [simulate(requests, parquet=parquet, name=device) for _ in range(repeats)]
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer.send((times, peak_mib))


def in_own_process(
    requests: int, repeats: int, *, parquet: bool, device: str = "g2"
) -> tuple[list[float], float]:
    """Call :func:`measure` in a fresh process."""
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(
        target=measure,
        args=(requests, repeats, there),
        kwargs={"parquet": parquet, "device": device},
    )
    process.start()
    there.close()
    answer: tuple[list[float], float] = here.recv()
    process.join()
    return answer


def rate(name: str, *, parquet: bool) -> dict[str, float]:
    """Requests/s of one case: best and median of the repeats."""
    device = name.partition("_")[0]
    times, _ = in_own_process(RATE_REQUESTS, REPEATS, parquet=parquet, device=device)
    times.sort()
    best, median = times[0], times[len(times) // 2]
    return {
        "requests_per_s": round(RATE_REQUESTS / best),
        "median_requests_per_s": round(RATE_REQUESTS / median),
        **GOALS[name],
    }


SHORT_REQUESTS = 1000
SHORT_RUNS = 500


def short_rates() -> dict[str, int]:
    """Runs/s and requests/s of short runs, device and load made for each."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(SHORT_RUNS):
            load = ss.workload("random", requests=SHORT_REQUESTS, rate=500)
            ss.simulate(load, ss.device("g2"), requests=False)
        times.append(time.perf_counter() - start)
    runs_per_s = SHORT_RUNS / min(times)
    return {
        "runs_per_s": round(runs_per_s),
        "requests_per_s": round(SHORT_REQUESTS * runs_per_s),
    }


def peaks(*, parquet: bool) -> dict[str, float]:
    """Peak memory in MiB by number of requests."""
    return {
        str(requests): round(in_own_process(requests, 1, parquet=parquet)[1], 1)
        for requests in MEMORY_REQUESTS
    }


def pick_rates(name: str, scheduler: str, depths: Sequence[int]) -> dict[str, dict[str, float]]:
    """Requests/s by queue depth, closed, the best of three; and what that is a request in us."""
    device = ss.device(name)
    rates: dict[str, dict[str, float]] = {}
    for depth in depths:
        requests = PICK_REQUESTS[name] + 10 * depth
        times = []
        for _ in range(3):
            load = ss.workload("random", requests=requests, queue_depth=depth)
            start = time.perf_counter()
            ss.simulate(load, device, scheduler, requests=False)
            times.append(time.perf_counter() - start)
        case = f"{name}_{scheduler}_{depth}"
        rates[str(depth)] = {
            "requests_per_s": round(requests / min(times)),
            "request_us": round(1e6 * min(times) / requests, 3),
            **({"floor": PICK_FLOORS[case]} if case in PICK_FLOORS else {}),
        }
    return rates


def scheduler_rates() -> dict[str, dict[str, dict[str, float]]]:
    """Rates of all schedulers on a sled at every depth, and of the dearest on a disk."""
    rates = {f"g2_{name}": pick_rates("g2", name, DEPTHS) for name in ss.schedulers()}
    rates["atlas10k_sptf"] = pick_rates("atlas10k", "sptf", (1, 16, 64, 256))
    return rates


def plot_picks(rates: dict[str, dict[str, dict[str, float]]], path: Path) -> None:
    """Draw what a request takes to simulate against the depth of the queue."""
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, by_depth in rates.items():
        times = [rate["request_us"] for rate in by_depth.values()]
        axes.plot([int(depth) for depth in by_depth], times, "o-", markersize=3, label=name)
    axes.set(xscale="log", yscale="log", xlabel="queue depth", ylabel="us to simulate a request")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=144)


SCANS = {"p20_m5": (1280, 5), "p20_m0": (1280, 0), "p10_m5": (640, 5), "p10_m0": (640, 0)}
SCANS_GOAL_S = 15


def scan(tips: int, reach: int) -> tuple[int, float]:
    """Read all of a device for free under random 4 KiB; return requests and seconds."""
    device = ss.device("cmu2003", active_tips=tips, micropositioning_cylinders=reach)
    load = ss.workload("random", rate=10, requests=10_000_000, size="fixed", blocking=8)
    start = time.perf_counter()
    background = {"task": "scan", "ends_run": True}
    run = ss.simulate(load, device, background=background, requests=False)
    return run.summary["requests"], time.perf_counter() - start


def scan_rates() -> dict[str, Any]:
    """Requests/s under a scan to 100 %, and how long the four of Table 4 take on all processors."""
    start = time.perf_counter()
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda each: scan(*each), SCANS.values()))
    together_s = time.perf_counter() - start
    rates = {
        name: {"requests": requests, "requests_per_s": round(requests / seconds)}
        for name, (requests, seconds) in zip(SCANS, done, strict=True)
    }
    return {"all_four_s": round(together_s, 2), "goal_s": SCANS_GOAL_S, **rates}


BATCH_GROUPS = 20_000


def batch_rates() -> dict[str, dict[str, float]]:
    """Requests/s of ten reads of a class at a time: linked, within a window, and neither."""
    device = ss.device("cmu2003")
    classes = [device.equivalent(place(index))[index % 9 :: 10] for index in range(BATCH_GROUPS)]
    lines = ["ms,lbn,more"]
    for index, blocks in enumerate(classes):
        lines += [f"{3 * index},{lbn},{int(lbn != blocks[-1])}" for lbn in blocks]
    ways: dict[str, dict[str, object]] = {
        "none": {"kind": "none"},
        "explicit": {"kind": "explicit"},
        "window": {"kind": "window", "window_ms": 2.0},
    }
    rates: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "batches.csv"
        trace.write_text("\n".join(lines) + "\n", encoding="ascii")
        columns = "time=ms:ms, offset=lbn:512B, bytes=:512B, op=:read, linked=more"
        for way, keys in ways.items():
            times = []
            for _ in range(REPEATS):
                load = ss.read_trace(trace, columns=columns)
                start = time.perf_counter()
                ss.simulate(load, ss.device("cmu2003", batching=keys), requests=False)
                times.append(time.perf_counter() - start)
            rates[f"cmu2003_{way}"] = {
                "requests_per_s": round((len(lines) - 1) / min(times)),
            }
    return rates


TABLE_RECORDS = 10_000_000
TABLES_GOAL_S = 60


def table_rates() -> dict[str, Any]:
    """Seconds to load the table of CMU-CS-03-125 into each layout, and to scan it."""
    whole = pl.int_range(TABLE_RECORDS, eager=True)
    widths = {"a1": 8, "a2": 32, "a3": 15, "a4": 16}
    columns = {
        name: whole.cast(pl.String)
        .str.zfill(width)
        .to_arrow()
        .cast(pa.binary())
        .cast(pa.binary(width))
        for name, width in widths.items()
    }
    data, device = pa.table(columns), ss.device("cmu2003", idle="coast")
    rates: dict[str, Any] = {}
    begin = time.perf_counter()
    for layout in ("normal", "vertical", "capsule"):
        start = time.perf_counter()
        table = ss.table(data, device, layout=layout)
        loaded = time.perf_counter()
        table.scan()
        scanned = time.perf_counter()
        table.scan(["a1"])
        rates[layout] = {
            "load_s": round(loaded - start, 2),
            "scan_s": round(scanned - loaded, 2),
            "scan_a1_s": round(time.perf_counter() - scanned, 2),
        }
    return {"all_s": round(time.perf_counter() - begin, 2), "goal_s": TABLES_GOAL_S, **rates}


def write_traces(folder: Path) -> dict[str, Path]:
    """Write one trace of some 100 MB per text format."""
    lines: dict[str, Callable[[int], str]] = {
        "disksim_ascii": lambda i: (
            f"{i * 2000003 // 1000000}.{i * 2000003 % 1000000:06d} 0 {place(i)} 8 {i & 1}\n"
        ),
        "mqsim": lambda i: f"{i * 2000003} 0 {place(i)} 8 {i & 1}\n",
        "disksim_validate": lambda i: f"{'RW'[i & 1]} Hit {place(i):>9} 8 663.0000 {i % 50000}.0\n",
        "fio_iolog": lambda i: (
            f"{i * 2000} /dev/sda {('read', 'write')[i & 1]} {512 * place(i)} 4096\n"
        ),
        "blkparse": lambda i: (
            f"  8,0    1 {i:8d} {i // 500:5d}.{i % 500 * 2000000:09d}  1234  {'QGID'[i & 3]}"
            f"  {'RW'[i & 1]} {place(i)} + 8 [cat]\n"
        ),
    }
    files = {}
    for name, line in lines.items():
        files[name] = folder / f"x.{name.split('_')[-1]}"
        with files[name].open("w", encoding="ascii") as file:
            if name == "fio_iolog":
                file.write("fio version 3 iolog\n")
            for start in range(0, TRACE_LINES, 10_000):
                file.write("".join(map(line, range(start, start + 10_000))))
    return files


def place(index: int) -> int:
    """Return a block of g2, by a multiplicative sequence."""
    return index * 2654435761 % 6_749_000


def trace_rates() -> dict[str, dict[str, float]]:
    """MB/s of text read as by ``sledsim trace info``, and replayed on g2."""
    device = ss.device("g2")
    rates: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, file in write_traces(Path(folder)).items():
            size = file.stat().st_size / 1e6
            reads, replays = [], []
            for _ in range(REPEATS):
                start = time.perf_counter()
                ss.trace_info(file, quick=True)  # reading, without the analysis of reuse
                reads.append(time.perf_counter() - start)
            for _ in range(2):
                start = time.perf_counter()
                load = ss.read_trace(file, trace_format=name, queue_depth=1)
                ss.simulate(load, device=device, requests=False)
                replays.append(time.perf_counter() - start)
            rates[name] = {
                "info_mb_s": round(size / min(reads)),
                "replay_mb_s": round(size / min(replays)),
                "floor_mb_s": TRACE_FLOOR_MB_S,
            }
    return rates


CACHE_REQUESTS = 2_000_000


def cache_rates() -> dict[str, dict[str, float]]:
    """Accesses/s of each policy, drawing the requests included; half of them are hits of LRU."""
    rates: dict[str, dict[str, float]] = {}
    for policy in ss.policies():
        times, row = [], {}
        for _ in range(3):
            load = ss.workload("zipf", requests=CACHE_REQUESTS, size="fixed", blocking=8)
            start = time.perf_counter()
            (row,) = ss.hit_ratios(
                load, sizes_mib=[64], segment_kib=4, policies=[policy], device_blocks=6_750_000
            )
            times.append(time.perf_counter() - start)
        rates[policy] = {
            "accesses_per_s": round(row["accesses"] / min(times)),
            "access_ns": round(1e9 * min(times) / row["accesses"], 1),
            "hit_ratio": round(row["hit_ratio"], 4),
        }
    return rates


HYBRID_REQUESTS = 1_000_000
HYBRID_GOAL = 1e6
"""Requests/s through the caching tier."""


def hybrid_rates() -> dict[str, dict[str, float]]:
    """Requests/s of 8 KiB through the hybrids, with and without the cache of a controller.

    The sled alone is run beside them: what comes on top of it is the hybrid's.
    """
    tables = '[front]\nbase = "msst2005"\n[back]\nbase = "atlas10k-50mbps"\n'
    with tempfile.TemporaryDirectory() as folder:
        devices: dict[str, ss.Device] = {"sled": ss.device("msst2005")}
        for kind, size in (("mcd", {"segment_kib": 8}), ("mwb", {"log_kib": 128})):
            path = Path(folder) / f"{kind}.toml"
            own = {"title": kind, "kind": kind} | size | {"front_mib": 256}
            lines = [f"{key} = {json.dumps(value)}" for key, value in own.items()]
            path.write_text("\n".join([*lines, tables]), encoding="utf-8")
            devices[kind] = ss.device(path)
            devices[f"{kind}_behind_a_controller"] = ss.device(kind)
        devices["mcd_behind_a_controller"] = ss.device("mcd", segment_kib=8)
    rates: dict[str, dict[str, float]] = {}
    for name, device in devices.items():
        load = ss.workload(
            requests=HYBRID_REQUESTS,
            queue_depth=4,
            size="fixed",
            mean_size_kib=8,
            blocking=16,
            last_lbn=399_999,
        )
        times = []
        for _ in range(3):
            start = time.perf_counter()
            ss.simulate(load, device, requests=False)
            times.append(time.perf_counter() - start)
        rates[name] = {"requests_per_s": round(HYBRID_REQUESTS / min(times))}
    rates["mcd"]["goal"] = HYBRID_GOAL
    return rates


def main() -> None:
    """Measure everything."""
    results: dict[str, Any] = {
        "sledsim": ss.__version__,
        "rates": {
            "g2_random_fcfs_statistics": rate("g2_random_fcfs_statistics", parquet=False),
            "g2_random_fcfs_parquet": rate("g2_random_fcfs_parquet", parquet=True),
            "atlas10k_random_fcfs_statistics": rate(
                "atlas10k_random_fcfs_statistics", parquet=False
            ),
        },
        # Before this process grows: a child is charged with what its parent held at the fork.
        "peak_memory_mib": {
            "statistics": peaks(parquet=False),
            "parquet": peaks(parquet=True),
        },
        f"runs_of_{SHORT_REQUESTS}_requests": short_rates(),
        "free_bandwidth": scan_rates(),
        "batches": batch_rates(),
        "tables": table_rates(),
        "caches": cache_rates(),
        "hybrids": hybrid_rates(),
        "emulator": emulator_rates(),
        "rpc": rpc_rates(),
        "schedulers": scheduler_rates(),
        "traces": trace_rates(),
    }
    text = json.dumps(results, indent=2)
    out = Path("out")
    out.mkdir(exist_ok=True)
    (out / "bench.json").write_text(text + "\n", encoding="utf-8")
    plot_picks(results["schedulers"], out / "bench_schedulers.png")
    print(text)


if __name__ == "__main__":
    main()
