"""MSST 2005: seeks of its MEMS device, and lists by which data are replaced.

The device is the G2 of the paper's reference 21: sleds of 100 um, 803.6 m/s2, springs that take
0.75 of that at the edge, settling 1 / (2 pi 739 Hz) if X changes, 2500 cylinders.
"""

from __future__ import annotations

from collections import OrderedDict
from math import asin, pi, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PUSH_M_S2, HALF_M, SETTLE_MS, SPRINGS = 803.6, 50e-6, 1e3 / (2 * pi * 739), 0.75


def x_seek_ms(start_m: float, end_m: float, springs: float = SPRINGS) -> float:
    """Return the arcs of a bang-bang move from rest to rest, two each, and settling."""
    w2 = springs * PUSH_M_S2 / HALF_M
    far = PUSH_M_S2 / w2
    switch = (start_m + end_m) / 2 + w2 / (4 * PUSH_M_S2) * (end_m**2 - start_m**2)

    def arc(place_m: float) -> float:
        return asin(max(-1.0, min(1.0, place_m)))

    first = arc((switch - far) / (far - start_m)) - arc(-1)
    last = arc(1) - arc((switch + far) / (end_m + far))
    return 1e3 * (first + last) / sqrt(w2) + SETTLE_MS


def max_x_seek_ms(springs: float = SPRINGS) -> float:
    """Return the seek from edge to edge."""
    return x_seek_ms(-HALF_M, HALF_M, springs)


def mean_x_seek_ms(springs: float = SPRINGS, cells: int = 300) -> float:
    """Return the mean seek between uniform cylinders; that to the same one of 2500 takes nothing.

    The mean of a grid of cells, of which pairs within a cell take the mean of the distance there.
    """
    places = [HALF_M * ((2 * cell + 1) / cells - 1) for cell in range(cells)]
    pairs = ((one, other) for one in places for other in places if one < other)
    between = 2 * sum(x_seek_ms(one, other, springs) for one, other in pairs)
    # Within a cell a distance d has the density 2 (w - d) / w^2, and a seek without springs takes
    # 2 sqrt(d / a): on average 16/15 sqrt(w / a).
    within = cells * (1e3 * 16 / 15 * sqrt(2 * HALF_M / cells / PUSH_M_S2) + SETTLE_MS)
    same = SETTLE_MS / 2500
    return (between + within) / cells**2 - same


def lru_found(places: Iterable[int], size: int) -> tuple[int, int]:
    """Return how many places a list of the most recent ones is asked for, and how many it has."""
    held: OrderedDict[int, None] = OrderedDict()
    asked = had = 0
    for place in places:
        asked += 1
        if place in held:
            had += 1
            held.move_to_end(place)
        else:
            held[place] = None
            if len(held) > size:
                held.popitem(last=False)
    return asked, had
