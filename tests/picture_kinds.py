"""Pictures of extreme inputs: validations, traces, caches, studies, devices, applications."""

from __future__ import annotations

import dataclasses
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim import applications, plots

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

LONG = "a_device_whose_name_is_far_longer_than_any_column_of_a_page_"


def _file(name: str, text: str) -> Path:
    path = Path(tempfile.mkdtemp()) / name
    path.write_text(text, encoding="utf-8")
    return path


@cache
def validation(kind: str) -> ss.Validation:
    """Return a validation of one request, of seven decades, or of a load at its own times."""
    if kind == "open":
        lines = [
            f"{20_000 * i},{i * 7919 % 10**6},8,{'rw'[i % 2]},{9000 + i},{i % 3 * 1000}"
            for i in range(300)
        ]
        columns = "time=t:us, offset=lba:512B, bytes=n:512B, op=op, response=r:us, queue=q:us"
        path = _file("open.csv", "\n".join(["t,lba,n,op,r,q", *lines]) + "\n")
        return ss.validate(ss.read_trace(path, columns=columns), "atlas10k")
    count = 1 if kind == "one" else 300
    lines = [
        f"{'RW'[i % 3 == 0]} Hit {i * i * 7919 % 17_000_000} {1 + i % 30} "
        f"{10 ** (1 + 6 * i / count):.3f} 800\n"
        for i in range(count)
    ]
    return ss.validate(_file(f"{LONG}.validate", "".join(lines)), "atlas10k")


@cache
def trace(kind: str) -> ss.TraceInfo:
    """Return statistics of a sample, of one request, or of days of a file with a long name."""
    if kind == "sample":
        return ss.trace_info("sample:postmark-ext4", picture=True)
    lines = [f"{3600 * 12 * i**2} 0 {i * 977} {2 ** (i % 14)} {i % 2}\n" for i in range(200)]
    text = "5 0 0 8 1\n" if kind == "one" else "".join(lines)
    return ss.trace_info(_file(f"{LONG}.trace", text), picture=True, quick=kind == "long")


@cache
def hits(kind: str) -> list[dict[str, Any]]:
    """Return hit ratios of one cache, or of ten policies."""
    if kind == "one":
        return ss.hit_ratios("sample:postmark-ext4", sizes_mib=[3], policies=["lru"])
    rows = ss.hit_ratios("sample:postmark-ext4")
    return [{**row, "policy": row["policy"] + end} for end in ("", f"(key={LONG})") for row in rows]


@cache
def study(kind: str) -> ss.Study:
    """Return a study of one request, of an overloaded device, or of twelve devices."""
    base: dict[str, Any] = {"workload": "random", "device": "g2", "requests": 3000}
    if kind == "one":
        return ss.sweep({**base, "requests": 1}, grid={"seed": [1, 2]})
    if kind == "overloaded":
        grid: dict[str, Any] = {"scheduler": ["fcfs", "sptf"], "rate": [200, 400, 2500]}
        return ss.sweep(base, grid=grid)
    base = {"workload": "random", "requests": 200}
    return ss.sweep(base, grid={"device": ss.devices()[:12], "rate": [10, 100]})


@cache
def run(kind: str) -> ss.Run:
    """Return a run of one request, a usual one, or one that was given up."""
    load, device = {
        "one": (ss.workload("random", requests=1), "g2"),
        "usual": (ss.workload("random", rate=600, requests=3000), "g2"),
        "given up": (ss.workload("random", rate=1200, requests=3000, max_queue=300), "atlas10k"),
    }[kind]
    return ss.simulate(load, device, series=True, requests=False)


@cache
def outcomes(kind: str) -> list[applications.Outcome]:
    """Return outcomes on three devices, or on twelve with long names and far apart."""
    found = applications.replay("sample:postmark", ["sigmetrics2000", "atlas10k", "superdisk"])
    if kind == "three":
        return found
    return [
        dataclasses.replace(
            found[n % 3], device=f"{n} {LONG}", run_s=found[n % 3].run_s * 10 ** (n / 3)
        )
        for n in range(12)
    ]


MEAN = "response_time_ms.mean"
KINDS: dict[str, dict[str, Callable[..., Figure]]] = {
    "validation": {
        name: lambda size, name=name: validation(name).plot(size=size)
        for name in ("one", "decades", "open")
    },
    "trace": {
        name: lambda size, name=name: trace(name).plot(size=size)
        for name in ("one", "sample", "long")
    },
    "hits": {
        name: lambda size, name=name: plots.hits(hits(name), size=size) for name in ("one", "ten")
    },
    "study": {
        "one request": lambda size: study("one").plot("seed", "energy_j.total", size=size),
        "overloaded": lambda size: study("overloaded").plot("rate", MEAN, "scheduler", size=size),
        "categories": lambda size: study("overloaded").plot("scheduler", MEAN, size=size),
        "twelve lines": lambda size: study("twelve").plot("rate", MEAN, size=size),
        "twelve devices": lambda size: study("twelve").plot("device", MEAN, size=size),
    },
    "timeline": {
        name: lambda size, name=name: plots.timeline(run(name), size=size)
        for name in ("one", "usual", "given up")
    },
    "seeks": {
        "sled": lambda size: plots.seeks("g2", size=size),
        "corner": lambda size: plots.seeks("sigmetrics2000", (-50, -50), size=size),
        "disk": lambda size: plots.seeks("nearline20t", size=size),
    },
    "layout": {
        "sled": lambda size: plots.layout("g2", size=size),
        "columns": lambda size: plots.layout(ss.layout("g2", "columnar"), size=size),
        "regions": lambda size: plots.layout(ss.layout("g2", "subregioned", regions=6), size=size),
        "disk": lambda size: plots.layout("nearline20t", size=size),
    },
    "applications": {
        name: lambda size, name=name: plots.applications(outcomes(name), size=size)
        for name in ("three", "twelve")
    },
}
"""Kinds of pictures, and of each the pictures of extreme inputs, drawn in a size."""
