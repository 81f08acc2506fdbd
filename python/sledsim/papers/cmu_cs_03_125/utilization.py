"""Sections 1, 2.2 and 5.1: utilization of the parallelism by random requests."""

import random
from statistics import fmean

from matplotlib.figure import Figure

import sledsim as ss
from sledsim.papers import Found

BLOCKS = 8
"""4 KB."""
SEED = 1


def rows_read(device: ss.Sled, lbn: int) -> int:
    """Return the number of rows that pass under the tips during a transfer."""
    row_s: float = device.spec["derived"]["row_time_ms"] / 1e3
    return round(device.access(lbn, BLOCKS).transfer_s / row_s)


def used(device: ss.Sled, lbns: list[int]) -> dict[int, list[float]]:
    """Return the percentages of the parallelism used by requests, by their place in a row.

    The place is that of the first block, from 0. A request that reaches from the last row of a
    track into the next track needs one row only: it is the same one under other tips.
    """
    at_once = device.parallelism.p
    places: dict[int, list[float]] = {}
    for lbn in lbns:
        percent = 100 * BLOCKS / (rows_read(device, lbn) * at_once)
        places.setdefault(lbn % at_once, []).append(percent)
    return dict(sorted(places.items()))


def budget_tips(device: ss.Sled, budget_mw: float, tip_mw: float) -> float:
    """Return the number of tips that a power budget leaves for the transfer."""
    return float((budget_mw - device.parameters["power_active_mw"]) / tip_mw)


def simulate(*, quick: bool) -> Found:
    """Read 4 KB at random, aligned to 4 KB or not."""
    device = ss.device("cmu2003")
    chance = random.Random(SEED)
    last = device.blocks - BLOCKS
    anywhere = [chance.randint(0, last) for _ in range(4000 if quick else 100_000)]
    aligned = [lbn // BLOCKS * BLOCKS for lbn in anywhere]
    by_place = {"aligned": used(device, aligned), "anywhere": used(device, anywhere)}
    values: dict[str, dict[str, float]] = {}
    for name, places in by_place.items():
        percents = [percent for place in places.values() for percent in place]
        least, mean, most = min(percents), fmean(percents), max(percents)
        values[name] = {
            "most_percent": most,
            "least_percent": least,
            "mean_at_least": mean,
            "mean_at_most": mean,
            "left_by_one": 100 * BLOCKS / most - BLOCKS,
            "left_by_two": 100 * BLOCKS / least - BLOCKS,
        }
    tips = {"dear_tips": budget_tips(device, 1000, 3), "cheap_tips": budget_tips(device, 1000, 1)}
    return Found(
        values["aligned"] | tips,
        hypotheses={"anywhere": values["anywhere"]},
        series={
            name: {
                "places": list(places),
                "percent": [fmean(percents) for percents in places.values()],
                "mean_percent": values[name]["mean_at_least"],
            }
            for name, places in by_place.items()
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the utilization of requests by their place in a row."""
    axes = figure.add_subplot()
    labels = {"anywhere": "at any LBN", "aligned": "aligned to 4 KB"}
    for number, (name, label) in enumerate(labels.items()):
        requests = found.series[name]
        spots = [place + 0.4 * number - 0.2 for place in requests["places"]]
        mean = f"{requests['mean_percent']:.0f} % in the mean"
        axes.bar(spots, requests["percent"], 0.38, label=f"{label}: {mean}")
    axes.set(xlabel="place in its row of the first of 8 blocks", ylabel="parallelism used (%)")
    axes.set(ylim=(0, 100), xticks=found.series["anywhere"]["places"])
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside upper center", ncols=2)
