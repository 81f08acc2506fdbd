"""The engine of the papers: verdicts, data files, and what it keeps of earlier runs."""

from __future__ import annotations

import ast
import json
import math
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from hypothesis import given
from hypothesis import strategies as st
from sledsim import _core, papers
from sledsim.cli import main
from sledsim.papers import Explained, Published, engine, model, versions
from sledsim.papers.judge import agrees, has_shape, judge, worst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.papers.model import Kind

PACKAGE = Path(model.__file__).parent
ITEMS = papers.find([])
NUMBERS: tuple[Kind, ...] = ("within", "at_most", "at_least")
NAN = float("nan")


def value(published: Any, kind: Kind = "within", **more: Any) -> Published:
    return Published("key", "what", published, "Table 1", kind=kind, **more)


# Verdicts


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
def test_what_is_no_number_is_not_equal(kind: Kind, number: float) -> None:
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


def test_how_far_a_curve_may_go_the_wrong_way() -> None:
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
def test_what_cannot_be_compared_is_an_error(kind: Kind, published: Any, simulated: Any) -> None:
    with pytest.raises(TypeError):
        judge(value(published, kind), simulated)


def test_the_worst_verdict_is_that_of_all() -> None:
    assert worst(["reproduced", "reproduced"]) == "reproduced"
    assert worst(["explained", "reproduced"]) == "explained"
    assert worst(["explained", "missed", "reproduced"]) == "missed"


# Data files


PAPER = """
order = 2001
title = "A paper"
authors = "Its authors"
published = "Somewhere 2001"
items = ["table1"]
[[left_out]]
place = "Figure 1"
because = "A drawing."
"""
TABLE = """
title = "A table"
place = "Table 1"
how = "Somehow."
[hypotheses]
other = "Something else."
[values.mean]
what = "mean"
published = 2.0
tolerance = 0.1
[values.mean.explained]
expected = 3
because = "For a reason."
source = "A book."
[values.fastest]
what = "devices"
published = ["a", "b"]
kind = "order"
[values.curve]
what = "curve"
published = "rises"
kind = "shape"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder of papers in place of the package's, with one paper in it."""
    own = tmp_path / "papers" / "paper2001"
    own.mkdir(parents=True)
    (own / "paper.toml").write_text(PAPER)
    (own / "table1.toml").write_text(TABLE)
    (own / "table1.py").write_text("")
    monkeypatch.setattr(model, "_FOLDER", tmp_path / "papers")
    monkeypatch.setattr(papers, "__path__", [str(tmp_path / "papers"), *papers.__path__])
    model.papers.cache_clear()
    yield own
    model.papers.cache_clear()
    for name in [name for name in sys.modules if name.startswith("sledsim.papers.paper2001")]:
        del sys.modules[name]


@pytest.mark.usefixtures("folder")
def test_a_data_file_is_read_as_it_stands() -> None:
    (paper,) = papers.papers()
    assert (paper.name, paper.title, paper.left_out[0].place) == (
        "paper2001",
        "A paper",
        "Figure 1",
    )
    (item,) = paper.items
    mean, fastest, curve = item.values
    assert (item.id, item.hypotheses) == ("paper2001/table1", {"other": "Something else."})
    assert (mean.key, mean.place, mean.published, mean.tolerance) == ("mean", "Table 1", 2.0, 0.1)
    assert mean.explained == Explained("For a reason.", 3.0, "A book.")
    assert (fastest.published, curve.published) == (("a", "b"), "rises")
    assert item.data == TABLE


