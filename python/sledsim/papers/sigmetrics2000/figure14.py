"""Figure 14: run time of query 4 of TPC-D, split into I/O stall and computing."""

from matplotlib.figure import Figure

import sledsim as ss
from sledsim import applications
from sledsim.applications import pictures
from sledsim.papers import Found, Simulated
from sledsim.papers.sigmetrics2000 import applications as apps

BUS_MS = 0.0064
"""For a block of 512 bytes at 80 MB/s, Ultra2 SCSI."""


def simulate(*, quick: bool) -> Found:
    """Run the query on three devices."""
    found, note = apps.outcomes("tpch-q4", {}, quick=quick)
    faster = applications.replay("sample:tpch-q4", [ss.device("atlas10k", bus_ms_per_block=BUS_MS)])
    quicker = found | {"Atlas 10K": faster[0]}
    values: dict[str, Simulated] = {
        "times_faster": apps.times_faster(found, "Atlas 10K"),
        "disk_hits": found["Atlas 10K"].facts.read_hits or 0.0,
        "superdisk_hits": found["Superdisk"].facts.read_hits or 0.0,
        "mems_hits": found["MEMS"].facts.read_hits or 0.0,
        "stall_saved": apps.stall_saved(found),
    }
    hypotheses = {
        "fast_bus": {
            "times_faster": apps.times_faster(quicker, "Atlas 10K"),
            "disk_hits": quicker["Atlas 10K"].facts.read_hits or 0.0,
            "stall_saved": apps.stall_saved(quicker),
        }
    }
    return Found(values, hypotheses=hypotheses, series=apps.series(found), note=note)


def draw(figure: Figure, found: Found) -> None:
    """Draw stacked bars."""
    pictures.bars_of(figure.add_subplot(), found.series)
