"""Figure 8: the schedulers with zero and with two settling time constants."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup, Simulated
from sledsim.papers.osdi2000 import curves, parts
from sledsim.plots.curves import heading

RATES = {
    0: [500, 1000, 1250, *range(1400, 2450, 50)],
    1: [500, *range(1000, 2050, 50)],
    2: [250, *range(500, 1750, 50)],
}
LIMIT_MS, END_MS = 5, 20


def margin(found: dict[str, curves.Curve]) -> float:
    """Return the response time of SSTF_LBN over that of SPTF, at the knee of SSTF_LBN."""
    return LIMIT_MS / found["SPTF"].at(found["SSTF_LBN"].knee(LIMIT_MS))


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Raise the rate for each number of settling constants."""
    requests, replications = (20_000, 3) if quick else (40_000, 5)
    found = {
        constants: curves.sweep(
            lambda rate: curves.random_load(rate, requests),
            parts.sled(setup, settling_constants=constants),
            rates,
            replications=replications,
            end_ms=END_MS,
            schedulers=["SSTF_LBN", "SPTF"] if constants == 1 else curves.SCHEDULERS,
        )
        for constants, rates in RATES.items()
    }
    margins = {constants: margin(each) for constants, each in found.items()}
    knees: dict[str, Simulated] = {
        f"knees_{constants}_per_s": {
            name: curve.knee(LIMIT_MS)
            for name, curve in found[constants].items()
            if constants == 0 or name != "SSTF_LBN"
        }
        for constants in (0, 2)
    }
    return Found(
        knees
        | {
            "margins": [margins[2], margins[1], margins[0]],
        },
        series={str(constants): curves.series(found[constants]) for constants in (0, 2)},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw response times without settling above and with two constants below."""
    figure.set_size_inches(6.4, 6.4)
    panels = figure.subplots(2, 1, sharex=True)
    for axes, (constants, each) in zip(panels, found.series.items(), strict=True):
        curves.draw_means(axes, each, 20, named=axes is panels[0])
        heading(axes, f"{constants} settling time constants")
    axes.set(xlabel="rate of arrivals (1/s)", xlim=(200, 2400))
