"""Figure 7: NVRAM that costs as much as the MEMS, by the ratio of their prices."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup, Simulated
from sledsim.papers.msst2005 import loads, prices
from sledsim.plots import curves
from sledsim.plots.style import INK

RATIOS = tuple(float(ratio) for ratio in range(1, 11))
QUICK_RATIOS = (1.0, 2.0, 3.0, 5.0, 10.0)


def sweep(setup: Setup, *, quick: bool) -> dict[str, dict[float, float]]:
    """Run the disk with smaller and smaller caches, as :func:`prices.relative` does."""
    ratios = QUICK_RATIOS if quick else RATIOS
    return {
        name: {ratio: prices.relative(name, ratio, quick=quick, setup=setup) for ratio in ratios}
        for name in loads.LOADS
    }


def compare(curves: dict[str, dict[float, float]]) -> dict[str, Simulated]:
    """Return which is faster, at equal prices and where NVRAM costs twice as much or more."""
    others = {name: curve for name, curve in curves.items() if name != "tpcd"}
    return {
        **{f"{name}_equal": curve[1] for name, curve in others.items()},
        **{
            f"{name}_dear": {
                "MEMS": 1.0,
                "NVRAM": min(value for ratio, value in curve.items() if ratio >= 2),
            }
            for name, curve in others.items()
        },
        "tpcd": {"NVRAM": max(curves["tpcd"].values()), "MEMS": 1.0},
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Compare."""
    curves = sweep(setup, quick=quick)
    return Found(
        compare(curves),
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
    drawn = {
        loads.LOADS[name]: ([float(ratio) for ratio in own], list(own.values()))
        for name, own in ((name, one["relative"]) for name, one in found.series.items())
    }
    axes.axhline(1, color=INK, linewidth=1)
    axes.set_xticks([1, 2, 3, 5, 10])
    axes.set(xlabel="price of a byte of NVRAM / of MEMS", ylabel="time with NVRAM / time with MEMS")
    curves.draw(axes, drawn, log_y=True)