WRONG = {
    # what is in the file, what stands there instead, what the error must say
    'title = "A table"': [
        ('title = "A table"\ncolour = "red"', ["unknown key colour"]),
        ("", ["title is missing"]),
        ("title = 7", ["title = 7: must be str"]),
        ("title = ", ["line 2"]),
        ("title = true", ["title = True: must be str"]),
    ],
    'how = "Somehow."': [("", ["how is missing"])],
    'other = "Something else."': [("other = 7", ["hypotheses.other = 7: must be str"])],
    'what = "mean"': [
        ("", ["values.mean.what is missing"]),
        ('what = "mean"\nunits = "ms"', ["unknown key values.mean.units"]),
        ('what = "mean"\nkind = "about"', ["values.mean.kind", "'about'", "within", "at_most"]),
    ],
    "published = 2.0": [
        ("", ["values.mean.published is missing"]),
        ('published = "2.0"', ["values.mean.published = '2.0': must be int or float"]),
        ("published = true", ["values.mean.published = True"]),
        ("published = nan", ["values.mean.published = nan: must be finite"]),
        ("published = inf", ["values.mean.published = inf: must be finite"]),
    ],
    "tolerance = 0.1": [
        ("tolerance = -0.1", ["values.mean.tolerance = -0.1", "0.0 or more"]),
        ('tolerance = "much"', ["values.mean.tolerance = 'much'"]),
        ("tolerance = inf", ["values.mean.tolerance = inf"]),
    ],
    "expected = 3": [
        ("", ["values.mean.explained.expected is missing"]),
        ('expected = "3"', ["values.mean.explained.expected = '3'"]),
        ("expected = 3\nvalue = 3", ["unknown key values.mean.explained.value"]),
        ("expected = 3\ntolerance = -1", ["values.mean.explained.tolerance = -1"]),
        ('hypothesis = "some"', ["values.mean.explained.hypothesis = 'some': must be other"]),
        ('hypothesis = "other"', ["unknown key values.mean.explained.source"]),
    ],
    'because = "For a reason."': [("", ["values.mean.explained.because is missing"])],
    'source = "A book."': [("", ["values.mean.explained.source is missing"])],
    'published = ["a", "b"]': [
        ('published = ["a"]', ["values.fastest.published", "two names"]),
        ('published = ["a", "a"]', ["values.fastest.published", "each once"]),
        ("published = [1, 2]", ["values.fastest.published", "strings"]),
        ('published = "a < b"', ["values.fastest.published = 'a < b': must be list"]),
    ],
    'published = "rises"': [
        ('published = "wobbles"', ["values.curve.published", "'wobbles'", "rises, then falls"]),
        ("published = 1.0", ["values.curve.published = 1.0: must be str"]),
    ],
    TABLE[TABLE.index("[values.mean]") :]: [
        ("", ["values", "one value or more"]),
        ("[values]\nmean = 7", ["values.mean = 7: must be a table"]),
        ('[[values]]\nwhat = "mean"\npublished = 2', ["values = ", "must be dict"]),
    ],
}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [(old, new, says) for old, many in WRONG.items() for new, says in many],
)
def test_a_wrong_item_is_one_clear_error(folder: Path, old: str, new: str, says: list[str]) -> None:
    assert TABLE.count(old) == 1
    (folder / "table1.toml").write_text(TABLE.replace(old, new))
    _refused(str(folder / "table1.toml"), *says)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("order = 2001", "", ["order is missing"]),
        ("order = 2001", 'order = "2001"', ["order = '2001'"]),
        ('title = "A paper"', 'title = "A paper"\nyear = 2001', ["unknown key year"]),
        ('authors = "Its authors"', "", ["authors is missing"]),
        ('items = ["table1"]', "", ["items is missing"]),
        ('items = ["table1"]', 'items = "table1"', ["items = 'table1': must be list"]),
        ('items = ["table1"]', "items = [1]", ["items = [1]", "strings"]),
        ('items = ["table1"]', 'items = ["table1", "table1"]', ["items", "each once"]),
        ('because = "A drawing."', "", ["left_out.0.because is missing"]),
        ('because = "A drawing."', 'because = "A."\nwhy = 1', ["unknown key left_out.0.why"]),
        ("[[left_out]]", "[left_out]", ["left_out = ", "must be list"]),
        ('published = "Somewhere 2001"', "published = [", ["line"]),
    ],
)
def test_a_wrong_paper_is_one_clear_error(
    folder: Path, old: str, new: str, says: list[str]
) -> None:
    assert PAPER.count(old) == 1
    (folder / "paper.toml").write_text(PAPER.replace(old, new))
    _refused(str(folder / "paper.toml"), *says)


def test_a_file_that_cannot_be_read_is_one_clear_error(folder: Path) -> None:
    (folder / "table1.toml").write_bytes(b'title = "\xff"')
    _refused(str(folder / "table1.toml"), "utf-8")
    (folder / "table1.toml").unlink()
    _refused(str(folder / "table1.toml"), "No such file")


def _refused(*says: str) -> None:
    model.papers.cache_clear()
    with pytest.raises(ss.SledsimError) as error:
        papers.papers()
    for text in says:
        assert text in str(error.value)
    assert "\n" not in str(error.value)


