"""Figure 7: a scan of all attributes, and four scans of one each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

ATTRIBUTES = list(sample.WIDTHS)
SCANS = {"all": tuple(ATTRIBUTES)} | {name: (name,) for name in ATTRIBUTES}
AGAIN: dict[str, tuple[str, ...]] = {f"{name} again": (name,) for name in reversed(ATTRIBUTES)}
"""The scans of one attribute in the other order."""
LAYOUTS = ("normal", "capsule")


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Scan the table once for all attributes, and twice for each."""
    count = sample.QUICK_RECORDS if quick else sample.RECORDS
    times = sample.RECORDS / count
    found = {
        layout: {
            name: times * seconds
            for name, seconds in sample.scans(
                sample.sample(setup, layout, count), SCANS | AGAIN
            ).items()
        }
        for layout in LAYOUTS
    }
    normal, capsule = (found[layout] for layout in LAYOUTS)
    return Found(
        {
            "normal_times": sum(normal[name] for name in ATTRIBUTES) / normal["all"],
            "capsule_times": [
                1.0,
                *(
                    sum(capsule[name] for name in names) / capsule["all"]
                    for names in (ATTRIBUTES, AGAIN)
                ),
            ],
            "order": {name: capsule[name] for name in ("a1", "a3", "a2", "all")},
            "by_page": [capsule[name] / pages for name, pages in sample.PAGES.items()],
        },
        series={layout: {name: each[name] for name in SCANS} for layout, each in found.items()},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw two bars for each layout, one of them piled up from the scans of one attribute."""
    axes = figure.add_subplot()
    for number, name in enumerate(["all", *sample.WIDTHS]):
        heights = [found.series[layout][name] for layout in LAYOUTS]
        below = [
            sum(found.series[layout][one] for one in list(sample.WIDTHS)[: number - 1])
            if number
            else 0
            for layout in LAYOUTS
        ]
        spots = [spot + (0.2 if number else -0.2) for spot in range(len(LAYOUTS))]
        axes.bar(spots, heights, 0.36, below, label="all" if not number else f"{name} alone")
    axes.set_xticks(range(len(LAYOUTS)), LAYOUTS)
    axes.set(ylabel="time of scans (s)")
    axes.grid(visible=False, axis="x")
