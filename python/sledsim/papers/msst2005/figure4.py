"""Shared code of the parts of Figure 4: the techniques of the MEMS caching disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.papers import Found
from sledsim.papers.msst2005 import runs

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from matplotlib.figure import Figure

    from sledsim.papers import Simulated

HYPOTHESES: dict[str, tuple[str, dict[str, Any]]] = {
    "c_look": ("c_look", {}),
    "cleaning": ("fcfs", runs.CLEANING),
    "all_cleaning": ("fcfs", runs.CLEANING | {"controller_cache": runs.CLEANING}),
}
"""Scheduler and keys of other readings."""


def outcomes(
    name: str, *, quick: bool, scheduler: str = "fcfs", **keys: Any
) -> dict[str, runs.Outcome]:
    """Run a workload with each of the techniques."""
    segment_kib = runs.MEAN_SEGMENT_KIB[name]
    return {
        label: runs.outcome(
            name,
            f"MCD {label}",
            quick=quick,
            scheduler=scheduler,
            segment_kib=segment_kib,
            **keys,
        )
        for label in runs.TECHNIQUES
    }


def compare(found: Mapping[str, runs.Outcome]) -> dict[str, Simulated]:
    """Return the values of the claims of the text."""
    mean_ms = {label: outcome.mean_ms for label, outcome in found.items()}
    none, gain = mean_ms["NONE"], 100 * (1 - mean_ms["ALL"] / mean_ms["NONE"])
    fetched = {label: float(found[label].counts["fetched_blocks"]) for label in found}
    single = {label: {label: mean_ms[label], "NONE": none} for label in mean_ms}
    return {
        "gain_least": gain,
        "gain_most": gain,
        "none_ms": none,
        "all_ms": mean_ms["ALL"],
        "shortcut": single["SHORTCUT"],
        "ireport": single["IREPORT"],
        "pwrite": single["PWRITE"],
        "shortcut_all": none - mean_ms["SHORTCUT"] - (none - mean_ms["ALL"]),
        "others_ms": max(abs(none - mean_ms[label]) for label in ("IREPORT", "PWRITE")),
        "fetched": {label: fetched[label] for label in ("PWRITE", "NONE")},
    }


def simulate(
    name: str,
    keys: Collection[str],
    *,
    quick: bool,
    more: Mapping[str, dict[str, runs.Outcome]] | None = None,
) -> Found:
    """Compare the techniques under a workload, also as other readings have them.

    ``more`` has the outcomes of a reading that others do not have.
    """

    def some(values: Mapping[str, Simulated]) -> dict[str, Simulated]:
        return {key: values[key] for key in keys}

    found = outcomes(name, quick=quick)
    others = {
        hypothesis: outcomes(name, quick=quick, scheduler=scheduler, **given)
        for hypothesis, (scheduler, given) in HYPOTHESES.items()
    }
    others |= more or {}
    every = {"as described": found} | others
    return Found(
        some(compare(found)),
        hypotheses={
            hypothesis: some(compare(other)) if other else {}
            for hypothesis, other in others.items()
        },
        series={
            "segment_kib": runs.MEAN_SEGMENT_KIB[name],
            "mean_ms": {
                reading: {label: outcome.mean_ms for label, outcome in own.items()}
                for reading, own in every.items()
                if own
            },
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw bars for each technique: as the paper describes it, and the other readings."""
    axes = figure.add_subplot()
    readings = found.series["mean_ms"]
    for place, (reading, means) in enumerate(readings.items()):
        width = 0.8 / len(readings)
        spots = [spot + width * (place - (len(readings) - 1) / 2) for spot in range(len(means))]
        axes.bar(spots, list(means.values()), 0.92 * width, label=reading.replace("_", " "))
    axes.set_xticks(range(len(runs.TECHNIQUES)), list(runs.TECHNIQUES))
    axes.set(ylabel="mean response time (ms)")
    axes.set_title(f"segments of {found.series['segment_kib']} KB", fontsize=10)
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside upper center", ncols=3)
