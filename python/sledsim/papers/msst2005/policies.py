"""Replacement policies of sections 3, 4.2.4 and 6.2, and one that is newer."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots import bars

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
    means = found.series["mean_ms"].values()
    series = {label: [own[label] / own["LRU"] for own in means] for label in POLICIES}
    bars.grouped(axes, list(loads.LOADS.values()), series)
    axes.set(ylabel="mean response time / that of LRU")
