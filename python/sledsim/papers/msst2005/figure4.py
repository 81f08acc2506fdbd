"""Shared code of the parts of Figure 4: the techniques of the MEMS caching disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots import bars

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from matplotlib.figure import Figure

    from sledsim.papers import Setup, Simulated


def outcomes(setup: Setup, name: str, *, quick: bool) -> dict[str, runs.Outcome]:
    """Run a workload with each of the techniques."""
    segment_kib = setup["mean_segment_kib"][name]
    return {
        label: runs.outcome(setup, name, f"MCD {label}", quick=quick, segment_kib=segment_kib)
        for label in runs.TECHNIQUES
    }


def gain(found: Mapping[str, runs.Outcome]) -> float:
    """Return what all techniques together save, in percent."""
    return 100 * (1 - found["ALL"].mean_ms / found["NONE"].mean_ms)


def compare(found: Mapping[str, runs.Outcome]) -> dict[str, Simulated]:
    """Return the values of the claims of the text."""
    mean_ms = {label: outcome.mean_ms for label, outcome in found.items()}
    none = mean_ms["NONE"]
    fetched = {label: float(found[label].counts["fetched_blocks"]) for label in found}
    single = {label: {label: mean_ms[label], "NONE": none} for label in mean_ms}
    return {
        "gain": gain(found),
        "none_ms": none,
        "all_ms": mean_ms["ALL"],
        "shortcut": single["SHORTCUT"],
        "ireport": single["IREPORT"],
        "pwrite": single["PWRITE"],
        "shortcut_all": mean_ms["SHORTCUT"] - mean_ms["ALL"],
        "others_ms": max(abs(none - mean_ms[label]) for label in ("IREPORT", "PWRITE")),
        "fetched": {label: fetched[label] for label in ("PWRITE", "NONE")},
    }


def simulate(name: str, keys: Collection[str], *, quick: bool, setup: Setup) -> Found:
    """Compare the techniques under a workload."""
    found = outcomes(setup, name, quick=quick)
    values = compare(found)
    return Found(
        {key: values[key] for key in keys},
        series={
            "segment_kib": setup["mean_segment_kib"][name],
            "mean_ms": {label: outcome.mean_ms for label, outcome in found.items()},
        },
        note=loads.note() if name == "hplajw" else "",
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw a bar for each technique."""
    axes = figure.add_subplot()
    means = found.series["mean_ms"]
    bars.grouped(axes, list(means), {"mean": list(means.values())}, "{:.3g}".format)
    axes.set(ylabel="mean response time (ms)")
    axes.set_title(f"segments of {found.series['segment_kib']} KB")
