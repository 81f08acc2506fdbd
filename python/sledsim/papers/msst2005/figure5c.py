"""Figure 5(c): sizes of the MEMS and of segments under cello."""

from sledsim.papers import Found, Setup, Simulated
from sledsim.papers.msst2005 import figure5

draw = figure5.draw


def compare(setup: Setup, curves: figure5.Curves) -> dict[str, Simulated]:
    """Return the effects of larger segments and of more MEMS."""
    curve = curves[setup["mems_mib"]]
    larger = [own.mean_ms for segment, own in curve.items() if segment >= 8]
    return {"larger": larger, **figure5.small_requests(setup, curves)}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run with all sizes."""
    return figure5.simulate("cello", compare, quick=quick, setup=setup)