# What the package has


def test_papers_are_found_by_name() -> None:
    ids = [item.id for item in ITEMS]
    assert len(ids) == len(set(ids)) > 0
    for paper in papers.papers():
        assert papers.find([paper.name]) == list(paper.items)
    last, first = ITEMS[-1], ITEMS[0]
    assert papers.find([last.id, first.id, last.id]) == [first, last], "in order, each once"
    assert papers.find([first.paper, first.id]) == papers.find([first.paper])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("sigmetrics", ["unknown paper 'sigmetrics'", "sigmetrics2000"]),
        (
            "sigmetrics2000/table9",
            ["unknown item 'sigmetrics2000/table9'", "sigmetrics2000/table2"],
        ),
        ("nowhere/table1", ["'nowhere/table1'", "sigmetrics2000"]),
        ("", ["unknown paper ''"]),
    ],
)
def test_an_unknown_name_is_told_what_there_is(name: str, says: list[str]) -> None:
    with pytest.raises(ss.SledsimError) as error:
        papers.find([ITEMS[0].id, name])
    for text in says:
        assert text in str(error.value)


def test_all_data_files_belong_to_an_item_with_code() -> None:
    listed = {PACKAGE / item.folder / f"{item.name}.toml" for item in ITEMS}
    assert listed == {file for file in PACKAGE.glob("*/*.toml") if file.name != "paper.toml"}, (
        "an item that its paper.toml does not list"
    )
    for item in ITEMS:
        assert callable(item.module.simulate), item.id
        assert item.code == Path(str(item.module.__file__)).read_text("utf-8")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_every_value_says_what_it_must(item: model.Item) -> None:
    assert item.title
    assert item.place
    assert item.how
    for stated in item.values:
        assert stated.what, stated.key
        assert stated.place, stated.key
        if stated.kind in NUMBERS and stated.tolerance:
            assert stated.tolerance_because, f"{stated.key}: where is its tolerance from?"
        if (why := stated.explained) is not None:
            assert why.because, stated.key
            assert bool(why.source) != bool(why.hypothesis), stated.key
            assert why.expected != stated.published, stated.key


PARAMETERS: dict[str, set[float]] = {}
"""Numbers in the code of an item that are parameters, although the paper also has them as values
of it."""


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_no_published_value_stands_in_the_code(item: model.Item) -> None:
    assert not typed(item.code, item) - PARAMETERS.get(item.id, set())


def test_a_typed_value_would_be_found() -> None:
    (table1,) = papers.find(["sigmetrics2000/table1"])
    code = "x = 114.8\ny = {'tips': -1280}\nz = 100 * 2**30 + 8"
    assert typed(code, table1) == {114.8, 1280}


def typed(code: str, item: model.Item) -> set[float]:
    """Return the published or expected numbers of an item in a code, but for round ones."""
    stated = [entry.published for entry in item.values]
    argued = [entry.explained.expected for entry in item.values if entry.explained]
    numbers = {abs(number) for number in (*stated, *argued) if isinstance(number, float)}
    literals = {
        node.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant) and type(node.value) in {int, float}
    }
    # Of one digit, as 100, or an integer of two, it may as well be a factor or a count.
    return {
        literal
        for literal in numbers.intersection(literals)
        if len(f"{literal:.15g}".replace(".", "").strip("0")) >= (2 if literal % 1 else 3)
    }


# Running, and what is kept


GOOD = """
from matplotlib.figure import Figure
from sledsim.papers import Found

def simulate(*, quick: bool) -> Found:
    mean = 2.05 if quick else 2.0
    return Found(
        {"mean": mean, "fastest": {"a": 1.0, "b": 2.0}, "curve": (1.0, 2.0, 3.0)},
        {"other": {"mean": 4.0}},
        {"drawn": [[1.0, 2.0], [3.0, 4.0]]},
    )
"""


