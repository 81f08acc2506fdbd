"""Figure 14: run time of query 4 of TPC-D, split into I/O stall and computing."""

from matplotlib.figure import Figure

from sledsim.applications import pictures
from sledsim.papers import Found, Simulated
from sledsim.papers.sigmetrics2000 import applications as apps


def simulate(*, quick: bool) -> Found:
    """Run the query on three devices."""
    found, note = apps.outcomes("tpch-q4", {}, quick=quick)
    values: dict[str, Simulated] = {
        "times_faster": apps.times_faster(found, "Atlas 10K"),
        "disk_hits": found["Atlas 10K"].facts.read_hits or 0.0,
        "superdisk_hits": found["Superdisk"].facts.read_hits or 0.0,
        "mems_hits": found["MEMS"].facts.read_hits or 0.0,
        "stall_saved": apps.stall_saved(found),
    }
    return Found(values, series=apps.series(found), note=note)


def draw(figure: Figure, found: Found) -> None:
    """Draw stacked bars."""
    pictures.bars_of(figure.add_subplot(), found.series)
