"""Shared code of the parts of Figure 6: all architectures under a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found, Later
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots.style import UNRELIABLE_HATCH, in_order
from sledsim.results.cautions import UNRELIABLE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from matplotlib.figure import Figure

    from sledsim.papers import Setup, Simulated


def outcomes(setup: Setup, name: str, *, quick: bool) -> Mapping[str, runs.Outcome]:
    """Run a workload on every architecture."""
    return Later(runs.ARCHITECTURES, lambda label: runs.outcome(setup, name, label, quick=quick))


def ram_saves(found: Mapping[str, runs.Outcome]) -> float:
    """Return what DISK-RAM saves of the time of MCD, in percent."""
    return 100 * (1 - found["DISK-RAM"].mean_ms / found["MCD ALL"].mean_ms)


def of_mems(found: Mapping[str, runs.Outcome]) -> float:
    """Return the time of MEMS in percent of that of MCD."""
    return 100 * found["MEMS"].mean_ms / found["MCD ALL"].mean_ms


def compare(found: Mapping[str, runs.Outcome], keys: Collection[str]) -> dict[str, Simulated]:
    """Return values of the claims of the text."""
    mean_ms = {label: outcome.mean_ms for label, outcome in found.items()}
    disk, mcd, mwb = (mean_ms[label] for label in ("DISK", "MCD ALL", "MWB"))

    def some(*labels: str) -> dict[str, float]:
        return {label: mean_ms[label] for label in labels}

    values: dict[str, Simulated] = {
        "best": some("MEMS", "DISK-RAM", "MCD ALL"),
        "techniques": some("MCD ALL", "MCD NONE"),
        "ram_first": some("DISK-RAM", "MEMS"),
        "writes": some("MCD ALL", "MWB"),
        "over_disk": disk / mcd,
        "mwb_over_disk": disk / mwb,
        "over_mwb": mwb / mcd,
        "slower": 100 * (mcd / disk - 1),
        "mwb_is_disk": mwb - disk,
        "ram": some("DISK-RAM", "DISK"),
        "ram_saves": ram_saves(found),
        "traffic": {label: found[label].disk_kib for label in ("MCD ALL", "MWB")},
        "all_ms": mcd,
        "none_ms": mean_ms["MCD NONE"],
        "disk_saturated": float(found["DISK"].saturated),
        "mwb_saturated": float(found["MWB"].saturated),
        "mcd_saturated": float(found["MCD ALL"].saturated or found["MCD NONE"].saturated),
    }
    return {key: values[key] for key in keys}


def simulate(name: str, keys: Collection[str], *, quick: bool, setup: Setup) -> Found:
    """Compare the architectures under a workload."""
    found = outcomes(setup, name, quick=quick)
    return Found(
        compare(found, keys),
        series={
            label: {
                "mean_ms": outcome.mean_ms,
                "saturated": outcome.saturated,
                "caution": outcome.caution,
                "disk_kib": outcome.disk_kib,
            }
            for label, outcome in found.items()
        },
        note=loads.note() if name == "hplajw" else "",
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw a bar for each architecture; those of saturated runs go to the top."""
    axes = figure.add_subplot()
    held = [one["mean_ms"] for one in found.series.values() if not one["saturated"]]
    top = 1.2 * max(held)
    colours = in_order(list(found.series))
    for place, (name, one) in enumerate(found.series.items()):
        height = top if one["saturated"] else one["mean_ms"]
        hatch = UNRELIABLE_HATCH if one["saturated"] or one["caution"] else None
        face = "white" if one["saturated"] else colours[name].color
        axes.bar(place, height, 0.6, color=face, hatch=hatch)
        text = "saturated" if one["saturated"] else f"{one['mean_ms']:.2f}"
        text += f" {UNRELIABLE}" if one["caution"] else ""
        axes.annotate(
            text,
            (place, height),
            (0, -5 if one["saturated"] else 2),
            textcoords="offset points",
            ha="center",
            va="top" if one["saturated"] else "bottom",
            rotation=90 if one["saturated"] else 0,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    axes.set_xticks(range(len(found.series)), [label.replace(" ", "\n") for label in found.series])
    axes.set(ylabel="mean response time (ms)", ylim=(0, top))
    axes.grid(visible=False, axis="x")
