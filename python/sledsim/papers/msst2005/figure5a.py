"""Figure 5(a): sizes of the MEMS and of segments under TPCD."""

from sledsim.papers import Found, Setup, Simulated
from sledsim.papers.msst2005 import figure5

draw = figure5.draw


def compare(setup: Setup, curves: figure5.Curves) -> dict[str, Simulated]:
    """Return the effects of larger segments and of more MEMS."""
    at_64 = {mems: curve[64].mean_ms for mems, curve in curves.items()}
    own, infinite = at_64[setup["mems_mib"]], at_64.pop(setup["infinite_mib"])
    curve = curves[setup["mems_mib"]]
    return {
        "to_64": curve[8].mean_ms / own,
        "best_kib": figure5.best(curve),
        "size": [ms / own for ms in at_64.values()],
        "infinite": {
            "64 to 512 MB": at_64[64] / at_64[512],
            "512 MB to 3 GB": at_64[512] / infinite,
        },
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run with all sizes."""
    return figure5.simulate("tpcd", compare, quick=quick, setup=setup)
