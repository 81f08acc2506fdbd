"""SIGMETRICS 2000 without sledsim: the sled of Table 1 under random requests, in closed form."""

from __future__ import annotations

import random
from functools import cache
from math import asin, hypot, pi, sqrt
from statistics import fmean, pstdev

PUSH_M_S2, HALF_M, SPRINGS, SPEED_M_S = 114.8, 50e-6, 0.75, 0.02
"""Acceleration, half of the travel, spring factor, speed of access."""
SETTLE_MS = 1e3 / (2 * pi * 220)
BIT_M, ROW_BITS, ROWS, COLUMNS = 50e-9, 90, 22, 2000
EDGE_BITS = ROWS * ROW_BITS / 2 + 5


def travel_ms(start_m: float, end_m: float, speed_m_s: float) -> float:
    """Hong and Brandt's solution for two pushes, with two inverse sines each."""
    if start_m > end_m:
        start_m, end_m = -start_m, -end_m
    w2 = SPRINGS * PUSH_M_S2 / HALF_M
    w, centre = sqrt(w2), PUSH_M_S2 / w2
    switch = (start_m + end_m) / 2 + w2 / (4 * PUSH_M_S2) * (end_m**2 - start_m**2)
    one, two = hypot(start_m - centre, speed_m_s / w), hypot(end_m + centre, speed_m_s / w)
    first = asin(max(-1, min(1, (switch - centre) / one))) - asin((start_m - centre) / one)
    last = asin((end_m + centre) / two) - asin(max(-1, min(1, (switch + centre) / two)))
    return 1e3 * (first + last) / w


def x_seek_ms(start_m: float, end_m: float) -> float:
    """Return the time of an X seek with its settling; none for staying in place."""
    return travel_ms(start_m, end_m, 0) + SETTLE_MS if start_m != end_m else 0.0


def turnaround_ms(place_m: float, way: int) -> float:
    """Return the time of equation 6."""
    return 2e3 * SPEED_M_S / (PUSH_M_S2 * (1 + SPRINGS * way * place_m / HALF_M))


def y_seek_ms(start_m: float, way: int, end_m: float, arrive: int) -> tuple[float, float]:
    """Return the time of a Y seek, and that of its turnarounds."""
    if start_m == end_m:
        turns = 0.0 if arrive == way else turnaround_ms(start_m, way)
        return turns, turns
    ahead = (end_m - start_m) * way > 0
    turns = 0.0 if ahead else turnaround_ms(start_m, way)
    moving = way if ahead else -way
    if moving != arrive:
        turns += turnaround_ms(end_m, moving)
    return travel_ms(start_m, end_m, SPEED_M_S) + turns, turns


def row_ends_m(row: int) -> dict[int, tuple[float, float]]:
    """Return where the sled begins and ends to read a row, by its direction: turning in place."""
    low = ROW_BITS * row - EDGE_BITS
    ends = low * BIT_M, (low + ROW_BITS) * BIT_M
    return {1: ends, -1: ends[::-1]}


@cache
def random_blocks() -> dict[str, list[float]]:
    """Return the times, in ms, of random rows and cylinders, one after the other."""
    chance = random.Random(1)
    start = (0.0, 0.0, 1)
    columns: dict[str, list[float]] = {"seek": [], "x": [], "y": [], "turnaround": []}
    for _ in range(40_000):
        x_m = (chance.randrange(COLUMNS) - COLUMNS // 2) * BIT_M
        ends = row_ends_m(chance.randrange(ROWS))
        x_ms = x_seek_ms(start[0], x_m)
        ways = {way: y_seek_ms(start[1], start[2], ends[way][0], way) for way in ends}
        seeks = {way: max(x_ms, y_ms) for way, (y_ms, _) in ways.items()}
        way = 1 if seeks[1] < seeks[-1] else -1
        for name, value in zip(columns, (seeks[way], x_ms, *ways[way]), strict=True):
            columns[name].append(value)
        start = (x_m, ends[way][1], way)
    return columns


def seek_mean_ms() -> float:
    """Return the average seek."""
    return fmean(random_blocks()["seek"])


def seek_sd_ms() -> float:
    """Return the standard deviation of seeks."""
    return pstdev(random_blocks()["seek"])


def seek_max_ms() -> float:
    """Return the longest seek: in X, from edge to edge."""
    return x_max_ms()


def x_mean_ms() -> float:
    """Return the average X seek."""
    return fmean(random_blocks()["x"])


def x_sd_ms() -> float:
    """Return the standard deviation of X seeks."""
    return pstdev(random_blocks()["x"])


def x_max_ms() -> float:
    """Return the longest X seek, from the first cylinder to the last."""
    return x_seek_ms(-HALF_M, HALF_M - BIT_M)


def y_mean_ms() -> float:
    """Return the average Y seek."""
    return fmean(random_blocks()["y"])


def y_sd_ms() -> float:
    """Return the standard deviation of Y seeks."""
    return pstdev(random_blocks()["y"])


def turnaround_mean_ms() -> float:
    """Return the average time of a request's turnarounds."""
    return fmean(random_blocks()["turnaround"])


def turnaround_sd_ms() -> float:
    """Return the standard deviation of the times of a request's turnarounds."""
    return pstdev(random_blocks()["turnaround"])


def settle_percent() -> float:
    """Return the share of settling in the average X seek."""
    return 100 * SETTLE_MS / x_mean_ms()


def switch() -> float:
    """Return a track switch over the least turnaround: to turn at the end of the last row."""
    return turnaround_ms(row_ends_m(ROWS - 1)[1][1], 1) / turnaround_ms(HALF_M, 1)
