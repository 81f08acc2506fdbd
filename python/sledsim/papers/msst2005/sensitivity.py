"""Sensitivity of the gains of Figure 6 to unstated parameters: bursts, reuse, cleaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.papers import Found
from sledsim.papers.msst2005 import runs
from sledsim.papers.msst2005.axes import log_y

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BIASES = (-0.1, -0.05, 0.0, 0.05, 0.1, 0.15)
QUICK_BIASES = (-0.1, 0.0, 0.1)
EXPONENTS = (-0.2, 0.0, 0.2, 0.4, 0.6)
QUICK_EXPONENTS = (-0.2, 0.0, 0.6)
"""Offsets of the biases and of the exponents of Zipf's law of the loads."""
ARRIVALS: dict[str, dict[str, Any]] = {
    "poisson": {},
    "bursts": {"bias": 0.6},
}
"""Arrivals of the loads that come as Poisson processes, which a b-model replaces."""
CONTROLLERS: dict[str, dict[str, Any]] = {
    "as the presets": {},
    "line by line": runs.LINE_BY_LINE,
    "while the disk rests": runs.CLEANING,
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
_COMPARED: dict[str, dict[str, Any]] = {"DISK": {}, "MWB": {}, "MCD ALL": runs.CLEANING}
_UNLIMITED = 100_000


def gains(name: str, *, quick: bool, **load_keys: Any) -> dict[str, float]:
    """Return how many times as long as other architectures each takes, and mean times in ms."""

    def mean_ms(kind: str, **keys: Any) -> float:
        keys = {"load_keys": {"max_queue": _UNLIMITED} | load_keys} | keys
        return runs.outcome(name, kind, quick=quick, **keys).mean_ms

    times = {kind: mean_ms(kind) for kind in ("DISK", "MWB", "MCD ALL", "DISK-RAM")}
    clean = mean_ms("MCD ALL", **runs.CLEANING)
    return {
        "DISK/MCD": times["DISK"] / times["MCD ALL"],
        "DISK/MCD, cleaning": times["DISK"] / clean,
        "DISK/MWB": times["DISK"] / times["MWB"],
        "MWB/MCD": times["MWB"] / times["MCD ALL"],
        "MWB/MCD, cleaning": times["MWB"] / clean,
        "DISK-RAM/MCD": times["DISK-RAM"] / times["MCD ALL"],
        "DISK ms": times["DISK"],
        "MCD ms": times["MCD ALL"],
    }


def simulate(*, quick: bool) -> Found:
    """Vary one thing at a time."""
    bursts, reuse = {}, {}
    for name in ("cello", "hplajw"):
        bursts[name] = {
            str(bias): gains(name, quick=quick, shift={"bias": bias})
            for bias in (QUICK_BIASES if quick else BIASES)
        }
        reuse[name] = {
            str(exponent): gains(name, quick=quick, shift={"zipf_exponent": exponent})
            for exponent in (QUICK_EXPONENTS if quick else EXPONENTS)
        }
    controllers = {
        label: {
            name: {
                kind: runs.outcome(name, kind, quick=quick, controller_cache=cache, **keys).mean_ms
                for kind, keys in _COMPARED.items()
            }
            for name in ("cello", "hplajw")
        }
        for label, cache in CONTROLLERS.items()
    }
    thresholds = {
        label: {
            name: runs.outcome(name, "MWB", quick=quick, **keys).mean_ms
            for name in ("tpcc", "cello", "hplajw")
        }
        for label, keys in THRESHOLDS.items()
    }
    arrivals = {
        label: {
            name: {
                kind: runs.outcome(name, kind, quick=quick, load_keys=keys).mean_ms
                for kind in ("DISK-RAM", "MCD ALL")
            }
            for name in ("tpcd", "tpcc")
        }
        for label, keys in ARRIVALS.items()
    }
    return Found(
        {
            "bursts": [own["DISK ms"] for own in bursts["cello"].values()],
            "reuse_ms": reuse["hplajw"]["0.6"]["MCD ms"],
            "robust": min(
                own["DISK/MCD, cleaning"]
                for varied in (bursts, reuse)
                for points in varied.values()
                for own in points.values()
            ),
        },
        series={
            "bursts": bursts,
            "reuse": reuse,
            "controllers": controllers,
            "thresholds": thresholds,
            "arrivals": arrivals,
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the gains against what was varied."""
    figure.set_size_inches(5.6, 6)
    grid = figure.subplots(2, 2, sharey="row")
    for row, (name, label) in zip(grid, (("cello", "cello"), ("hplajw", "hplajw")), strict=True):
        _curves(row[0], found.series["bursts"][name])
        _curves(row[1], found.series["reuse"][name])
        row[0].set_ylabel(f"{label}: gain (times)")
    for axes, text in zip(grid[1], ("bias", "Zipf exponent"), strict=True):
        axes.set_xlabel(f"added to the {text}")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)


def _curves(axes: Axes, points: dict[str, dict[str, float]]) -> None:
    shifts = [float(shift) for shift in points]
    for label, marker in zip(
        ("DISK/MCD", "DISK/MCD, cleaning", "DISK/MWB", "MWB/MCD, cleaning"), "osD^", strict=True
    ):
        gain = [own[label] for own in points.values()]
        axes.plot(shifts, gain, marker=marker, ms=4, label=label)
    axes.axhline(1, color="black", linewidth=1)
    log_y(axes)
