"""Figure 7: a scan of all attributes, and four scans of one each."""

from matplotlib.figure import Figure

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample

SCANS = {"all": tuple(sample.WIDTHS)} | {name: (name,) for name in sample.WIDTHS}
LAYOUTS = ("normal", "capsule")


def simulate(*, quick: bool) -> Found:
    """Scan the table once for all attributes, and for each."""
    count = sample.QUICK_RECORDS if quick else sample.RECORDS
    times = sample.RECORDS / count
    data = sample.records(count)
    found = {
        layout: {
            name: times * seconds
            for name, (seconds, _) in sample.scans(data, layout, SCANS).items()
        }
        for layout in LAYOUTS
    }
    single = {
        layout: sum(seconds[name] for name in sample.WIDTHS) for layout, seconds in found.items()
    }
    capsule = found["capsule"]
    pages = {"a1": 1, "a2": 4, "a3": 2, "a4": 2}
    return Found(
        {
            **{f"{layout}_times": single[layout] / found[layout]["all"] for layout in LAYOUTS},
            "order": {name: capsule[name] for name in ("a1", "a3", "a2", "all")},
            "by_page": [capsule[name] / count for name, count in pages.items()],
        },
        series=found,
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
    figure.legend(loc="outside upper center", ncols=3)
