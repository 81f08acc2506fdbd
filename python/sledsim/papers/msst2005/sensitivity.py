"""Sensitivity of the gains of Figure 6 to unstated parameters: bursts, reuse, cleaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.papers import Found
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots import scales
from sledsim.plots.style import INK, in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sledsim.papers import Setup

BIASES = (-0.1, -0.05, 0.0, 0.05, 0.1, 0.15)
QUICK_BIASES = (-0.1, 0.0, 0.1)
EXPONENTS = (-0.2, 0.0, 0.2, 0.4, 0.6)
QUICK_EXPONENTS = (-0.2, 0.0, 0.6)
"""Offsets of the biases and, where popularity does not move, of the exponents of Zipf's law."""
GAINS = ("DISK/MCD", "DISK/MWB", "MWB/MCD")
CONTROLLERS: dict[str, dict[str, Any]] = {
    "as the presets": {},
    "line by line": {"exchange_kib": 4},
    "while the disk rests": {"clean_after_idle_ms": 20, "clean_above": 0.5},
}
"""Write-back of the controllers' caches."""
THRESHOLDS: dict[str, dict[str, Any]] = {
    "as the preset": {},
    "early": {"clean_idle_above": 0.05, "clean_to": 0.02},
    "late": {"clean_above": 0.98, "clean_idle_above": 0.95, "clean_to": 0.9},
    "idle after 5 ms": {"clean_after_idle_ms": 5},
    "idle after 500 ms": {"clean_after_idle_ms": 500},
}
"""When a MEMS write buffer is cleaned."""
CLEANING: dict[str, Any] = {"clean_after_idle_ms": 20, "clean_above": 0.5}
"""Of a MEMS caching disk that writes what is dirty while its disk rests."""
PLACEMENTS = ("first", "centre", "whole")
"""Where on the sled the MEMS in use lies."""
WRITING = ("tpcc", "cello", "hplajw")
_COMPARED = ("DISK", "MWB", "MCD ALL")
_UNLIMITED = 100_000


def gains(setup: Setup, name: str, *, quick: bool, **load_keys: Any) -> dict[str, float]:
    """Return how many times as long as other architectures each takes, and mean times in ms."""

    def mean_ms(kind: str) -> float:
        keys = {"max_queue": _UNLIMITED} | load_keys
        return runs.outcome(setup, name, kind, quick=quick, load_keys=keys).mean_ms

    times = {kind: mean_ms(kind) for kind in ("DISK", "MWB", "MCD ALL")}
    return {
        "DISK/MCD": times["DISK"] / times["MCD ALL"],
        "DISK/MWB": times["DISK"] / times["MWB"],
        "MWB/MCD": times["MWB"] / times["MCD ALL"],
        "DISK ms": times["DISK"],
        "MCD ms": times["MCD ALL"],
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Vary one thing at a time; what no value is of, in a quick run, under one load."""

    def mean_ms(name: str, kind: str, **keys: Any) -> float:
        return runs.outcome(setup, name, kind, quick=quick, **keys).mean_ms

    def varied(
        key: str, steps: Sequence[float], **keys: Any
    ) -> dict[str, dict[str, dict[str, float]]]:
        return {
            name: {
                str(step): gains(setup, name, quick=quick, shift={key: step}, **keys)
                for step in steps
            }
            for name in ("cello", "hplajw")
        }

    bursts = varied("bias", QUICK_BIASES if quick else BIASES)
    exponents = QUICK_EXPONENTS if quick else EXPONENTS
    reuse = varied("zipf_exponent", exponents, each={"popularity": "static"})
    controllers = {
        label: {
            name: {kind: mean_ms(name, kind, controller_cache=cache) for kind in _COMPARED}
            for name in (("hplajw",) if quick else ("cello", "hplajw"))
        }
        for label, cache in CONTROLLERS.items()
    }
    thresholds = {
        label: {name: mean_ms(name, "MWB", **keys) for name in (WRITING[1:] if quick else WRITING)}
        for label, keys in THRESHOLDS.items()
    }
    placed = {
        place: {
            name: mean_ms(name, "MCD ALL", front_placement=place)
            for name in (("tpcd",) if quick else loads.LOADS)
        }
        for place in PLACEMENTS
    }
    clean = {name: mean_ms(name, "MCD ALL", **CLEANING) for name in WRITING}
    on_demand = {**setup, "mcd": {}}
    lazy = {name: runs.outcome(on_demand, name, "MCD ALL", quick=quick).mean_ms for name in WRITING}
    ratios = [
        max(times) / min(times)
        for name in ("cello", "hplajw")
        if (times := [own[name] for own in thresholds.values()])
    ]
    least = min(
        own["DISK/MCD"]
        for of in (bursts, reuse)
        for points in of.values()
        for own in points.values()
    )
    most_reuse = list(reuse["hplajw"])[-1]
    return Found(
        {
            "bursts": [own["DISK ms"] for own in bursts["cello"].values()],
            "reuse_ms": reuse["hplajw"][most_reuse]["MCD ms"],
            "robust": {"MCD ALL": 1.0, "DISK": least},
            "thresholds": max(ratios),
            **{
                f"clean_{name}": {"cleaning": clean[name], "on demand": lazy[name]}
                for name in WRITING
            },
        },
        series={
            "bursts": bursts,
            "reuse": reuse,
            "controllers": controllers,
            "thresholds": thresholds,
            "placements": placed,
            "clean": clean,
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the gains against what was varied, all on one scale."""
    figure.set_size_inches(5.6, 6)
    grid = figure.subplots(2, 2, sharex="col", sharey=True)
    every = [
        {shift: {label: own[label] for label in GAINS} for shift, own in points.items()}
        for row in ("cello", "hplajw")
        for points in (found.series["bursts"][row], found.series["reuse"][row])
    ]
    ends = scales.ends(gain for one in every for own in one.values() for gain in own.values())
    for axes, points in zip(grid.flat, every, strict=True):
        scales.logarithmic(axes, "y", *ends)
        axes.axhline(1, color=INK, linewidth=1)
        shifts = [float(shift) for shift in points]
        drawn = {label: (shifts, [own[label] for own in points.values()]) for label in GAINS}
        for label, look in in_order(GAINS).items():
            mark = {"marker": look.marker, "markersize": 4}
            axes.plot(*drawn[label], label=label, **look.line(), **mark)
    for axes, text in zip(grid[1], ("bias", "Zipf exponent"), strict=True):
        axes.set_xlabel(f"added to the {text}")
    for axes, label in zip(grid[:, 0], ("cello", "hplajw"), strict=True):
        axes.set_ylabel(f"{label}: gain (times)")
    figure.legend(handles=grid[0][0].lines[1:], loc="outside upper left", ncols=3)
