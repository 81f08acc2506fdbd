"""Figure 5(d): sizes of the MEMS and of segments under hplajw."""

from sledsim.papers import Found, Setup, Simulated
from sledsim.papers.msst2005 import figure5

draw = figure5.draw


def compare(setup: Setup, curves: figure5.Curves) -> dict[str, Simulated]:
    """Return the effects of larger segments, with less and more MEMS."""
    smallest = {segment: own.mean_ms for segment, own in curves[64].items()}
    return {
        "to_64": [ms for segment, ms in smallest.items() if 8 <= segment <= 64],
        "from_64": [ms for segment, ms in smallest.items() if segment >= 64],
        "best_kib": figure5.best(curves[setup["mems_mib"]]),
        "best_infinite_kib": figure5.best(curves[setup["infinite_mib"]]),
        "sizes": [own[64].mean_ms for own in curves.values()],
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run with all sizes."""
    return figure5.simulate("hplajw", compare, quick=quick, setup=setup)
