"""Figure 4(d): techniques of the MEMS caching disk under hplajw."""

from sledsim.papers import Found
from sledsim.papers.msst2005 import figure4, runs

draw = figure4.draw
KEYS = ("gain_least", "gain_most")


def simulate(*, quick: bool) -> Found:
    """Run each technique, also on the public trace."""
    segment_kib = runs.MEAN_SEGMENT_KIB["hplajw"]
    week = runs.of_week([f"MCD {label}" for label in runs.TECHNIQUES], segment_kib=segment_kib)
    labelled = dict(zip(runs.TECHNIQUES, week.values(), strict=False))
    return figure4.simulate("hplajw", KEYS, quick=quick, more={"week_1992": labelled})
