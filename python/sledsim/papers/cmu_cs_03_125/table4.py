"""Table 4: times to read most and all of the device for free."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from sledsim.papers import Found, find
from sledsim.papers.cmu_cs_03_125.scans import CONFIGURATIONS, LABELS, scans
from sledsim.papers.pictures import INK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledsim.papers.cmu_cs_03_125.scans import Scan

PARTS = {"most": 95, "all": 100}
"""Columns of the table, in percent of the blocks."""


def minutes(found: Mapping[str, Sequence[Scan]]) -> dict[str, list[float]]:
    """Return the times of every seed, by the keys of the values."""
    return {
        f"{name}_{part}": [scan.minutes[percent] for scan in each]
        for name, each in found.items()
        for part, percent in PARTS.items()
    }


def simulate(*, quick: bool) -> Found:
    """Scan the device with several seeds, with both orders where they differ."""
    seeds = [1] if quick else range(1, 6)
    near = minutes(scans(list(CONFIGURATIONS), seeds))
    reaching = [name for name, (_, reach) in CONFIGURATIONS.items() if reach]
    if quick:
        reaching = reaching[:1]
    by_lbn = minutes(scans(reaching, seeds, "lbn"))
    return Found(
        means(near),
        hypotheses={"lbn_order": means(by_lbn)},
        series={
            order: {key: [round(time, 3) for time in times] for key, times in each.items()}
            for order, each in (("nearest", near), ("lbn", by_lbn))
        },
    )


def means(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the means over seeds."""
    return {key: fmean(each) for key, each in times.items()}


def draw(figure: Figure, found: Found) -> None:
    """Draw every scan, a row for each configuration."""
    axes = figure.add_subplot()
    looks = {"nearest": ("nearest cylinder first", "o"), "lbn": ("by LBN", "^")}
    for number, (order, (label, marker)) in enumerate(looks.items()):
        for part, percent in PARTS.items():
            points = [
                (time, row + 0.24 * number - 0.12)
                for row, name in enumerate(CONFIGURATIONS)
                for time in found.series[order].get(f"{name}_{part}", [])
            ]
            name = f"{percent} %, {label}"
            look: dict[str, Any] = {"marker": marker, "linestyle": "none", "ms": 4}
            full = percent == 100
            look |= {"color": f"C{number}", "fillstyle": "full" if full else "none"}
            axes.plot(*zip(*points, strict=True), **look, label=name)
    (item,) = find(["cmu-cs-03-125/table4"])
    stated = [(value.published, value.key.rpartition("_")[0]) for value in item.values]
    rows = [list(CONFIGURATIONS).index(name) for _, name in stated]
    times = [time for time, _ in stated]
    axes.plot(times, rows, "x", color=INK, label="published")
    axes.set_yticks(range(len(LABELS)), LABELS.values())
    axes.set(xlabel="time (minutes)", xlim=(0, None), ylim=(len(LABELS) - 0.5, -0.5))
    figure.legend(loc="outside upper center", ncols=2)
