"""Sections 1, 2.2 and 5.1: utilization of the parallelism by random requests."""

from __future__ import annotations

import random
from statistics import fmean
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.memstore import memstore
from sledsim.plots import bars

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.hardware import Sled
    from sledsim.papers import Setup

BLOCKS = 8
"""4 KB."""
SEED = 1


def row_s(device: Sled) -> float:
    """Return the time that a row takes to pass under the tips."""
    time_ms: float = device.spec["derived"]["row_time_ms"]
    return time_ms / 1e3


def rows_read(device: Sled, lbn: int, one_row_s: float) -> int:
    """Return the number of rows that pass under the tips during a transfer."""
    return round(device.access(lbn, BLOCKS).transfer_s / one_row_s)


def used(device: Sled, lbns: list[int]) -> dict[int, list[float]]:
    """Return the percentages of the parallelism used by requests, by their place in a row.

    The place is that of the first block, from 0. A request that reaches from the last row of a
    track into the next track needs one row only: it is the same one under other tips.
    """
    at_once, one_row_s = device.parallelism.p, row_s(device)
    places: dict[int, list[float]] = {}
    for lbn in lbns:
        percent = 100 * BLOCKS / (rows_read(device, lbn, one_row_s) * at_once)
        places.setdefault(lbn % at_once, []).append(percent)
    return dict(sorted(places.items()))


def budget_tips(device: Sled, budget_mw: float, tip_mw: float) -> float:
    """Return the number of tips that a power budget leaves for the transfer."""
    return float((budget_mw - device.parameters["power_active_mw"]) / tip_mw)


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read 4 KB at random."""
    device, blocking = memstore(setup), setup["requests"]["blocking"]
    chance = random.Random(SEED)
    last = device.blocks - BLOCKS
    anywhere = [chance.randint(0, last) for _ in range(4000 if quick else 100_000)]
    found = used(device, [lbn // blocking * blocking for lbn in anywhere])
    percents = [percent for place in found.values() for percent in place]
    least, most = min(percents), max(percents)
    return Found(
        {
            "most_percent": most,
            "least_percent": least,
            "left_by_one": 100 * BLOCKS / most - BLOCKS,
            "left_by_two": 100 * BLOCKS / least - BLOCKS,
            "dear_tips": budget_tips(device, 1000, 3),
            "cheap_tips": budget_tips(device, 1000, 1),
        },
        series={
            "places": list(found),
            "percent": [fmean(each) for each in found.values()],
            "mean_percent": fmean(percents),
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the utilization of requests by their place in a row."""
    axes = figure.add_subplot()
    requests = found.series
    places = [str(place) for place in requests["places"]]
    bars.grouped(axes, places, {"used": requests["percent"]}, "{:.0f}".format)
    axes.set(xlabel="place in its row of the first of 8 blocks", ylabel="parallelism used (%)")
    axes.set(ylim=(0, 100))
    axes.set_title(f"{requests['mean_percent']:.0f} % in the mean")
