"""Figure 5: four schedulers on the Atlas 10K, random workload."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import curves, parts

RATES = [20, 40, 60, 80, 90, *range(100, 195, 5)]
LIMIT_MS, END_MS = 50, 150
ALL, HIGH = 110, 130


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Raise the rate of arrivals for each scheduler."""
    requests, replications = (20_000, 3) if quick else (40_000, 5)
    disk = parts.disk(setup)
    found = curves.sweep(
        lambda rate: curves.random_load(rate, requests),
        disk,
        RATES,
        replications=replications,
        end_ms=END_MS,
    )
    knees = {name: curve.knee(LIMIT_MS) for name, curve in found.items()}
    scv = {
        name: curve.scv[curve.loads.index(HIGH)] for name, curve in found.items() if name != "FCFS"
    }
    return Found(
        {
            "knee_per_s": knees,
            "fcfs_first": curves.steps(knees),
            "mean_ms": {name: curve.at(ALL) for name, curve in found.items()},
            "scv": {"C-LOOK": scv["C-LOOK"], "SSTF_LBN or SPTF": curves.greedy(scv)},
        },
        series=curves.series(found),
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw response times above and their variation below."""
    figure.set_size_inches(6.4, 6.4)
    above, below = figure.subplots(2, 1, sharex=True)
    curves.draw_means(above, found.series, 120)
    curves.draw_scv(below, found.series, 2.5, 2 * LIMIT_MS, named=False)
    curves.draw_limit(above, 21, LIMIT_MS)
    above.set_ylabel("(a) mean response time (ms)")
    below.set_ylabel("(b) squared coefficient of\nvariation of response times")
    below.set(xlabel="rate of arrivals (1/s)", xlim=(15, 180))
