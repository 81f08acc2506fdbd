"""How near the simulated values of an item come to the published ones.

Numbers, orders and shapes count apart. Parameters, errata, calibrated values, repeats and what is
not modelled count nowhere: they could not fail, or are judged elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sledsim.papers.judge import agrees
from sledsim.papers.values import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledsim.papers.model import Item, Published, Simulated

PERCENT = (1, 5, 10, 25)
"""Limits of the distance, in %."""
NEAR, MOST = 10, 0.8
"""An item agrees if at least this share of its numbers is that near, and its orders are right."""
ORDER_ONLY = "order and shape only"
ITSELF = "contradicts itself"

Nearness = dict[str, Any]
"""``numbers``: how many there are; ``within``: how many are within each of :data:`PERCENT`;
``orders`` and ``shapes``: how many are right, and of how many. What the paper says in words counts
with the orders."""


def distance(value: Published, simulated: Simulated | None) -> float | None:
    """Return how far a number is from the published one, as a share of that.

    Of a range it is the distance from the nearer end, and 0 inside. What a value in % adds to a
    time, or takes from it, is compared as times. ``None`` stands for what is no number, and for a
    distance from zero.
    """
    if not value.numbers or not isinstance(simulated, float | int):
        return None
    if value.kind == "between" and value.limits[0] <= simulated <= value.limits[1]:
        return 0.0
    printed = min(max(simulated, value.numbers[0]), value.numbers[-1])
    apart = simulated - printed
    if abs(apart) <= 1e-9 * abs(printed):
        return 0.0
    whole = whole_of(printed, value.percent)
    if not whole:
        return None
    return (-apart if value.percent == "less" else apart) / whole


def whole_of(printed: float, percent: str) -> float:
    """Return what a distance is a share of: the number, or the time that a value in % changes."""
    return {"more": 100 + printed, "less": 100 - printed, "": abs(printed)}[percent]


def counts(value: Published) -> bool:
    """Return whether a value counts: it could fail, and is printed here.

    What a paper says in words against its own numbers has no right answer.
    """
    if value.words and value.contradiction:
        return False
    return value.judged_as in {None, "contradiction"} and not value.repeats


def of(values: Iterable[Published], simulated: Mapping[str, Simulated]) -> Nearness:
    """Return how near the simulated values come to the published ones.

    A number that agrees within its tolerance is within each limit. One in % of a time must also
    have between half and twice the published effect.
    """
    found: Nearness = {
        "numbers": 0,
        "within": dict.fromkeys(map(str, PERCENT), 0),
        "orders": [0, 0],
        "shapes": [0, 0],
    }
    for value in filter(counts, values):
        own = simulated[value.key]
        right = agrees(value, own)
        if value.kind in {"order", "shape"} or value.words:
            kind = found["shapes" if value.kind == "shape" else "orders"]
            kind[0] += right
            kind[1] += 1
            continue
        found["numbers"] += 1
        apart = distance(value, own)
        for limit in PERCENT:
            near = apart is not None and abs(apart) <= limit / 100 and _has_effect(value, own)
            found["within"][str(limit)] += right or near
    return found


def _has_effect(value: Published, simulated: Simulated) -> bool:
    """Return whether what a value in % changes is between half and twice as much as published.

    Otherwise none at all would be near a published change of some per cent.
    """
    if not value.percent or not isinstance(simulated, float | int):
        return True
    low, high = value.numbers[0], value.numbers[-1]
    return low / 2 <= simulated <= 2 * high


def together(parts: Iterable[Nearness]) -> Nearness:
    """Return the sums of several."""
    total = of((), {})
    for part in parts:
        total["numbers"] += part["numbers"]
        for limit, count in part["within"].items():
            total["within"][limit] += count
        for kind in ("orders", "shapes"):
            total[kind] = [one + other for one, other in zip(total[kind], part[kind], strict=True)]
    return total


def in_order(near: Nearness) -> bool:
    """Return whether all orders and shapes are right."""
    return bool(near["orders"][0] == near["orders"][1] and near["shapes"][0] == near["shapes"][1])


def agree(near: Nearness) -> bool:
    """Return whether most numbers are near and all orders right."""
    enough = near["within"][str(NEAR)] >= MOST * near["numbers"] > 0
    return bool(enough and in_order(near))


def document(item: Item, stated: Mapping[str, Simulated], readings: Readings) -> dict[str, Any]:
    """Return the nearness of an item: under the stated set-up, and under its best reading.

    The best reading is the one with most numbers within 10 %, then 5, 1 and 25 %, then with most
    orders and shapes; the stated set-up comes first among equals.
    """
    found = {"": of(item.values, stated)}
    found |= {name: of(item.values, simulated) for name, simulated in readings.items()}
    best = max(found, key=lambda name: rank(found[name]))
    reading = next((own for own in item.readings if own.name == best), None)
    return {
        "stated": found[""],
        "best": found[best],
        "reading": best,
        "settings": 0 if reading is None else reading.settings,
        "by_search": reading is not None and reading.found_by == "search",
        "tried": len(readings),
    }


Readings = Mapping[str, Mapping[str, "Simulated"]]
"""Simulated values by reading."""


def rank(near: Nearness) -> tuple[int, ...]:
    """Return by what readings are compared: the greater, the nearer."""
    within = near["within"]
    return (
        *(within[str(limit)] for limit in (10, 5, 1, 25)),
        near["orders"][0] + near["shapes"][0],
    )


HEAD = ("numbers", *(f"{percent} %" for percent in PERCENT), "orders", "shapes")
"""The columns of a table."""


def cells(found: Mapping[str, Any]) -> list[str]:
    """Return the columns of a table: counts, and behind them those of the best reading if other."""
    both = [columns(found[name]) for name in ("stated", "best")]
    return [one if one == other else f"{one} ({other})" for one, other in zip(*both, strict=True)]


def columns(near: Nearness) -> list[str]:
    """Return the columns :data:`HEAD` of one set-up."""
    ordered = [f"{right} of {of}" if of else NONE for right, of in (near["orders"], near["shapes"])]
    within = list(near["within"].values()) if near["numbers"] else [NONE] * len(PERCENT)
    return [str(near["numbers"] or NONE), *map(str, within), *ordered]


def together_cells(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns of several items together, of each under its own best reading."""
    found = list(found)
    return cells({name: together(one[name] for one in found) for name in ("stated", "best")})


def line(item: Item, found: Mapping[str, Any], verdicts: Iterable[str]) -> str:
    """Return what a reader should know of an item in a few words.

    It agrees, under the stated set-up or a reading; or contradicts itself; or only its orders and
    shapes are right; or it is open. Nothing is said of an item without a value that counts.
    """
    stated, best = found["stated"], found["best"]
    if not stated["numbers"] + stated["orders"][1] + stated["shapes"][1]:
        return ""
    contradicts = "contradiction" in verdicts
    if agree(stated) or agree(best):
        under = "" if agree(stated) else _under(found)
        return f"agrees{under}{f'; {ITSELF}' if contradicts else ''}"
    if contradicts:
        return ITSELF
    if stated["orders"][1] + stated["shapes"][1] and in_order(stated):
        return ORDER_ONLY
    return f"open: {item.open or 'it is not known what'}"


def _under(found: Mapping[str, Any]) -> str:
    """Name the best reading, how many were tried and how many keys it changes."""
    by_search = ", found by search" if found["by_search"] else ""
    keys = "1 key" if found["settings"] == 1 else f"{found['settings']} keys"
    return f" under {found['reading']} (of {found['tried']} readings, {keys}{by_search})"
