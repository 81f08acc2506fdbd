"""Shared code of the parts of Figure 4: the techniques of the MEMS caching disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.papers import Found, Later
from sledsim.papers.msst2005 import runs
from sledsim.plots import bars

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from matplotlib.figure import Figure

    from sledsim.papers import Setup, Simulated


def outcomes(setup: Setup, name: str, *, quick: bool) -> Mapping[str, runs.Outcome]:
    """Run a workload with each of the techniques."""
    segment_kib = setup["mean_segment_kib"][name]
    return Later(
        runs.TECHNIQUES,
        lambda label: runs.outcome(
            setup, name, f"MCD {label}", quick=quick, segment_kib=segment_kib
        ),
    )


def gain(found: Mapping[str, runs.Outcome]) -> float:
    """Return what all techniques together save, in percent."""
    return 100 * (1 - found["ALL"].mean_ms / found["NONE"].mean_ms)


def compare(found: Mapping[str, runs.Outcome], keys: Collection[str]) -> dict[str, Simulated]:
    """Return values of the claims of the text."""

    def ms(label: str) -> float:
        return found[label].mean_ms

    def single(label: str) -> dict[str, float]:
        return {label: ms(label), "NONE": ms("NONE")}

    values: dict[str, Callable[[], Simulated]] = {
        "gain": lambda: gain(found),
        "none_ms": lambda: ms("NONE"),
        "all_ms": lambda: ms("ALL"),
        "shortcut": lambda: single("SHORTCUT"),
        "ireport": lambda: single("IREPORT"),
        "pwrite": lambda: single("PWRITE"),
        "fetched": lambda: {
            label: float(found[label].counts["fetched_blocks"]) for label in ("PWRITE", "NONE")
        },
    }
    return {key: values[key]() for key in keys}


def simulate(name: str, keys: Collection[str], *, quick: bool, setup: Setup) -> Found:
    """Compare the techniques under a workload."""
    found = outcomes(setup, name, quick=quick)
    series: dict[str, Callable[[], Any]] = {
        "segment_kib": lambda: setup["mean_segment_kib"][name],
        "mean_ms": lambda: {label: outcome.mean_ms for label, outcome in found.items()},
    }
    return Found(
        compare(found, keys),
        series=Later(series, lambda key: series[key]()),
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw a bar for each technique."""
    axes = figure.add_subplot()
    means = found.series["mean_ms"]
    bars.grouped(axes, list(means), {"mean": list(means.values())}, "{:.3g}".format)
    axes.set(ylabel="mean response time (ms)")
    axes.set_title(f"segments of {found.series['segment_kib']} KB")
