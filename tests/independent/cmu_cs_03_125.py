"""CMU-CS-03-125 without sledsim: the arithmetic of its device, and scans of it for free.

LBNs lie as in Figure 2 of the report, and a pass reads one row of one cylinder.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache

PUSH_M_S2, HALF_M, SPRINGS, SPEED_M_S, BIT_M = 803.6, 50e-6, 0.75, 0.028, 40e-9
"""G2: acceleration, half of the travel, spring factor, speed of access, size of a bit."""
ROWS, SQUARES, COLUMNS = 27, 100, 2500
ROW_BITS, SERVO_BITS = 90, 10
INTERVAL_MS = 101.6
"""From one request to the next, inferred from Table 4."""
REQUEST = 8
"""Blocks of 4 KB."""


def streaming_mb_s() -> float:
    """Return the rate of a stream, without the ways between cylinders.

    A track is 27 rows; two servo fields and a turnaround lead to the next.
    """
    edge_m = (ROWS * ROW_BITS + SERVO_BITS) / 2 * BIT_M
    turnaround_s = 2 * SPEED_M_S / (PUSH_M_S2 * (1 + SPRINGS * edge_m / HALF_M))
    track_s = (ROWS * ROW_BITS + 2 * SERVO_BITS) * BIT_M / SPEED_M_S + turnaround_s
    return ROWS * 10 * 512 / track_s / 1e6


Order = Callable[[Sequence[int], random.Random], Sequence[int]]
"""Puts cylinders that tips reach in the order in which blocks are taken from them."""
ORDERS: dict[str, Order] = {
    "nearest": lambda near, _: near,
    "farthest": lambda near, _: near[::-1],
    "lbn": lambda near, _: sorted(near),
    "random": lambda near, chance: chance.sample(near, len(near)),
}


PERIOD = 2 * ROWS * SQUARES
"""Blocks of two columns: those of the next two lie alike, two columns further."""


@cache
def passes(lbn: int, at_once: int, *, turns: bool = True) -> list[tuple[int, int]]:
    """Return the passes of a request: the row, by its number, and the bits of the squares.

    A request that goes on from the last row of a track into the next track stays in its row;
    without ``turns`` that is a pass of its own.
    """
    found: dict[tuple[int, int], int] = {}
    track = ROWS * at_once
    for block in range(lbn, lbn + REQUEST):
        column, inside = divmod(block, ROWS * SQUARES)
        set_of_tips, offset = divmod(inside, track)
        row, cell = divmod(offset, at_once)
        number = block // track
        row = ROWS - 1 - row if number % 2 else row
        key = (column * ROWS + row, 0 if turns else number)
        found[key] = found.get(key, 0) | 1 << (set_of_tips * at_once + cell)
    return [(row, squares) for (row, _), squares in found.items()]


def lowest(squares: int, count: int) -> int:
    """Return the lowest bits of a set."""
    taken = 0
    while squares and count:
        bit = squares & -squares
        taken, squares, count = taken | bit, squares ^ bit, count - 1
    return taken


def scan(
    seed: int,
    at_once: int,
    reach: int,
    *,
    columns: int = COLUMNS,
    order: str = "nearest",
    turns: bool = True,
) -> dict[str, float]:
    """Read at random until everything has been read, by a request or for free.

    Returns
    -------
    dict
        ``most`` and ``all``: requests until 95 and 100 % have been read; ``free``: blocks read for
        free by each, until 95 %.
    """
    chance = random.Random(seed)
    arrange, near = ORDERS[order], [0]
    for step in range(1, reach + 1):
        near += [-step, step]
    left = [(1 << SQUARES) - 1] * (columns * ROWS)
    whole = unread = columns * ROWS * SQUARES
    requests = free = 0
    most: dict[str, float] = {}
    while unread:
        requests += 1
        pairs, place = divmod(REQUEST * chance.randrange(whole // REQUEST), PERIOD)
        for row_there, squares in passes(place, at_once, turns=turns):
            row = row_there + 2 * ROWS * pairs
            unread -= (left[row] & squares).bit_count()
            left[row] &= ~squares
            spare, used = at_once - squares.bit_count(), squares
            for step in arrange(near, chance):
                other = row + step * ROWS
                if not spare:
                    break
                if not 0 <= other < len(left):
                    continue
                wanted = left[other] & ~used
                if not wanted:
                    continue
                taken = lowest(wanted, spare)
                left[other] ^= taken
                used |= taken
                count = taken.bit_count()
                spare, free, unread = spare - count, free + count, unread - count
        if not most and unread <= whole // 20:
            most = {"most": requests, "free": free / requests}
    return most | {"all": requests}


def last_block_minutes() -> float:
    """Return when one scan reads the last block: p = 10, M = 5, nearest cylinder first."""
    return scan(0, 10, 5)["all"] * INTERVAL_MS / 60e3
