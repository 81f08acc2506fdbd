"""Figure 6(b): fairness of four schedulers on the sled, random workload."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import curves, parts

RATES = [250, 500, 750, *range(1000, 1500, 50), *range(1500, 2050, 100)]
END_MS = 40
ALL, HIGH = 1200, 1500


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Raise the rate of arrivals for each scheduler."""
    device = parts.sled(setup)
    requests, replications = (20_000, 3) if quick else (40_000, 5)
    found = curves.sweep(
        lambda rate: curves.random_load(rate, requests),
        device,
        RATES,
        replications=replications,
        end_ms=END_MS,
    )

    def scv(rate: float) -> dict[str, float]:
        return {
            name: curve.scv[curve.loads.index(rate)]
            for name, curve in found.items()
            if rate in curve.loads
        }

    high = scv(HIGH)
    return Found(
        {
            "all": {
                "C-LOOK": scv(ALL)["C-LOOK"],
                "the best of the others": min(
                    value for name, value in scv(ALL).items() if name != "C-LOOK"
                ),
            },
            "high": {"C-LOOK": high["C-LOOK"], "SSTF_LBN or SPTF": curves.greedy(high)},
        },
        series=curves.series(found),
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw all four curves."""
    axes = figure.add_subplot()
    curves.draw_scv(axes, found.series, 1.5, END_MS)
    axes.set(xlabel="rate of arrivals (1/s)", xlim=(200, 2000))
