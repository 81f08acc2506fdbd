"""Shared code of the parts of Figure 5: sizes of the MEMS and of segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.papers import Found
from sledsim.papers.msst2005 import runs
from sledsim.papers.msst2005.axes import log_y

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from sledsim.papers import Simulated

SIZES_MIB = (64, 128, 256, 512, runs.INFINITE_MIB)
QUICK_SIZES_MIB = (64, 256, runs.INFINITE_MIB)
SEGMENTS_KIB = (4, 8, 16, 32, 64, 128, 256)
QUICK_SEGMENTS_KIB = (8, 32, 64, 128, 256)

Curves = dict[int, dict[int, float]]
"""Mean response times in ms by the size of the MEMS in MiB and that of segments in KiB."""


def sweep(name: str, *, quick: bool, **keys: Any) -> Curves:
    """Run a workload with all sizes."""
    return {
        mems: {
            segment: runs.outcome(
                name, "MCD ALL", quick=quick, segment_kib=segment, mems_mib=mems, **keys
            ).mean_ms
            for segment in (QUICK_SEGMENTS_KIB if quick else SEGMENTS_KIB)
        }
        for mems in (QUICK_SIZES_MIB if quick else SIZES_MIB)
    }


def best(curve: Mapping[int, float]) -> int:
    """Return the segment of the shortest mean response time."""
    return min(curve, key=lambda segment: curve[segment])


def larger_segments(curves: Curves) -> dict[str, Simulated]:
    """Return the effect of larger segments."""
    curve = curves[runs.MEMS_MIB]
    return {
        "best_kib": best(curve),
        "larger": min(ms for segment, ms in curve.items() if segment > 8) / curve[8],
        "sizes": [own[8] for own in curves.values()],
    }


def simulate(
    name: str,
    compare: Callable[[Curves], Mapping[str, Simulated]],
    *,
    quick: bool,
    hypotheses: Mapping[str, Mapping[str, Any]] | None = None,
) -> Found:
    """Sweep, and compare; also with other keys of the MEMS caching disk."""
    curves = sweep(name, quick=quick)
    others = {
        hypothesis: compare(sweep(name, quick=quick, **keys))
        for hypothesis, keys in (hypotheses or {}).items()
    }
    series = {str(mems): {str(kib): ms for kib, ms in own.items()} for mems, own in curves.items()}
    return Found(compare(curves), hypotheses=others, series={"mean_ms": series})


def draw(figure: Figure, found: Found) -> None:
    """Draw a curve for each size of the MEMS."""
    axes = figure.add_subplot()
    for (mems, curve), marker in zip(found.series["mean_ms"].items(), "osD^v", strict=False):
        label = "3 GB" if int(mems) == runs.INFINITE_MIB else f"{mems} MB"
        axes.plot(
            [int(segment) for segment in curve],
            list(curve.values()),
            marker=marker,
            ms=4,
            label=label,
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(SEGMENTS_KIB, [str(segment) for segment in SEGMENTS_KIB])
    axes.set(xlabel="segment (KB)", ylabel="mean response time (ms)")
    log_y(axes)
    figure.legend(loc="outside upper center", ncols=5, columnspacing=1)
