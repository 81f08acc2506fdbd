"""The verdicts of the papers: numbers and tolerances, orders and shapes."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sledsim.papers import Contradiction, Expected, Published, model
from sledsim.papers.judge import WORST_LAST, Verdict, agrees, has_shape, judge, worst
from sledsim.papers.model import Kind

NAN = float("nan")


def value(published: Any, kind: Kind = "within", key: str = "key", **more: Any) -> Published:
    return Published(key, "what", published, "Table 1", kind=kind, **more)


def agreeing(stated: Published, *simulated: Any) -> list[bool]:
    return [agrees(stated, number) for number in simulated]


def verdict_on(stated: Published, simulated: Any, **readings: Any) -> Verdict:
    others = {name: {"key": other} for name, other in readings.items()}
    return judge([stated], {"key": simulated}, others)["key"][0]


@pytest.mark.parametrize(
    ("printed", "low", "high"),
    [
        ("8", 7.5, 8.5),
        ("8.0", 7.95, 8.05),
        ("-8.0", -8.05, -7.95),
        ("7e1", 65, 75),
        ("0.063", 0.0625, 0.0635),
        ("1600", 1599.5, 1600.5),
    ],
)
def test_the_tolerance_is_half_a_unit_of_the_last_printed_digit(
    printed: str, low: float, high: float
) -> None:
    step = 1e-4 * (high - low)
    sampled: dict[str, Any] = {"error": 1.0, "error_from": "sampling"}
    for wider, more in ((0, {}), (1, sampled)):
        ends = (low - wider - step, low - wider, high + wider, high + wider + step)
        assert agreeing(value(printed, **more), *ends) == [False, True, True, False]
    near = (float(printed) + apart for apart in (-step, 0, step))
    assert agreeing(value(printed, exact=True), *near) == [False, True, False]


@pytest.mark.parametrize(
    ("published", "more", "low", "high"),
    [
        (("0.36", "0.94"), {}, 0.355, 0.945),
        (("14", "45"), {"exact": True}, 14.0, 45.0),
        (("14", "45"), {"words": True}, 14.0, 45.0),
        (("14", "45"), {"error": 0.5, "error_from": "similar", "exact": True}, 13.5, 45.5),
    ],
)
def test_the_ends_of_a_range_are_rounded_but_for_limits_and_words(
    published: Any, more: Any, low: float, high: float
) -> None:
    numbers = (low - 1e-3, low, (low + high) / 2, high, high + 1e-3)
    stated = value(published, "between", **more)
    assert agreeing(stated, *numbers) == [False, True, True, True, False]


def test_rounding_in_binary_is_no_difference() -> None:
    assert 0.1 + 0.2 != 0.3
    assert agrees(value("0.3", exact=True), 0.1 + 0.2)


@pytest.mark.parametrize("stated", [value("1", error=1e300), value(("0", "1e300"), "between")])
@pytest.mark.parametrize("number", [NAN, math.inf, -math.inf])
def test_what_is_no_number_agrees_with_none(stated: Published, number: float) -> None:
    assert not agrees(stated, number)


@pytest.mark.parametrize("judged_as", [None, "input", "calibrated"])
def test_a_class_takes_the_place_of_reproduced_and_never_of_missed(judged_as: Any) -> None:
    stated = value("10", judged_as=judged_as, because="Why.")
    verdicts = (verdict_on(stated, 10.2), verdict_on(stated, 12.0))
    assert verdicts == (judged_as or "reproduced", "missed")


def test_an_erratum_needs_a_value_as_arithmetic_has_it() -> None:
    """And what arithmetic leads to saves no miss."""
    twelve = Expected(12.0, 0.25, arithmetic="3 * 4")
    stated = value("10", judged_as="erratum", expected=twelve)
    simulated = (11.7, 11.75, 12.25, 12.3, 10.0, NAN)
    found = [verdict_on(stated, number) == "erratum" for number in simulated]
    assert found == [False, True, True, False, False, False]
    assert {verdict_on(stated, number) for number in (11.7, 10.0, NAN)} == {"missed"}
    stated = value("10", expected=Expected(12.0, 0.25, computed="a.b"), because="For a reason.")
    assert (verdict_on(stated, 12.0), verdict_on(stated, 10.0)) == ("missed", "reproduced")


def by_key(values: list[Published], numbers: Any) -> Any:
    return dict(zip((one.key for one in values), numbers, strict=True))


GAINS = [
    value(("13", "20"), "between", key="layout"),
    value(("13", "20"), "between", key="pipe"),
    value(
        ("10", "15"),
        "between",
        key="over",
        judged_as="contradiction",
        contradiction=Contradiction("layout and pipe", {"one": "layout", "other": "pipe"}),
    ),
]


@pytest.mark.parametrize(
    ("own", "reading", "verdict"),
    [
        # Neither the set-up nor the reading gives all three.
        ((18, 14, 5), (18, 9, 10), "contradiction"),
        # One of them does: what arithmetic is said to exclude is possible.
        ((18, 14, 5), (18, 14, 10), "conditional"),
        # It comes out by itself: nothing is excluded.
        ((18, 9, 10), (18, 14, 5), "reproduced"),
    ],
)
def test_a_contradiction_holds_against_every_reading(
    own: Any, reading: Any, verdict: Verdict
) -> None:
    judged = judge(GAINS, by_key(GAINS, own), {"a": by_key(GAINS, reading)})
    assert judged["over"][0] == verdict


def test_what_a_reading_gives_together_is_no_contradiction() -> None:
    """Another value breaks the reading, so that it explains nothing; the three still come out."""
    values = [*GAINS, value("1", key="else")]
    own: dict[str, Any] = {"layout": 18, "pipe": 14, "over": 5, "else": 1}
    other = own | {"over": 10, "else": 2}
    assert judge(values, own, {"a": other})["over"][0] == "missed"
    assert judge(values, own, {"a": other | {"pipe": 9}})["over"][0] == "contradiction"


BOTH = [value("10", key="one"), value("20", key="two")]


@pytest.mark.parametrize(
    ("own", "readings", "verdicts"),
    [
        # Agrees under the set-up of the paper: a reading does not matter.
        ((10, 20), {"a": (1, 2)}, [("reproduced", ""), ("reproduced", "")]),
        # One reading holds for all values.
        ((10, 2), {"a": (10, 20)}, [("reproduced", ""), ("conditional", "a")]),
        ((1, 2), {"a": (10, 2), "b": (10, 20)}, [("conditional", "b"), ("conditional", "b")]),
        # Two readings, each for a value of its own, hold for none.
        ((1, 2), {"a": (10, 2), "b": (1, 20)}, [("missed", ""), ("missed", "")]),
        # A reading that breaks what agrees without it holds for none.
        ((10, 2), {"a": (1, 20)}, [("reproduced", ""), ("missed", "")]),
    ],
)
def test_a_reading_holds_for_all_values_or_none(own: Any, readings: Any, verdicts: Any) -> None:
    others = {name: by_key(BOTH, other) for name, other in readings.items()}
    assert list(judge(BOTH, by_key(BOTH, own), others).values()) == verdicts


WHY: dict[str, Any] = {"because": "Why."}
TWENTY = value("20", key="two", judged_as="calibrated", **WHY)


@pytest.mark.parametrize(
    ("others", "own", "reading", "verdicts"),
    [
        # A reading must also meet what was calibrated.
        ([TWENTY], (1, 20), (10, 2), [("missed", ""), ("calibrated", "")]),
        ([TWENTY], (1, 2), (10, 20), [("conditional", "a"), ("missed", "")]),
        # Classes without a comparison do not bind it.
        (
            [
                value("5", key="two", judged_as="input", **WHY),
                value("6", key="three", judged_as="not_modelled", **WHY),
            ],
            (1, 5, 0),
            (10, 4, 0),
            [("conditional", "a"), ("input", ""), ("not_modelled", "")],
        ),
        # A repeat is judged elsewhere.
        (
            [value("5", key="two", repeats="table1.mean")],
            *((1, 4), (10, 4), [("conditional", "a"), ("repeat", "")]),
        ),
    ],
)
def test_what_binds_a_reading(others: Any, own: Any, reading: Any, verdicts: Any) -> None:
    values = [BOTH[0], *others]
    judged = judge(values, by_key(values, own), {"a": by_key(values, reading)})
    assert list(judged.values()) == verdicts


def test_what_is_not_modelled_needs_no_value() -> None:
    stated = value("10", judged_as="not_modelled", because="It would take a clock.")
    assert judge([stated], {}, {}) == {"key": ("not_modelled", "")}


def test_an_order_is_of_numbers_that_differ() -> None:
    stated = value(("a", "b", "c"), "order")
    assert agrees(stated, {"c": 3.0, "a": 1.0, "b": 2.0})
    for others in (
        {"a": 1.0, "b": 3.0, "c": 2.0},
        {"a": 1.0, "b": 1.0, "c": 2.0},
        {"a": 1.0, "b": 2.0},
        {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0},
        {"a": 1.0, "b": NAN, "c": 3.0},
        {"a": NAN, "b": 2.0, "c": 3.0},
        {"a": 1.0, "b": 2.0, "c": NAN},
    ):
        assert not agrees(stated, others), others


@given(st.permutations("abcde"), st.lists(st.floats(-1e9, 1e9), min_size=5, max_size=5))
def test_an_order_does_not_depend_on_where_names_stand(
    names: list[str], found: list[float]
) -> None:
    by_name = dict(zip(names, found, strict=True))
    pairs = list(zip("abcd", "bcde", strict=True))
    ascending = all(by_name[one] < by_name[other] for one, other in pairs)
    assert agrees(value(tuple("abcde"), "order"), by_name) == ascending


LINE, CONCAVE, CONVEX = [0, 1, 2, 3], [0, 3, 5, 6], [0, 1, 3, 6]
HILL, VALLEY, STEPS, CROSSING = [0, 2, 3, 1], [3, 1, 0, 2], [0, 1, 1, 2], [2, 1, -1, -2]
CURVES = {
    "rises": (LINE, CONCAVE, CONVEX, STEPS),
    "falls": (CROSSING, LINE[::-1], CONCAVE[::-1]),
    "rises ever less": (CONCAVE, [0, 2, 4, 5]),
    "rises, then falls": (HILL, [0, 5, 4, 3], [0, 2, 2, 1]),
    "positive, then negative": (CROSSING, [5, 4, 3, -1], [1, 3, 2, -1]),
    "level": ([2, 2, 2, 2],),
}
ALL_CURVES = [LINE, CONCAVE, CONVEX, HILL, VALLEY, STEPS, CROSSING, CROSSING[::-1], [2, 2, 2, 2]]


def test_every_shape_is_told_from_the_others() -> None:
    assert {*CURVES, "not level"} == set(model.SHAPES)
    for shape, right in CURVES.items():
        for curve in right:
            assert has_shape(shape, curve), (shape, curve)
            assert has_shape("not level", curve) == (shape != "level")
    told = {shape: [curve for curve in ALL_CURVES if has_shape(shape, curve)] for shape in CURVES}
    assert told == {
        "rises ever less": [CONCAVE],
        "rises": [LINE, CONCAVE, CONVEX, STEPS, CROSSING[::-1]],
        "falls": [CROSSING],
        "rises, then falls": [HILL],
        "positive, then negative": [CROSSING],
        "level": [[2, 2, 2, 2]],
    }
    assert not has_shape("positive, then negative", [1, -1, 1, -1])
    assert not has_shape("rises, then falls", LINE)
    assert not has_shape("rises, then falls", LINE[::-1])


def test_tolerance_of_the_shape_of_a_curve() -> None:
    for shape, curve, few, enough in (
        ("rises", [0, 2, 1.75, 4], 0.2, 0.25),
        ("falls", [4, 1.75, 2, 0], 0.2, 0.25),
        ("rises, then falls", [0, 3, 2.75, 4, 1, 1.25, 0], 0.2, 0.25),
        ("level", [1, 2, 1.5], 0.9, 1),
    ):
        found = [has_shape(shape, curve, tolerance) for tolerance in (few, enough)]
        assert found == [False, True], shape
    assert not has_shape("rises", [1, 0.9, 0.95], 5), "the ends are not the other way round"
    for shape, curve, few, much in (
        ("not level", [1, 2, 1.5], 0.9, 1),
        ("positive, then negative", [0.5, 0, -0.5], 0.4, 0.5),
    ):
        found = [has_shape(shape, curve, tolerance) for tolerance in (few, much)]
        assert found == [True, False], shape


CURVE = st.lists(st.integers(-1000, 1000).map(float), min_size=3, max_size=12)


@given(CURVE)
def test_shapes_mirror_each_other(curve: list[float]) -> None:
    upside_down = [-number for number in curve]
    assert has_shape("rises", curve) == has_shape("falls", upside_down)
    assert has_shape("rises", curve) == has_shape("falls", curve[::-1])
    assert has_shape("level", curve) != has_shape("not level", curve)
    assert has_shape("rises, then falls", curve) == has_shape("rises, then falls", curve[::-1])
    higher = [number + 1e4 for number in curve]
    for shape in set(model.SHAPES) - {"positive, then negative"}:
        assert has_shape(shape, curve) == has_shape(shape, higher)
    if has_shape("rises ever less", curve):
        assert has_shape("rises", curve)
    if sorted(set(curve)) == curve:
        assert has_shape("rises", curve)
        assert not has_shape("rises, then falls", curve)


@given(CURVE, st.integers(0, 11), st.sampled_from([NAN, math.inf, -math.inf]))
def test_a_curve_with_a_hole_has_no_shape(curve: list[float], place: int, hole: float) -> None:
    curve.insert(min(place, len(curve)), hole)
    assert not any(has_shape(shape, curve, 1e9) for shape in model.SHAPES)


@pytest.mark.parametrize(
    ("kind", "published", "simulated"),
    [
        ("within", "1.0", {"a": 1.0}),
        ("between", ("0", "1"), [1.0, 2.0, 3.0]),
        ("within", "1.0", "1.0"),
        ("order", ("a", "b"), [1.0, 2.0]),
        ("order", ("a", "b"), 1.0),
        ("shape", "level", 1.0),
        ("shape", "level", [1.0, 1.0]),
        ("shape", "level", {"a": 1.0, "b": 1.0, "c": 1.0}),
    ],
)
def test_incomparable_values_are_an_error(kind: Kind, published: Any, simulated: Any) -> None:
    with pytest.raises(TypeError):
        agrees(value(published, kind), simulated)


def test_the_worst_verdict_is_that_of_all() -> None:
    assert worst(["reproduced", "input"]) == "reproduced"
    assert worst(["conditional", "reproduced", "not_modelled"]) == "not_modelled"
    assert worst(WORST_LAST) == "missed"