@pytest.fixture
def runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the item code, and list what is simulated."""
    (folder / "table1.py").write_text(GOOD)
    simulated: list[str] = []
    usual = engine.simulate

    def counted(name: str, *, quick: bool) -> engine.Result:
        simulated.append(name)
        return usual(name, quick=quick)

    monkeypatch.setattr(engine, "simulate", counted)
    return simulated


def test_a_second_run_reads_what_the_first_has_left(tmp_path: Path, runs: list[str]) -> None:
    calls: list[tuple[int, int | None]] = []

    def run() -> engine.Result:
        calls.clear()
        (result,) = papers.run(
            papers.find([]),
            tmp_path / "out",
            workers=1,
            progress=lambda done, of: calls.append((done, of)),
        )
        return result

    first = run()
    assert (runs, calls[0], calls[-1]) == (["paper2001/table1"], (0, 1), (1, 1))
    files = {file.name: file.read_bytes() for file in (tmp_path / "out" / "paper2001").iterdir()}
    assert set(files) == {"table1.json", "table1.png", "table1.svg", "table1.key"}
    assert json.loads(files["table1.json"]) == first.document
    assert (files["table1.svg"].decode(), files["table1.png"]) == (first.svg, first.png)
    second = run()
    assert (len(runs), set(calls)) == (1, {(1, 1)})
    assert second == first
    wrong = {name: content[:-1] + b"?" for name, content in files.items()}
    for name, content in [
        *wrong.items(),
        ("table1.svg", files["table1.svg"][:-1]),
        ("table1.png", None),
    ]:
        file = tmp_path / "out" / "paper2001" / name
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        before = len(runs)
        assert run() == first
        assert len(runs) == before + 1, f"{name} has changed"
        assert file.read_bytes() == files[name], "the same bytes"


def test_another_version_reads_nothing(
    tmp_path: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    items = papers.find([])
    papers.run(items, tmp_path, workers=1)
    monkeypatch.setattr(versions, "version_of", lambda _item, *, quick: f"another {quick}")
    papers.run(items, tmp_path, workers=1)
    papers.run(items, tmp_path, workers=1)
    assert len(runs) == 2


def test_what_changes_while_an_item_runs_is_not_kept(
    tmp_path: Path, folder: Path, runs: list[str]
) -> None:
    """Nobody knows which code a worker had: the files are written, and never read."""
    items = papers.find([])
    papers.run(items, tmp_path, workers=1)
    own = tmp_path / "paper2001"
    (own / "table1.json").unlink()
    (folder / "table1.py").write_text(GOOD + "\n")
    for count in (2, 3):
        papers.run(items, tmp_path, workers=1)
        assert len(runs) == count
        left = {file.name for file in own.iterdir()}
        assert left == {"table1.json", "table1.png", "table1.svg"}


VERSIONED = """
from sledsim.papers import Found

def simulate(*, quick: bool) -> Found:
    from sledsim.papers.paper2001 import beside
    return Found({"mean": beside.MEAN})
