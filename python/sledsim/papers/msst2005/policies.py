"""Replacement policies of sections 3, 4.2.4 and 6.2, and one that is newer."""

from matplotlib.figure import Figure

from sledsim.papers import Found
from sledsim.papers.msst2005 import runs

POLICIES = {"LRU": "lru", "LFUDA": "lfuda", "S-LRU": "slru", "ARC": "arc", "S3-FIFO": "s3fifo"}


def simulate(*, quick: bool) -> Found:
    """Run the MEMS caching disk with each policy."""
    found = {
        name: {
            label: runs.outcome(name, "MCD ALL", quick=quick, policy=policy)
            for label, policy in POLICIES.items()
        }
        for name in runs.LOADS
    }
    mean_ms = {
        name: {label: outcome.mean_ms for label, outcome in own.items()}
        for name, own in found.items()
    }
    return Found(
        {f"lru_{name}": own["LRU"] / min(own.values()) for name, own in mean_ms.items()},
        series={
            "mean_ms": mean_ms,
            "found": {
                name: {label: outcome.found() for label, outcome in own.items()}
                for name, own in found.items()
            },
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the time of each policy as a multiple of that of LRU."""
    axes = figure.add_subplot()
    for place, label in enumerate(POLICIES):
        heights = [own[label] / own["LRU"] for own in found.series["mean_ms"].values()]
        spots = [spot + 0.16 * (place - 2) for spot in range(len(heights))]
        axes.bar(spots, heights, 0.14, label=label)
    axes.set_xticks(range(len(runs.LOADS)), list(runs.LOADS.values()))
    axes.set(ylabel="mean response time / that of LRU")
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside upper center", ncols=5, columnspacing=1)
