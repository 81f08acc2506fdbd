"""CMU-CS-00-136 without sledsim: seeks and turnarounds by the equation of motion.

Parameters are those of Table 1; springs pull with 75 % of the actuators' force at the edge.
"""

from __future__ import annotations

from math import asin, hypot, pi, sqrt

PUSH_M_S2, HALF_M, SPRINGS, SPEED_M_S, BIT_M = 803.6, 50e-6, 0.75, 0.028, 40e-9
SETTLE_MS = 1e3 / (2 * pi * 739)
REGION_BITS, OLDER_BITS = 1250, 1000
"""Half of a region here, and of that of the authors' older device."""


def turnaround_ms(place_m: float, reference_m: float = HALF_M) -> float:
    """Return twice the speed over the net push, moving outwards above the centre."""
    return 2e3 * SPEED_M_S / (PUSH_M_S2 * (1 + SPRINGS * place_m / reference_m))


def shortest_turnaround_ms() -> float:
    """Return the turnaround at the edge, moving outwards: the springs help."""
    return turnaround_ms(HALF_M)


def longest_turnaround_ms() -> float:
    """Return the turnaround at the edge, moving inwards: the springs hurt."""
    return turnaround_ms(-HALF_M)


def x_seek_ms(start_m: float, end_m: float, springs: float = SPRINGS) -> float:
    """Return the time of a move from rest to rest outwards or across, with settling.

    Hong and Brandt's solution, with two inverse sines for each of both pushes.
    """
    w2 = springs * PUSH_M_S2 / HALF_M
    centre = PUSH_M_S2 / w2
    switch = (start_m + end_m) / 2 + w2 / (4 * PUSH_M_S2) * (end_m**2 - start_m**2)
    one, two = hypot(start_m - centre, 0), hypot(end_m + centre, 0)
    first = asin(max(-1, min(1, (switch - centre) / one))) - asin((start_m - centre) / one)
    last = asin((end_m + centre) / two) - asin(max(-1, min(1, (switch + centre) / two)))
    return 1e3 * (first + last) / sqrt(w2) + SETTLE_MS


def longest_seek_ms() -> float:
    """Return the time of a move from edge to edge, with settling."""
    return x_seek_ms(-HALF_M, HALF_M)
