"""Figure 7: NVRAM that costs as much as the MEMS, by the ratio of their prices."""

from typing import Any

from matplotlib.figure import Figure

from sledsim.papers import Found, Simulated
from sledsim.papers.msst2005 import prices, runs
from sledsim.papers.msst2005.axes import log_y

RATIOS = tuple(float(ratio) for ratio in range(1, 11))
QUICK_RATIOS = (1.0, 2.0, 3.0, 5.0, 10.0)


def sweep(*, quick: bool, **readings: Any) -> dict[str, dict[float, float]]:
    """Run the disk with smaller and smaller caches, as :func:`prices.relative` does."""
    ratios = QUICK_RATIOS if quick else RATIOS
    return {
        name: {ratio: prices.relative(name, ratio, quick=quick, **readings) for ratio in ratios}
        for name in runs.LOADS
    }


def compare(curves: dict[str, dict[float, float]]) -> dict[str, Simulated]:
    """Return which is faster, at equal prices and where NVRAM costs five times as much or more."""
    dear = {
        name: min(value for ratio, value in curve.items() if ratio >= 5)
        for name, curve in curves.items()
    }
    others = [name for name in curves if name != "tpcd"]
    return {
        **{f"{name}_equal": curves[name][1] for name in others},
        **{f"{name}_dear": dear[name] for name in others},
        "tpcd": max(curves["tpcd"].values()),
    }


def simulate(*, quick: bool) -> Found:
    """Compare; also with a MEMS caching disk that cleans, and controllers that do."""
    curves = sweep(quick=quick)
    return Found(
        compare(curves),
        hypotheses={
            "cleaning": compare(sweep(quick=quick, **runs.CLEANING)),
            "all_cleaning": compare(sweep(quick=quick, cache=runs.CLEANING, **runs.CLEANING)),
        },
        series={
            name: {
                "relative": {str(ratio): value for ratio, value in curve.items()},
                "break_even": prices.break_even(curve),
            }
            for name, curve in curves.items()
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw a curve for each workload; above 1, MEMS is the better choice."""
    axes = figure.add_subplot()
    for (name, drawn), marker in zip(found.series.items(), "osD^", strict=True):
        curve = drawn["relative"]
        ratios = [float(ratio) for ratio in curve]
        axes.plot(ratios, list(curve.values()), marker=marker, ms=4, label=runs.LOADS[name])
    axes.axhline(1, color="black", linewidth=1)
    log_y(axes)
    axes.set_xticks([1, 2, 3, 5, 10])
    axes.set(xlabel="price of a byte of NVRAM / of MEMS", ylabel="time with NVRAM / time with MEMS")
    figure.legend(loc="outside upper center", ncols=4)