"""
CHANGES = {
    # what is changed, and whether it is another version: of a quick run, of a real-time one
    "papers/paper2001/versioned.py": (True, True),
    "papers/paper2001/versioned.toml": (True, True),
    "papers/paper2001/beside.py": (True, True),
    "papers/paper2001/further.py": (True, True),
    "papers/paper2001/devices/one.toml": (True, True),
    "papers/paper2001/__init__.py": (True, True),
    "papers/msst2005/prices.py": (True, True),
    "papers/msst2005/runs.py": (True, True),
    "papers/judge.py": (True, True),
    "papers/engine.py": (True, True),
    "papers/pictures.py": (True, True),
    "papers/simulations.py": (True, True),
    "outcomes.py": (True, True),
    "devices/sleds.py": (True, True),
    "power.py": (True, True),
    "__init__.py": (True, True),
    "data/traces/sqlite.parquet": (True, True),
    "data/traces/postmark-ext4.trace.gz": (True, True),
    "applications/outcome.py": (True, True),
    "papers/paper2001/table1.py": (False, True),
    "papers/paper2001/table1.toml": (False, True),
    "papers/msst2005/figure4.py": (False, True),
    "papers/page.py": (False, True),
    "papers/page_template.html": (False, True),
    "cli/papers.py": (False, True),
    "emulator/server.py": (False, True),
}


def test_the_version_is_of_all_that_an_item_depends_on(tmp_path: Path) -> None:
    """Each file of a copy of the package is changed in turn; tools and core, too."""
    copy = _planted(tmp_path, deep=True)
    before, *others = json.loads(_python(copy, VERSIONS, CHANGES=json.dumps([*CHANGES])))
    assert before[0] != before[1]
    after = dict(zip([*CHANGES, "renamed", "core", "Python", "tool"], others, strict=True))
    changed = {
        file: tuple(new != old for new, old in zip(both, before, strict=True))
        for file, both in after.items()
    }
    assert changed == CHANGES | dict.fromkeys(["renamed", "core", "Python", "tool"], (True, True))
    versions = [version for both in [before, *others] for version in both]
    assert len(set(versions)) == 2 + sum(sum(each) for each in changed.values())
    assert json.loads(_python(copy, VERSIONS, CHANGES="[]"))[0] == before, "in each process"


def test_every_module_that_a_run_imports_is_in_its_version() -> None:
    """As Python itself tells: nothing of a paper is loaded that the version does not know."""
    code = """
        import json, sys
        from sledsim import papers
        from sledsim.papers import versions
        names = {}
        of_papers = tuple(f"sledsim.papers.{item.folder}" for item in papers.find([]))
        for item in papers.find([]):
            for name in list(sys.modules):
                if name.startswith(of_papers):
                    del sys.modules[name]
            item.module
            loaded = {name for name in sys.modules if name.startswith("sledsim.papers.")}
            names[item.id] = sorted(loaded - set(versions.modules_of(item)))
        print(json.dumps(names))
    """
    unknown = json.loads(_python(Path(ss.__file__).parent, code))
    assert set(unknown) == {item.id for item in ITEMS}
    assert not any(unknown.values()), unknown


@pytest.mark.parametrize("name", versions.APART)
def test_only_real_time_items_lead_to_what_is_apart(name: str) -> None:
    reached = {
        item.id
        for item in ITEMS
        if any(module.split(".")[1] == name for module in versions.modules_of(item))
    }
    assert reached <= {item.id for item in ITEMS if item.real_time}


def test_quick_and_full_runs_are_kept_apart(tmp_path: Path, runs: list[str]) -> None:
    items = papers.find([])
    (quick,) = papers.run(items, tmp_path, quick=True, workers=1)
    (full,) = papers.run(items, tmp_path, workers=1)
    assert papers.run(items, tmp_path, quick=True, workers=1) == [quick]
    assert papers.run(items, tmp_path, workers=1) == [full]
    assert len(runs) == 2
    assert [result.document["values"][0]["simulated"] for result in (quick, full)] == [2.05, 2.0]
    assert (quick.document["quick"], full.document["quick"]) == (True, False)
    # Nor does one pass for the other when its files are copied.
    shutil.copytree(tmp_path / "quick" / "paper2001", tmp_path / "paper2001", dirs_exist_ok=True)
    assert papers.run(items, tmp_path, workers=1) == [full]
    assert len(runs) == 3


def test_a_document_has_values_verdicts_and_hypotheses(tmp_path: Path, runs: list[str]) -> None:
    (result,) = papers.run(papers.find([]), tmp_path, workers=1)
    assert runs
    document = result.document
    mean, fastest, curve = document["values"]
    assert (document["id"], document["verdict"]) == ("paper2001/table1", "reproduced")
    assert mean["hypotheses"] == {"other": {"simulated": 4.0, "verdict": "missed"}}
    assert (mean["simulated"], mean["published"], mean["tolerance"]) == (2.0, 2.0, 0.1)
    assert (fastest["simulated"], curve["simulated"]) == ({"a": 1.0, "b": 2.0}, [1.0, 2.0, 3.0])
    assert fastest["hypotheses"] == curve["hypotheses"] == {}
    assert document["series"] == {"drawn": [[1.0, 2.0], [3.0, 4.0]]}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"mean": mean, ', "", "paper2001/table1: values mean"),
        ('"mean": mean', '"mean": mean, "more": 1.0', "paper2001/table1: values more"),
        ('{"other": {"mean": 4.0}}', "{}", "paper2001/table1: hypotheses other"),
        ('{"mean": 4.0}', '{"means": 4.0}', "paper2001/table1: values under other means"),
        ("2.0\n", 'float("nan")\n', "paper2001/table1: .*JSON"),
        ("[[1.0, 2.0]", "[object()", "paper2001/table1: .*JSON"),
    ],
)
@pytest.mark.usefixtures("runs")
def test_what_does_not_fit_is_one_clear_error(
    folder: Path, tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert GOOD.count(old) == 1
    (folder / "table1.py").write_text(GOOD.replace(old, new))
    with pytest.raises(ss.SledsimError, match=says):
        papers.run(papers.find([]), tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path, runs: list[str]) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(ss.SledsimError, match="taken"):
        papers.run(papers.find([]), tmp_path / "taken", workers=1)
    assert runs


def test_an_interrupted_run_leaves_whole_items(tmp_path: Path) -> None:
    items = papers.find(["sigmetrics2000/table1", "sigmetrics2000/table2"])

    def stop(done: int, _of: int | None) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        papers.run(items, tmp_path, quick=True, workers=1, progress=stop)
    left = sorted(file.name for file in (tmp_path / "quick").rglob("*") if file.is_file())
    assert left == ["table1.json", "table1.key", "table1.png", "table1.svg"]
    assert engine._read(items[0], tmp_path / "quick", quick=True) is not None


def test_the_same_bytes_in_one_process_as_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with a store of its own, which has the same bytes, too."""
    monkeypatch.delenv("SLEDSIM_OUTCOMES", raising=False)
    items = papers.find(["sigmetrics2000/table1", "sigmetrics2000/table2"])
    results, files = [], []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        results.append(papers.run(items, folder, quick=True, workers=workers))
        found = sorted(file for file in folder.rglob("*") if file.is_file())
        files.append({str(file.relative_to(folder)): file.read_bytes() for file in found})
    assert files[0] == files[1]
    assert len([name for name in files[0] if name.startswith("quick")]) == 8
    assert len([name for name in files[0] if name.startswith("outcomes")]) == 18
    assert results[0] == results[1]
    assert [result.item for result in results[0]] == items
    (tmp_path / "1" / "quick" / "sigmetrics2000" / "table1.key").unlink()
    assert papers.run(items, tmp_path / "1", quick=True, workers=1) == results[0]
    for name, content in files[0].items():
        assert str(tmp_path).encode() not in content, name


