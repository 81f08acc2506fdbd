"""Replacement policies of sections 3, 4.2.4 and 6.2, and one that is newer."""

from collections.abc import Callable
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from sledsim.papers import Found, Later, Setup
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots import bars

POLICIES = {
    "LRU": "lru",
    "LFUDA, printed": "lfuda(age=each_access)",
    "LFUDA": "lfuda",
    "S-LRU": "slru",
    "ARC": "arc",
    "S3-FIFO": "s3fifo",
}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run the MEMS caching disk with each policy; the values compare LRU with LFUDA."""

    def run(name: str, policy: str) -> runs.Outcome:
        return runs.outcome(setup, name, "MCD ALL", quick=quick, policy=policy)

    policies = {*POLICIES.values(), setup["lfuda"]}
    found = {name: Later(policies, partial(run, name)) for name in loads.LOADS}
    series: dict[str, Callable[[], Any]] = {
        "mean_ms": lambda: {
            name: {label: own[policy].mean_ms for label, policy in POLICIES.items()}
            for name, own in found.items()
        },
        "found": lambda: {
            name: {label: own[policy].found() for label, policy in POLICIES.items()}
            for name, own in found.items()
        },
    }
    return Found(
        {
            f"lru_{name}": own["lru"].mean_ms / own[setup["lfuda"]].mean_ms
            for name, own in found.items()
        },
        series=Later(series, lambda key: series[key]()),
        note=loads.note(),
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the time of each policy as a multiple of that of LRU."""
    axes = figure.add_subplot()
    means = found.series["mean_ms"].values()
    series = {label: [own[label] / own["LRU"] for own in means] for label in POLICIES}
    bars.grouped(axes, list(loads.LOADS.values()), series)
    axes.set(ylabel="mean response time / that of LRU")
