"""Figure 5(a): sizes of the MEMS and of segments under TPCD."""

from sledsim.papers import Found, Simulated
from sledsim.papers.msst2005 import figure5, runs

draw = figure5.draw


def compare(curves: figure5.Curves) -> dict[str, Simulated]:
    """Return the effects of larger segments and of more MEMS."""
    at_64 = {mems: curve[64] for mems, curve in curves.items()}
    own = at_64[runs.MEMS_MIB]
    some = [mems for mems in curves if mems < runs.INFINITE_MIB]
    return {
        "to_64": curves[runs.MEMS_MIB][8] / own,
        "best_kib": figure5.best(curves[runs.MEMS_MIB]),
        "size": max(at_64[64] / own, own / min(at_64[mems] for mems in some)),
        "infinite": own / at_64[runs.INFINITE_MIB],
    }


def simulate(*, quick: bool) -> Found:
    """Run with all sizes."""
    no_read_ahead = {"back": {"buffer": {"read_ahead": "none"}}}
    return figure5.simulate(
        "tpcd", compare, quick=quick, hypotheses={"no_read_ahead": no_read_ahead}
    )
