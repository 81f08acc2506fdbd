"""Figure 13: run time of PostMark, split into I/O stall and computing."""

from matplotlib.figure import Figure

from sledsim.applications import pictures
from sledsim.papers import Found, Simulated
from sledsim.papers.sigmetrics2000 import applications as apps

KEYS = {"files": 14_500, "transactions": 14_500}
"""With them there are almost 150,000 reads and writes."""


def simulate(*, quick: bool) -> Found:
    """Run PostMark on three devices."""
    found, note = apps.outcomes("postmark", KEYS, quick=quick)
    facts = {name: outcome.facts for name, outcome in found.items()}
    values: dict[str, Simulated] = {
        "times_faster": apps.times_faster(found, "Atlas 10K"),
        "times_faster_than_superdisk": apps.times_faster(found, "Superdisk"),
        "order_s": {name: outcome.run_s for name, outcome in found.items()},
        "stall_saved": apps.stall_saved(found),
        "disk_access_ms": facts["Atlas 10K"].access_ms or 0.0,
        "mems_access_ms": facts["MEMS"].access_ms or 0.0,
        "blocks": facts["MEMS"].mean_blocks or 0.0,
    }
    return Found(values, series=apps.series(found), note=note)


def draw(figure: Figure, found: Found) -> None:
    """Draw stacked bars."""
    pictures.bars_of(figure.add_subplot(), found.series)
