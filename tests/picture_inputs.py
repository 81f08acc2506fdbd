"""Extreme inputs of pictures: validations, traces, caches, studies, devices, applications."""

import atexit
import dataclasses
import shutil
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import sledsim as ss
from matplotlib.figure import Figure
from sledsim import plots, programs

LONG = "a device whose name is far longer than any column of a page {}"
SAMPLE = "sample:postmark-ext4"
COLUMNS = "time=t:ms, offset=at:512B, bytes=n:512B, op=op, response=took:ms"


@cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="pictures-")  # files named as ours are leftovers
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _trace(name: str, lines: list[str]) -> Path:
    path = _folder() / name
    path.write_text("\n".join(["t,at,n,op,took", *lines]) + "\n", encoding="utf-8")
    return path


@cache
def validation(kind: str) -> ss.Validation:
    """Return one of a single request, of seven decades, or of a disk that is overloaded."""
    lines = {
        "one request": ["0,1000,8,R,5"],
        "seven decades": [f"{n * 50},{n * 7919 % 10_000 * 1000},8,{'RW'[n % 2]},"
                          f"{10 ** (n % 8 - 4)}" for n in range(300)],
        "a caution": [f"{n * 2},{n * 7919 % 10_000 * 1000},8,R,1" for n in range(1000)],
    }[kind]  # fmt: skip
    path = _trace(f"{kind} {'long ' * 9}.csv", lines)
    return ss.validate(ss.read_trace(path, columns=COLUMNS), "atlas10k")


@cache
def paired(kind: str) -> ss.Comparison:
    """Return one with pairs: of one request, of seven decades, of twelve devices, saturated."""
    names = [name for name in ss.devices() if name not in ("memory", "g2-buffered")][:12]
    memory = ss.device("memory", latency_ms=0.0001)
    cases: dict[str, tuple[ss.Load, list[Any]]] = {
        "one request": (ss.workload("random", rate=10, requests=1), ["g2", "atlas10k"]),
        "seven decades": (ss.workload("random", rate=2000, requests=1500),
                          ["g2", memory, "g3", "nearline20t"]),
        "twelve devices": (ss.workload("random", rate=40, requests=300), names),
        "saturated": (ss.read_trace("sample:sqlite", max_queue=200), ["g2", "atlas10k", "g3"]),
    }  # fmt: skip
    load, devices = cases[kind]
    return ss.compare(load, devices, paired=True)


@cache
def info(kind: str) -> Any:
    """Return what is known of a trace of one request, of a long span, and of the sample."""
    if kind == "usual":
        return ss.trace_info(SAMPLE, picture=True)
    lines = {
        "one request": ["0,1000,8,R,5"],
        "seven decades": [f"{3 * 10 ** (n % 9)},{10 ** (n % 8)},{2 ** (n % 18)},W,1"
                          for n in range(40)],
    }[kind]  # fmt: skip
    path = _trace(f"{kind} {'long ' * 9}.csv", lines)
    return ss.trace_info(path, columns=COLUMNS, sort_ms=1e12, picture=True)


@cache
def hits(policies: int) -> list[dict[str, Any]]:
    """Return hit ratios of so many policies."""
    names = [*ss.policies(), *(f"slru(protected=0.{n})" for n in range(1, 10))][:policies]
    return ss.hit_ratios(SAMPLE, sizes_mib=[1, 4, 16, 64, 1024], policies=names)


def _device(number: int) -> str:
    path = _folder() / f"{LONG.format(number)}.toml"
    path.write_text(f"base = 'g2'\nspring_factor = 0.{7 - number}\n", encoding="utf-8")
    return str(path)


@cache
def study(kind: str) -> ss.Study:
    """Return one of overloaded points, of twelve devices, of three keys, or of extreme values."""
    base = {"device": "g2", "workload": "random", "requests": 200}
    grids: dict[str, dict[str, Any]] = {
        "a caution": {"scheduler": ["fcfs", "sptf"], "rate": [20, 200, 5000]},
        "twelve devices": {
            "device": [name for name in ss.devices() if name != "memory"][:12],
            "rate": [1, 10, 40],
        },
        "three keys": {
            "scheduler": ["fcfs", "sptf", "c_look"],
            "rate": [200, 600, 1000],
            "mean_size_kib": [64, 256, 1024],
        },
        "six lines": {
            "scheduler": ["fcfs", "sptf", "c_look", "sstf_lbn", "zone_sptf", "aged_sptf"],
            "rate": [200, 600, 1000],
        },
        "huge numbers": {"rate": [1e-3, 1, 1e6], "requests": [1, 100]},
        "long names": {"device": [_device(n) for n in range(3)], "rate": [10, 100]},
    }
    return ss.sweep(base, grid=grids[kind])


