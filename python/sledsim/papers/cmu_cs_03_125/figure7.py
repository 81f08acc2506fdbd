"""Figure 7: a scan of all attributes, and four scans of one each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.plots import curves
from sledsim.plots.style import in_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

ATTRIBUTES = list(sample.WIDTHS)
SCANS = {"all": tuple(ATTRIBUTES)} | {name: (name,) for name in ATTRIBUTES}
AGAIN: dict[str, tuple[str, ...]] = {f"{name} again": (name,) for name in reversed(ATTRIBUTES)}
"""The scans of one attribute in the other order."""
LAYOUTS = ("normal", "capsule")


def simulate(*, quick: bool, setup: Setup) -> Found:  # a tenth is enough
    """Scan the table once for all attributes, and twice for each."""
    count = sample.QUICK_RECORDS
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
    own = in_order(["all attributes", *(f"{name} alone" for name in ATTRIBUTES)])
    bottom = [0.0] * len(LAYOUTS)
    handles = {}
    for name, (label, look) in zip(SCANS, own.items(), strict=True):
        heights = [found.series[layout][name] for layout in LAYOUTS]
        shift = -0.2 if name == "all" else 0.2
        spots = [spot + shift for spot in range(len(LAYOUTS))]
        below = [0.0] * len(LAYOUTS) if name == "all" else bottom
        handles[label] = axes.bar(spots, heights, 0.36, below, color=look.color)
        if name != "all":
            bottom = [low + high for low, high in zip(bottom, heights, strict=True)]
    axes.set_xticks(range(len(LAYOUTS)), LAYOUTS)
    axes.set(ylabel="time of scans (s)")
    axes.grid(visible=False, axis="x")
    curves.legend_above(axes, handles)