def test_the_command_says_what_is_missed(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its exit code and in a table with what is published and what is simulated."""
    for mean, code in ((2.0, 0), (2.25, 1)):
        (folder / "table1.py").write_text(GOOD.replace("2.05 if quick else 2.0", str(mean)))
        sys.modules.pop("sledsim.papers.paper2001.table1", None)
        output = tmp_path / str(mean)
        assert main(["papers", "run", "paper2001/table1", "-o", str(output)]) == code
        said = capsys.readouterr().out
        assert ("missed" in said.split("\n", 1)[1], "2.25" in said) == (bool(code), bool(code))
        assert main(["papers", "report", "-o", str(output), "--json"]) == code
        assert json.loads(capsys.readouterr().out) == {
            "report": str(output / "report.html"),
            "items": 1,
            "verdicts": {"missed" if code else "reproduced": 1},
        }
        assert "A table" in (output / "report.html").read_text("utf-8")


# Workers: in a copy of the package, as they import it


IGNORED = shutil.ignore_patterns("__pycache__")

SLEEPS = """
    import os, time
    from multiprocessing import current_process
    from pathlib import Path

    def simulate(*, quick):
        sleeper = Path(os.environ["SLEEPER"])
        if os.environ.get("DIES") != current_process().name:
            sleeper.write_text(str(os.getpid()))
            time.sleep(600)
        while not sleeper.exists():
            time.sleep(0.01)
        os._exit(3)
    """
RAISES = """
    import os, time
    from pathlib import Path

    def simulate(*, quick):
        while not Path(os.environ["SLEEPER"]).exists():
            time.sleep(0.01)
        raise ValueError("on purpose")
    """


def _planted(folder: Path, *, deep: bool = False) -> Path:
    """Copy the package, a paper of our own in it; all but the core if it is to be deep."""
    source, copy = Path(ss.__file__).parent, folder / "sledsim"
    copy.mkdir()
    for entry in source.iterdir():
        if entry.name in {"papers", "__pycache__"}:
            continue
        if deep and entry.is_dir():
            shutil.copytree(entry, copy / entry.name, ignore=IGNORED)
        elif deep and entry != Path(_core.__file__):
            shutil.copyfile(entry, copy / entry.name)
        else:
            (copy / entry.name).symlink_to(entry)
    shutil.copytree(PACKAGE, copy / "papers", ignore=IGNORED)
    own = copy / "papers" / "paper2001"
    own.mkdir()
    (own / "__init__.py").write_text("")
    codes = {
        "table1": GOOD,
        "raises": RAISES,
        "sleeps": SLEEPS,
        "dies": SLEEPS,
        "versioned": VERSIONED,
    }
    names = ", ".join(f'"{name}"' for name in codes)
    (own / "paper.toml").write_text(PAPER.replace('"table1"', names))
    for name, code in codes.items():
        (own / f"{name}.py").write_text(textwrap.dedent(code))
        (own / f"{name}.toml").write_text(TABLE)
    (own / "beside.py").write_text("from . import further\nMEAN = further.MEAN\n")
    (own / "further.py").write_text("import sledsim.papers.msst2005.prices\nMEAN = 2.0\n")
    (own / "devices").mkdir()
    (own / "devices" / "one.toml").write_text('base = "g2"\n')
    return copy


def _python(copy: Path, code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env=os.environ | {"PYTHONPATH": str(copy.parent)} | environment,
        cwd=copy.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


VERSIONS = """
    import dataclasses, json, os, sys
    from pathlib import Path
    from sledsim import papers
    from sledsim.papers import versions

    (item,) = papers.find(["paper2001/versioned"])
    real = dataclasses.replace(item, real_time=True)
    package = Path(versions.__file__).parents[1]
    own = package / "papers" / "paper2001" / "devices"
    assert package.parent == Path.cwd()

    def both():
        # As a process finds them that has just begun; a line more imports nothing else.
        for function in vars(versions).values():
            slow = function in (versions.core_digest, versions._imported)
            if hasattr(function, "cache_clear") and not slow:
                function.cache_clear()
        assert versions.is_current(item, quick=True)
        quick, now = (versions.version_of(real, quick=quick) for quick in (True, False))
        for other in (True, False):
            assert quick == versions.version_of(item, quick=other)
        return quick, now

    found = [both()]
    for name in json.loads(os.environ["CHANGES"]):
        file = package / name
        content = file.read_bytes()
        assert both() == found[0]
        file.write_bytes(content + b"\\n")
        current = versions.is_current(item, quick=True)
        found.append(both())
        assert current == (found[-1][0] == found[0][0]), name
        file.write_bytes(content)
    (own / "one.toml").rename(own / "two.toml")
    found.append(both())
    (own / "two.toml").rename(own / "one.toml")
    for object, name, other in (
        (versions, "core_digest", lambda: "another"),
        (sys, "version", "another"),
        (versions, "_version_of_tool", lambda name: "another"),
    ):
        usual = getattr(object, name)
        setattr(object, name, other)
        found.append(both())
        setattr(object, name, usual)
    assert both() == found[0]
    print(json.dumps(found))
"""

RUN = """
    import os, time
    from pathlib import Path
    from sledsim import papers

    def stop(done, of):
        if {stop} and Path(os.environ["SLEEPER"]).exists():
            raise KeyboardInterrupt

    started = time.monotonic()
    try:
        papers.run(papers.find({names}), Path("out"), workers=2, progress=stop)
    except BaseException as error:
        print(type(error).__name__, "|", error, "|", time.monotonic() - started < 30)
"""


@pytest.mark.parametrize(
    ("other", "dies", "kind", "says"),
    [
        ("raises", "", "ValueError", "on purpose"),
        ("dies", "SpawnProcess-1", "SledsimError", "died"),
        ("dies", "SpawnProcess-2", "SledsimError", "died"),
        ("table1", "", "KeyboardInterrupt", ""),
    ],
)
def test_an_end_ends_all_workers(
    tmp_path: Path, other: str, dies: str, kind: str, says: str
) -> None:
    copy, sleeper = _planted(tmp_path), tmp_path / "sleeper"
    names = ["paper2001/sleeps", f"paper2001/{other}"]
    code = RUN.replace("{names}", repr(names)).replace("{stop}", repr(other == "table1"))
    found, text, fast = _python(copy, code, SLEEPER=str(sleeper), DIES=dies).split(" | ")
    assert (found, fast) == (kind, "True")
    assert says in text
    with pytest.raises(ProcessLookupError):
        os.kill(int(sleeper.read_text()), 0)
    left = {file.name for file in (tmp_path / "out").rglob("*") if file.is_file()}
    assert left <= {"table1.json", "table1.key", "table1.png", "table1.svg"}, left
