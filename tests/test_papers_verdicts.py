"""The verdicts of the papers: numbers and tolerances, orders and shapes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sledsim.papers import Explained, Published, model
from sledsim.papers.judge import agrees, has_shape, judge, worst

if TYPE_CHECKING:
    from sledsim.papers.model import Kind

NUMBERS: tuple[Kind, ...] = ("within", "at_most", "at_least")
NAN = float("nan")


def value(published: Any, kind: Kind = "within", **more: Any) -> Published:
    return Published("key", "what", published, "Table 1", kind=kind, **more)


@pytest.mark.parametrize(
    ("kind", "low", "same", "high"),
    [
        ("within", "missed", "reproduced", "missed"),
        ("at_most", "reproduced", "reproduced", "missed"),
        ("at_least", "missed", "reproduced", "reproduced"),
    ],
)
def test_a_number_and_its_tolerance(kind: Kind, low: str, same: str, high: str) -> None:
    stated = value(8.0, kind, tolerance=0.5)
    assert [judge(stated, number) for number in (7.499, 7.5, 8, 8.5, 8.501)] == [
        low,
        same,
        same,
        same,
        high,
    ]
    below_zero = value(-8.0, kind, tolerance=0.5)
    assert [judge(below_zero, number) for number in (-8.51, -8.5, -7.5, -7.49)] == [
        low,
        same,
        same,
        high,
    ]
    exact = value(8.0, kind)
    assert [judge(exact, number) for number in (8 - 1e-6, 8, 8 + 1e-6)] == [low, same, high]


def test_rounding_in_binary_is_no_difference() -> None:
    assert 0.1 + 0.2 != 0.3
    assert judge(value(0.3), 0.1 + 0.2) == "reproduced"
    assert 1.1 - 1.0 > 0.1
    assert judge(value(1.0, tolerance=0.1), 1.1) == "reproduced"


@given(
    published=st.floats(-1e6, 1e6),
    tolerance=st.floats(0, 1e3),
    simulated=st.floats(-1e6, 1e6),
    expected=st.floats(-1e6, 1e6),
    also=st.floats(0, 1e3),
)
def test_verdicts_on_numbers(
    published: float, tolerance: float, simulated: float, expected: float, also: float
) -> None:
    low, high, equal = (
        agrees(kind, published, tolerance, simulated) for kind in ("at_least", "at_most", "within")
    )
    assert low or high, "a number is on one side of another"
    assert equal == (low and high)
    assert equal == agrees("within", simulated, tolerance, published) or math.isclose(
        abs(simulated - published), tolerance, rel_tol=1e-6, abs_tol=1e-2
    )
    plain = value(published, tolerance=tolerance)
    argued = value(
        published, tolerance=tolerance, explained=Explained("why", expected, "where", also)
    )
    verdict, alone = judge(argued, simulated), judge(plain, simulated)
    assert alone in {"reproduced", "missed"}
    assert (verdict == "reproduced") == (alone == "reproduced"), "an argument never makes it worse"
    if verdict == "explained":
        assert abs(simulated - expected) <= also + 1e-9 * abs(expected)
    if alone == "missed" and abs(simulated - expected) > also * 1.001 + 1e-2:
        assert verdict == "missed"


@pytest.mark.parametrize("kind", NUMBERS)
def test_an_explanation_covers_what_it_expects_only(kind: Kind) -> None:
    published = {"within": 10.0, "at_most": 5.0, "at_least": 30.0}[kind]
    argued = value(published, kind, explained=Explained("why", 20.0, "where", 0.25))
    verdicts = {number: judge(argued, number) for number in (19.7, 19.75, 20, 20.25, 20.3)}
    assert verdicts == {
        19.7: "missed",
        19.75: "explained",
        20: "explained",
        20.25: "explained",
        20.3: "missed",
    }
    assert judge(argued, published) == "reproduced"
    assert judge(argued, NAN) == "missed"


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_hypothesis_explains_what_is_as_published_under_it(kind: Kind) -> None:
    wrong = {"within": 7.0, "at_most": 12.0, "at_least": 8.0}[kind]
    argued = value(10.0, kind, explained=Explained("why", hypothesis="other"))
    assert judge(argued, wrong, {"other": 10.0, "more": wrong}) == "explained"
    assert judge(argued, wrong, {"other": wrong, "more": 10.0}) == "missed"
    assert judge(argued, wrong, {"other": NAN}) == "missed"
    assert judge(argued, wrong, {"more": 10.0}) == judge(argued, wrong) == "missed"
    assert judge(argued, 10.0, {"other": wrong}) == "reproduced"


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("number", [NAN, math.inf, -math.inf])
def test_nan_is_not_equal(kind: Kind, number: float) -> None:
    bound = (kind, number) in {("at_most", -math.inf), ("at_least", math.inf)}
    assert judge(value(1.0, kind, tolerance=1e300), number) == ("reproduced" if bound else "missed")


def test_an_order_is_of_numbers_that_differ() -> None:
    stated = value(("a", "b", "c"), "order")
    assert judge(stated, {"c": 3.0, "a": 1.0, "b": 2.0}) == "reproduced"
    for others in (
        {"a": 1.0, "b": 3.0, "c": 2.0},
        {"a": 1.0, "b": 1.0, "c": 2.0},
        {"a": 1.0, "b": 2.0},
        {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0},
        {"a": 1.0, "b": NAN, "c": 3.0},
        {"a": NAN, "b": 2.0, "c": 3.0},
        {"a": 1.0, "b": 2.0, "c": NAN},
    ):
        assert judge(stated, others) == "missed", others
    argued = value(("a", "b", "c"), "order", explained=Explained("why", ("a", "c", "b"), "where"))
    assert judge(argued, {"a": 1.0, "b": 3.0, "c": 2.0}) == "explained"
    assert judge(argued, {"a": 3.0, "b": 2.0, "c": 1.0}) == "missed"


@given(st.permutations("abcde"), st.lists(st.floats(-1e9, 1e9), min_size=5, max_size=5))
def test_an_order_does_not_depend_on_where_names_stand(
    names: list[str], found: list[float]
) -> None:
    by_name = dict(zip(names, found, strict=True))
    pairs = list(zip("abcd", "bcde", strict=True))
    ascending = all(by_name[one] < by_name[other] for one, other in pairs)
    assert agrees("order", tuple("abcde"), 0, by_name) == ascending


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
    wavy = [0, 2, 1.75, 4]
    assert [has_shape("rises", wavy, tolerance) for tolerance in (0.2, 0.25)] == [False, True]
    assert [has_shape("falls", wavy[::-1], tolerance) for tolerance in (0.2, 0.25)] == [False, True]
    assert not has_shape("rises", [1, 0.9, 0.95], 5), "the ends are not the other way round"
    bumpy = [0, 3, 2.75, 4, 1, 1.25, 0]
    shape = "rises, then falls"
    assert [has_shape(shape, bumpy, tolerance) for tolerance in (0.2, 0.25)] == [False, True]
    nearly = [1, 2, 1.5]
    assert [has_shape("level", nearly, tolerance) for tolerance in (0.9, 1)] == [False, True]
    assert [has_shape("not level", nearly, tolerance) for tolerance in (0.9, 1)] == [True, False]
    small = [0.5, 0, -0.5]
    shape = "positive, then negative"
    assert [has_shape(shape, small, tolerance) for tolerance in (0.4, 0.5)] == [True, False]


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
        ("within", 1.0, {"a": 1.0}),
        ("at_most", 1.0, [1.0, 2.0, 3.0]),
        ("at_least", 1.0, "1.0"),
        ("order", ("a", "b"), [1.0, 2.0]),
        ("order", ("a", "b"), 1.0),
        ("shape", "level", 1.0),
        ("shape", "level", [1.0, 1.0]),
        ("shape", "level", {"a": 1.0, "b": 1.0, "c": 1.0}),
    ],
)
def test_incomparable_values_are_an_error(kind: Kind, published: Any, simulated: Any) -> None:
    with pytest.raises(TypeError):
        judge(value(published, kind), simulated)


def test_the_worst_verdict_is_that_of_all() -> None:
    assert worst(["reproduced", "reproduced"]) == "reproduced"
    assert worst(["explained", "reproduced"]) == "explained"
    assert worst(["explained", "missed", "reproduced"]) == "missed"
