"""Table 4: times to read most and all of the device for free."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.scans import CONFIGURATIONS, LABELS, scans
from sledsim.plots import curves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from sledsim.papers import Setup
    from sledsim.papers.cmu_cs_03_125.scans import Scan

PARTS = {"most": 95, "all": 100}
"""Columns of the table, in percent of the blocks."""
QUOTIENTS = {
    "p20_m5_of_m0": ("p20_m5", "p20_m0"),
    "p10_m5_of_m0": ("p10_m5", "p10_m0"),
    "p20_of_p10": ("p20_m0", "p10_m0"),
}
"""Configurations whose times to 95 % are compared."""


def minutes(found: Mapping[str, Sequence[Scan]]) -> dict[str, list[float]]:
    """Return the times of every seed, by the keys of the values."""
    return {
        f"{name}_{part}": [scan.minutes[percent] for scan in each]
        for name, each in found.items()
        for part, percent in PARTS.items()
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Scan the device with several seeds."""
    times = minutes(scans(setup, list(CONFIGURATIONS), [1] if quick else range(1, 4)))
    means = {key: fmean(each) for key, each in times.items()}
    quotients = {
        key: means[f"{one}_most"] / means[f"{other}_most"]
        for key, (one, other) in QUOTIENTS.items()
    }
    tails = {
        f"{name}_tail_percent": 100 * (1 - means[f"{name}_most"] / means[f"{name}_all"])
        for name in CONFIGURATIONS
    }
    series = {key: [round(time, 3) for time in each] for key, each in times.items()}
    return Found(means | quotients | tails, series=series)


def draw(figure: Figure, found: Found) -> None:
    """Draw every scan, a row for each configuration."""
    axes = figure.add_subplot()
    axes.set(xlabel="time (minutes)", ylim=(len(LABELS) - 0.5, -0.5))
    axes.set_yticks(range(len(LABELS)), LABELS.values())
    lines = {}
    for part, percent in PARTS.items():
        points = [
            (time, row)
            for row, name in enumerate(CONFIGURATIONS)
            for time in found.series[f"{name}_{part}"]
        ]
        look: dict[str, Any] = {"marker": "|", "linestyle": "none", "ms": 12}
        (lines[f"{percent} % read"],) = axes.plot(*zip(*points, strict=True), **look)
    axes.set_xlim(0, None)
    curves.name(axes, lines)
