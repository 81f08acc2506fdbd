"""Figure 4: share of the device read for free, against time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.scans import CONFIGURATIONS, LABELS, scans
from sledsim.plots import curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

MOST = 95
STEP = 5


def simulate(*, quick: bool, setup: Setup) -> Found:  # one scan of each is quick
    """Scan the device once with each configuration."""
    found = {name: scan for name, (scan,) in scans(setup, list(CONFIGURATIONS), [1]).items()}
    rates = {
        f"{name}_steps": [after - before for before, after in pairwise(scan.minutes[::STEP])]
        for name, scan in found.items()
    }
    return Found(
        {
            **rates,
            "most_order": {LABELS[name]: scan.minutes[MOST] for name, scan in found.items()},
            "all_order": {LABELS[name]: scan.minutes[-1] for name, scan in found.items()},
        },
        series={name: [round(time, 3) for time in scan.minutes] for name, scan in found.items()},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the percentage read against time, and mark where most and all has been read."""
    axes = figure.add_subplot()
    axes.set(xlabel="time (minutes)", ylabel="blocks read (%)", ylim=(0, 103))
    drawn = {label: (found.series[name], range(101)) for name, label in LABELS.items()}
    lines = curves.draw(axes, drawn, markers=False)
    for (minutes, _), line in zip(drawn.values(), lines.values(), strict=True):
        axes.plot(minutes[MOST], MOST, "o", color=line.get_color())
        axes.plot(minutes[-1], 100, "s", color=line.get_color())
    axes.set_xlim(0, None)
