"""Replacement policies of sections 3, 4.2.4 and 6.2, and one that is newer."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import loads, runs

POLICIES = {
    "LRU": "lru",
    "LFUDA, printed": "lfuda(age=each_access)",
    "LFUDA": "lfuda",
    "S-LRU": "slru",
    "ARC": "arc",
    "S3-FIFO": "s3fifo",
}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run the MEMS caching disk with each policy; the values compare LRU with LFUDA."""
    found = {
        name: {
            policy: runs.outcome(setup, name, "MCD ALL", quick=quick, policy=policy)
            for policy in {*POLICIES.values(), setup["lfuda"]}
        }
        for name in loads.LOADS
    }
    return Found(
        {
            f"lru_{name}": own["lru"].mean_ms / own[setup["lfuda"]].mean_ms
            for name, own in found.items()
        },
        series={
            "mean_ms": {
                name: {label: own[policy].mean_ms for label, policy in POLICIES.items()}
                for name, own in found.items()
            },
            "found": {
                name: {label: own[policy].found() for label, policy in POLICIES.items()}
                for name, own in found.items()
            },
        },
        note=loads.note(),
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the time of each policy as a multiple of that of LRU."""
    axes = figure.add_subplot()
    for place, label in enumerate(POLICIES):
        heights = [own[label] / own["LRU"] for own in found.series["mean_ms"].values()]
        spots = [spot + 0.14 * (place - 2.5) for spot in range(len(heights))]
        axes.bar(spots, heights, 0.12, label=label)
    axes.set_xticks(range(len(loads.LOADS)), list(loads.LOADS.values()))
    axes.set(ylabel="mean response time / that of LRU")
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside upper center", ncols=3, columnspacing=1)
