"""Shared code of the parts of Figure 6: all architectures under a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.cautions import UNRELIABLE
from sledsim.papers import Found
from sledsim.papers.msst2005 import runs

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from matplotlib.figure import Figure

    from sledsim.papers import Simulated

Reading = dict[str, Any]
"""A scheduler, keys of the disk in every architecture (``disk``), of the controller's cache
(``cache``), and of the MEMS caching disk (``mcd``).
"""
READINGS: dict[str, Reading] = {
    "c_look": {"scheduler": "c_look"},
    "cleaning": {"mcd": runs.CLEANING},
    "all_cleaning": {"mcd": runs.CLEANING, "cache": runs.CLEANING},
    "line_by_line": {"mcd": runs.CLEANING, "cache": runs.LINE_BY_LINE},
    "lines_sptf": {"scheduler": "sptf", "mcd": runs.CLEANING, "cache": runs.LINE_BY_LINE},
}
NO_READ_AHEAD: Reading = {"disk": {"buffer": {"read_ahead": "none"}}}
_WITH_BACK = ("MWB", "MCD NONE", "MCD ALL")


def outcomes(
    name: str,
    *,
    quick: bool,
    scheduler: str = "fcfs",
    disk: Mapping[str, Any] | None = None,
    mcd: Mapping[str, Any] | None = None,
    cache: Mapping[str, Any] | None = None,
) -> dict[str, runs.Outcome]:
    """Run a workload on every architecture, as a :data:`Reading` has it."""

    def keys(label: str) -> dict[str, Any]:
        own = dict(mcd or {}) if label.startswith("MCD") else {}
        if cache:
            own["controller_cache"] = dict(cache)
        if disk and label in _WITH_BACK:
            own["back"] = dict(disk)
        if disk and label.startswith("DISK"):
            own |= disk
        return own

    return {
        label: runs.outcome(name, label, quick=quick, scheduler=scheduler, **keys(label))
        for label in runs.ARCHITECTURES
    }


def compare(found: Mapping[str, runs.Outcome]) -> dict[str, Simulated]:
    """Return the values of the claims of the text."""
    mean_ms = {label: outcome.mean_ms for label, outcome in found.items()}
    disk, mcd, mwb = (mean_ms[label] for label in ("DISK", "MCD ALL", "MWB"))
    ram, mems = mean_ms["DISK-RAM"], mean_ms["MEMS"]

    def some(*labels: str) -> dict[str, float]:
        return {label: mean_ms[label] for label in labels}

    return {
        "best": some("MEMS", "DISK-RAM", "MCD ALL"),
        "techniques": some("MCD ALL", "MCD NONE"),
        "ram_first": some("DISK-RAM", "MEMS"),
        "writes": some("MCD ALL", "MWB"),
        "over_disk": disk / mcd,
        "mwb_over_disk": disk / mwb,
        "over_mwb": mwb / mcd,
        "slower": 100 * (mcd / disk - 1),
        "mwb_is_disk": mwb - disk,
        "ram": ram / disk,
        "ram_least": 100 * (1 - ram / mcd),
        "ram_most": 100 * (1 - ram / mcd),
        "of_mems_least": 100 * mems / mcd,
        "of_mems_most": 100 * mems / mcd,
        "all_ms": mcd,
        "none_ms": mean_ms["MCD NONE"],
        "disk_saturated": float(found["DISK"].saturated),
        "mwb_saturated": float(found["MWB"].saturated),
        "mcd_saturated": float(found["MCD ALL"].saturated or found["MCD NONE"].saturated),
    }


def simulate(
    name: str,
    keys: Collection[str],
    *,
    quick: bool,
    readings: Mapping[str, Reading] = READINGS,
    more: Mapping[str, dict[str, runs.Outcome]] | None = None,
) -> Found:
    """Compare the architectures under a workload, also as other readings have them.

    ``more`` has the outcomes of a reading that others do not have.
    """

    def some(values: Mapping[str, Simulated]) -> dict[str, Simulated]:
        return {key: values[key] for key in keys}

    found = outcomes(name, quick=quick)
    others = {
        name_of: outcomes(name, quick=quick, **reading) for name_of, reading in readings.items()
    }
    others |= more or {}
    return Found(
        some(compare(found)),
        hypotheses={name_of: some(compare(own)) if own else {} for name_of, own in others.items()},
        series={
            label: {
                "mean_ms": outcome.mean_ms,
                "saturated": outcome.saturated,
                "caution": outcome.caution,
            }
            for label, outcome in found.items()
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw a bar for each architecture; those of saturated runs go to the top."""
    axes = figure.add_subplot()
    held = [one["mean_ms"] for one in found.series.values() if not one["saturated"]]
    top = 1.2 * max(held)
    for place, one in enumerate(found.series.values()):
        height = top if one["saturated"] else one["mean_ms"]
        axes.bar(place, height, 0.6, color="C5" if one["saturated"] else "C0")
        text = "saturated" if one["saturated"] else f"{one['mean_ms']:.2f}"
        text += f" {UNRELIABLE}" if one["caution"] else ""
        inside = one["saturated"]
        axes.annotate(
            text,
            (place, height),
            (0, -3 if inside else 2),
            textcoords="offset points",
            ha="center",
            va="top" if inside else "bottom",
            rotation=90 if inside else 0,
            color="white" if inside else None,
        )
    axes.set_xticks(range(len(found.series)), [label.replace(" ", "\n") for label in found.series])
    axes.set(ylabel="mean response time (ms)", ylim=(0, top))
    axes.grid(visible=False, axis="x")