@cache
def outcomes(kind: str) -> list[programs.Outcome]:
    """Return outcomes of an application on one device, on twelve, and of names of 60 letters."""
    (one,) = programs.replay("sample:postmark", ["g2"])
    if kind == "one":
        return [one]
    predicted = programs.Prediction(1e-3, "g1")
    return [
        dataclasses.replace(
            one,
            device=LONG.format(n) if kind == "long names" else f"device{n}",
            run_s=one.run_s * 10.0 ** (n % 4),
            predicted=predicted if n % 2 else None,
        )
        for n in range(3 if kind == "long names" else 12)
    ]


@cache
def series(kind: str) -> ss.Run:
    """Return a run with a time series: of one request, of a disk, saturated."""
    keys: dict[str, Any] = {
        "one request": {"requests": 1},
        "usual": {"requests": 3000, "rate": 300},
        "saturated": {"requests": 30_000, "rate": 3000, "max_queue": 20_000},
    }[kind]
    return ss.simulate(ss.workload("random", **keys), "g2", series=True, rows=False)


@cache
def moved(kind: str) -> ss.Run | dict[str, ss.Run]:
    """Return runs with rows: of one request, of three schedulers, of more than are drawn."""
    if kind == "parts":
        load = ss.workload("random", requests=40, rate=50)
        return ss.simulate(load, "mcd", parts=True)
    requests = {"one request": 1, "more than are drawn": 300}.get(kind, 40)
    load = ss.workload("random", requests=requests, rate=150)
    if kind in {"schedulers", "sleds"}:
        device = "atlas10k" if kind == "schedulers" else "g2"
        return {name: ss.simulate(load, device, name) for name in ("fcfs", "c_look", "sptf")}
    if kind == "long names":
        return {LONG.format(n): ss.simulate(load, "g2") for n in range(2)}
    return ss.simulate(load, "atlas10k")


MEAN = "response_time_ms.mean"
STUDIES: dict[str, tuple[str, dict[str, Any]]] = {
    "a caution": ("a caution", {}),
    "six lines": ("six lines", {}),
    "a panel for each device": ("twelve devices", {"col": "device"}),
    "three keys": ("three keys", {"by": "scheduler", "col": "mean_size_kib"}),
    "rows": ("three keys", {"by": "scheduler", "row": "mean_size_kib"}),
    "rows and columns": ("three keys", {"col": "scheduler", "row": "mean_size_kib"}),
    "huge numbers": ("huge numbers", {}),
    "long names": ("long names", {}),
    "panels of long names": ("long names", {"col": "device"}),
}
"""Pictures of studies over the rate: which study, and what is asked for."""
HEATS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a caution": ("a caution", "scheduler", {}),
    "twelve devices": ("twelve devices", "device", {}),
    "three keys": ("three keys", "scheduler", {"col": "mean_size_kib"}),
    "huge numbers": ("huge numbers", "requests", {}),
    "long names": ("long names", "device", {}),
}
"""Maps of studies by the rate and another key."""


def drawings(draw: Callable[..., Figure], made: dict[str, Callable[[], Any]]) -> Any:
    """Return what draws each of some inputs in a size."""
    return {name: lambda size, of=of: draw(of(), size=size) for name, of in made.items()}


def _of(draw: Callable[..., Figure], make: Callable[[Any], Any], *kinds: Any) -> Any:
    """Return what draws inputs of some kinds in a size."""
    return drawings(draw, {str(kind): partial(make, kind) for kind in kinds})


def _crash(device: str) -> Any:
    return ss.crash_test(ss.workload(requests=200, rate=2000), device, points=20)


def _laid_out(name: str) -> Any:
    return ss.layout("g2", "subregioned", regions=5) if name == "regions" else ss.device(name)


KINDS: dict[str, dict[str, Callable[..., Figure]]] = {
    "validation": _of(plots.validation, validation, "one request", "seven decades", "a caution"),
    "trace": _of(plots.trace, info, "usual", "one request", "seven decades"),
    "differences": _of(
        plots.differences, paired, "one request", "seven decades", "twelve devices", "saturated"
    ),
    "crash": _of(plots.crash, _crash, "g2", "mcd"),
    "hits": _of(plots.hits, hits, 1, 6, 12),
    "study": {
        name: lambda size, of=of, keys=keys: study(of).plot("rate", MEAN, size=size, **keys)
        for name, (of, keys) in STUDIES.items()
    },
    "heat": {
        name: lambda size, of=of, y=y, keys=keys: study(of).heat("rate", y, MEAN, size=size, **keys)
        for name, (of, y, keys) in HEATS.items()
    },
    "seeks": _of(plots.seeks, ss.device, "g2", "atlas10k"),
    "layout": _of(plots.layout, _laid_out, "g2", "regions", "atlas10k"),
    "timeline": _of(plots.timeline, series, "one request", "usual", "saturated"),
    "path": _of(
        *(plots.path, moved, "one request", "schedulers", "sleds", "parts"),
        *("more than are drawn", "long names"),
    ),
    "applications": _of(plots.applications, outcomes, "one", "twelve", "long names"),
}
"""The kinds of pictures, and of each the pictures of its inputs, drawn in a size."""
