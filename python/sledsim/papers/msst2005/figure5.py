"""Shared code of the parts of Figure 5: sizes of the MEMS and of segments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sledsim.papers import Found, Later
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots import curves

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from sledsim.papers import Setup, Simulated

SIZES_MIB = (64, 128, 256, 512)
QUICK_SIZES_MIB = (64, 256)
"""Sizes beside the one that holds everything."""
SEGMENTS_KIB = (4, 8, 16, 32, 64, 128, 256)
QUICK_SEGMENTS_KIB = (8, 16, 64, 128, 256)

Curves = Mapping[int, Mapping[int, runs.Outcome]]
"""Outcomes by the size of the MEMS in MiB and that of segments in KiB."""


def sweep(setup: Setup, name: str, *, quick: bool) -> Curves:
    """Run a workload with all sizes."""
    few = quick and name != "tpcd"  # of which no run takes long
    sizes = (*(QUICK_SIZES_MIB if few else SIZES_MIB), setup["infinite_mib"])
    segments = QUICK_SEGMENTS_KIB if quick else SEGMENTS_KIB

    def run(mems: int, segment: int) -> runs.Outcome:
        keys: dict[str, Any] = {"segment_kib": segment, "mems_mib": mems}
        return runs.outcome(setup, name, "MCD ALL", quick=quick, **keys)

    return {mems: Later(segments, partial(run, mems)) for mems in sizes}


def best(curve: Mapping[int, runs.Outcome]) -> int:
    """Return the segment of the shortest mean response time."""
    return min(curve, key=lambda segment: curve[segment].mean_ms)


def small_requests(setup: Setup, curves: Curves) -> dict[str, Simulated]:
    """Return the best segment, and the effect of more MEMS."""
    return {
        "best_kib": best(curves[setup["mems_mib"]]),
        "sizes": [own[8].mean_ms for own in curves.values()],
    }


def simulate(
    name: str,
    compare: Callable[[Setup, Curves], Mapping[str, Simulated]],
    *,
    quick: bool,
    setup: Setup,
) -> Found:
    """Sweep, and compare."""
    curves = sweep(setup, name, quick=quick)
    series: dict[str, Callable[[], Any]] = {
        "mean_ms": lambda: {
            str(mems): {str(kib): run.mean_ms for kib, run in own.items()}
            for mems, own in curves.items()
        },
        "saturated": lambda: [
            f"{mems}/{kib}" for mems, own in curves.items() for kib in own if own[kib].saturated
        ],
        "infinite_mib": lambda: setup["infinite_mib"],
    }
    return Found(
        compare(setup, curves),
        series=Later(series, lambda key: series[key]()),
        note=loads.note() if name == "hplajw" else "",
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw a curve for each size of the MEMS."""
    axes = figure.add_subplot()
    drawn = {
        "3 GB" if int(mems) == found.series["infinite_mib"] else f"{mems} MB": (
            [int(segment) for segment in curve],
            list(curve.values()),
        )
        for mems, curve in found.series["mean_ms"].items()
    }
    axes.set_xscale("log", base=2)
    axes.set_xticks(SEGMENTS_KIB, [str(segment) for segment in SEGMENTS_KIB])
    axes.set(xlabel="segment (KB)", ylabel="mean response time (ms)")
    curves.draw(axes, drawn, log_y=True)
