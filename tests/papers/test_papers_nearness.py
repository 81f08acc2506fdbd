"""How near items come to the published values: distances, shares and the line of an item."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sledsim import papers
from sledsim.papers import Item, Published, Reading, nearness
from sledsim.papers.arithmetic import between

from tests import paper_items


def value(published: Any, key: str = "key", **more: Any) -> Published:
    return Published(key, "what", published, "Table 1", **more)


def ranged(low: str, high: str, **more: Any) -> Published:
    return value((low, high), kind="between", **more)


@pytest.mark.parametrize(
    ("stated", "simulated", "distance"),
    [
        (value("4.0"), 5.0, 0.25),
        (value("4.0"), 3.0, -0.25),
        (value("4.0"), 4.0, 0.0),
        (value("-4.0"), -5.0, -0.25),
        (value("0.00"), 0.0, 0.0),
        (value("0.00"), 1.0, None),
        # Of a range from its nearer end; half a unit belongs to it, unless it is a limit.
        (ranged("20", "40"), 30.0, 0.0),
        (ranged("20", "40"), 40.5, 0.0),
        (ranged("20", "40"), 50.0, 0.25),
        (ranged("20", "40"), 15.0, -0.25),
        (ranged("20", "40", exact=True), 40.4, 0.01),
        # A request that takes 10 % longer takes 1.10 times as long; one that saves 20 % takes 0.80.
        (value("10", unit="%", percent="more"), 21.0, 0.1),
        (value("20", unit="%", percent="less"), 12.0, 0.1),
        (ranged("10", "15", unit="%", percent="less"), 1.0, 0.1),
        (value(("a", "b"), kind="order"), {"a": 1.0, "b": 2.0}, None),
        (value("4.0"), None, None),
    ],
)
def test_a_distance_is_a_share_of_what_is_published(
    stated: Published, simulated: Any, distance: float | None
) -> None:
    assert nearness.distance(stated, simulated) == (distance and pytest.approx(distance))


@given(st.floats(0.01, 1e6), st.floats(0.5, 2.0))
def test_a_distance_does_not_depend_on_the_unit(printed: float, times: float) -> None:
    """The same in ms and in us."""
    one = nearness.distance(value(repr(printed)), times * printed)
    other = nearness.distance(value(repr(1e3 * printed)), 1e3 * times * printed)
    assert one == pytest.approx(times - 1, abs=1e-8)
    assert other == pytest.approx(one, abs=1e-8)


VALUES = (
    *(value("100", key=f"n{number}") for number in range(10)),
    value(("a", "b"), key="order", kind="order"),
    value("rises", key="shape", kind="shape"),
    value("1", key="words", words=True),
    value("7", key="given", judged_as="input", because="-"),
    value("7", key="again", repeats="table1.n0"),
    value("7", key="fitted", judged_as="calibrated", because="-"),
    value("7", key="lacking", judged_as="not_modelled", because="-"),
)
RIGHT: dict[str, Any] = {
    **{f"n{number}": 100.0 for number in range(10)},
    "order": {"a": 1.0, "b": 2.0},
    "shape": [1.0, 2.0, 3.0],
    "words": 1.0,
    "given": 1.0,
    "again": 1.0,
    "fitted": 1.0,
}


def test_numbers_orders_and_shapes_count_apart() -> None:
    apart = {"n0": 100.6, "n1": 104.0, "n2": 91.0, "n3": 125.0, "n4": 126.0, "words": 2.0}
    near = nearness.of(VALUES, RIGHT | apart)
    within = {"1": 6, "5": 7, "10": 8, "25": 9}
    assert near == {"numbers": 10, "within": within, "orders": [1, 2], "shapes": [1, 1]}
    twice = nearness.together([near, near])
    assert (twice["numbers"], twice["within"]["10"], twice["orders"]) == (20, 16, [2, 4])


def test_what_has_no_effect_is_not_near_a_published_one() -> None:
    """Of 10 % more, none at all would be within 10 % as a time; and what agrees is near.

    0.07 is printed for all from 0.065 to 0.075, which are 7 % apart.
    """
    found = (0.0, 4.9, 5.1, 19.9, 20.1)
    stated = value("10", unit="%", percent="more")
    within = [nearness.of([stated], {"key": one})["within"] for one in found]
    assert [one["10"] for one in within] == [0, 0, 1, 1, 0]
    assert within[2]["1"] == 0
    assert nearness.of([value("0.07")], {"key": 0.0745})["within"]["1"] == 1


READINGS = (
    Reading("worse", "-", {}, {"a": 1}),
    Reading("found", "-", {}, {"a": 1, "b": {"c": 2, "d": 3}}, found_by="search"),
)
ITEM = Item("p", "i", "t", "Table 1", "h", VALUES, readings=READINGS, open="the load")


def told(
    own: dict[str, Any], reading: dict[str, Any], verdicts: tuple[str, ...] = ()
) -> tuple[str, str]:
    """Return the line of an item, and its best reading."""
    found = nearness.document(
        ITEM, RIGHT | own, {"worse": RIGHT | {"n0": 0.0} | own, "found": RIGHT | reading}
    )
    assert found["tried"] == 2
    assert found["settings"] == {"": 0, "found": 3}[found["reading"]]
    return nearness.line(ITEM, found, verdicts), found["reading"]


UNDER = "agrees under found (of 2 readings, 3 keys, found by search)"
THREE = {f"n{number}": 120.0 for number in range(3)}
SWAPPED = {"order": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize(
    ("own", "reading", "verdicts", "line"),
    [
        ({}, {}, (), "agrees"),
        ({"n0": 120.0, "n1": 120.0}, {}, (), "agrees"),
        ({"n0": 120.0}, {}, ("contradiction",), "agrees; contradicts itself"),
        (THREE, {}, (), UNDER),
        (SWAPPED, {}, (), UNDER),
        (THREE, THREE, (), "order and shape only"),
        (THREE, SWAPPED, (), "order and shape only"),
        (THREE, THREE, ("contradiction",), "contradicts itself"),
        (THREE | SWAPPED, THREE, (), "open: the load"),
        (THREE | {"words": 2.0}, THREE, (), "open: the load"),
        (THREE | {"shape": [1.0, 2.0, 1.0]}, THREE, (), "open: the load"),
    ],
)
def test_the_line_of_an_item(
    own: dict[str, Any], reading: dict[str, Any], verdicts: tuple[str, ...], line: str
) -> None:
    assert told(own, reading, verdicts)[0] == line


def test_the_best_reading_has_most_numbers_within_ten_percent() -> None:
    assert told({}, {})[1] == "", "the stated set-up comes first among equals"
    assert told(THREE, {})[1] == "found"
    # More within 1 % do not weigh against more within 10 %.
    assert told({"n0": 108.0, "n1": 108.0}, {"n0": 120.0})[1] == ""


def test_nothing_is_said_of_parameters() -> None:
    item = replace(ITEM, values=VALUES[-4:], readings=())
    assert nearness.line(item, nearness.document(item, RIGHT, {}), ()) == ""


SHARE, RANGE = st.floats(0, 1), st.tuples(st.floats(1, 50), st.floats(1, 50)).map(sorted)


@given(RANGE, RANGE, SHARE, SHARE)
def test_a_range_holds_all_that_its_names_can_give(
    one: Any, other: Any, first: float, second: float
) -> None:
    """Brute force: any numbers inside the ranges give a number inside the result."""
    a = one[0] + first * (one[1] - one[0])
    b = other[0] + second * (other[1] - other[0])
    for text in ("a + b", "a - b", "a * b", "a / b", "-a", "sqrt(a)/b", "b ** 2 - a", "1 - a/b"):
        low, high = between(text, {"a": tuple(one), "b": tuple(other)})
        exact, _ = between(text, {"a": (a, a), "b": (b, b)})
        assert low - 1e-9 * (1 + abs(low)) <= exact <= high + 1e-9 * (1 + abs(high)), text


@pytest.mark.parametrize("text", ["1 / a", "a + c", "a(1)", "log2(a)"])
def test_what_a_range_cannot_tell_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no arithmetic"):
        between(text, {"a": (-1.0, 2.0)})
    assert between("a ** 2", {"a": (-1.0, 2.0)}) == (0.0, 4.0), "it begins at 0"


# The items of the package


@pytest.mark.parametrize("item", papers.find([]), ids=lambda item: item.id)
def test_a_line_can_fail(item: Item) -> None:
    """An item that agrees does not if a third of its numbers move by 11 %, or one order turns."""
    document = paper_items.run(item.id).document
    if document["line"] != "agrees":
        return
    found: dict[str, Any] = {v["key"]: v["simulated"] for v in document["values"]}
    numbers = [v for v in item.values if nearness.counts(v) and v.numbers and not v.words]
    moved = {v.key: 1e3 * abs(v.limits[1]) + 1 for v in numbers[: len(numbers) // 4 + 1]}
    worse = nearness.document(item, found | moved, {})
    assert nearness.line(item, worse, ()) != "agrees"
    for stated in item.values:
        if stated.kind == "order" and nearness.counts(stated):
            turned = {name: -number for name, number in found[stated.key].items()}
            worse = nearness.document(item, found | {stated.key: turned}, {})
            assert nearness.line(item, worse, ()) != "agrees"


CONTRADICTED = [
    pytest.param(item, stated, id=f"{item.id}-{stated.key}")
    for item in papers.find([])
    for stated in item.values
    if stated.contradiction
]


@pytest.mark.parametrize(("item", "stated"), CONTRADICTED)
def test_a_contradiction_rests_on_the_printed_numbers(item: Item, stated: Published) -> None:
    """Wider by the whole of each range, the printed numbers would not exclude each other."""
    contradiction = stated.contradiction
    assert contradiction is not None
    limits = {own.key: own.limits for own in item.values if own.numbers}

    def wider(key: str) -> tuple[float, float]:
        low, high = limits[key]
        apart = max(high - low, 0.1 * abs(high))
        return low - apart, high + apart

    def excluded(ends: Any) -> bool:
        ranges = {name: ends(key) for name, key in contradiction.numbers.items()}
        low, high = between(contradiction.arithmetic, ranges)
        return bool(high < ends(stated.key)[0] or ends(stated.key)[1] < low)

    assert excluded(limits.__getitem__)
    assert not excluded(wider)
