"""Figure 6(a): mean response time of four schedulers on the sled, random workload."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import curves, parts

RATES = [250, 500, 750, *range(1000, 2050, 50)]
LIMIT_MS, END_MS = 5, 60
HIGH, ODD = 1500, (1500, 2000)


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
    high = {name: curve.at(HIGH) for name, curve in found.items() if name != "FCFS"}
    high["FCFS"] = curves.measure(curves.random_load(HIGH, requests), device, "FCFS").mean_ms
    knees = {name: curve.knee(LIMIT_MS) for name, curve in found.items()}
    return Found(
        {
            "knee_per_s": knees,
            "fcfs_first": curves.steps(knees),
            "high_ms": high,
            "sptf_turns": found["SPTF"].turns(*ODD),
        },
        series=curves.series(found),
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw all four curves, as far as they stay below 20 ms."""
    axes = figure.add_subplot()
    axes.set(xlabel="rate of arrivals (1/s)", xlim=(200, 2000))
    curves.draw_means(axes, found.series, 20)
    curves.draw_limit(axes, 270, LIMIT_MS)
