"""The data files of the papers: reading, and the content of those of the package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers import model

from tests.own_paper import PAPER, SETUP, TABLE, folder

__all__ = ["folder"]  # a fixture

PACKAGE = Path(model.__file__).parent
ITEMS = papers.find([])


# Data files


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
    (other,) = item.readings
    assert (item.id, other.what, paper.how) == ("paper2001/table1", "Something else.", "One disk.")
    assert (mean.key, mean.place, mean.published, mean.tolerance) == ("mean", "Table 1", "2.0", 0.1)
    assert (fastest.published, curve.published) == (("a", "b"), "rises")
    assert item.setup == {"factor": 1.0, "disk": {"base": "atlas10k", "bus": 2}}
    assert other.setup == {"factor": 2.0, "disk": {"base": "atlas10k", "bus": 3}}, "laid over it"
    assert item.data == TABLE


EXCLUDED = 'contradiction = { arithmetic = "other - 1", numbers = { other = "more" } }'
EXCLUDES = f"""{EXCLUDED}
class = "contradiction"
because = "More is 3.0."
[values.more]
what = "more"
published = "3.0"
[values.mean_again]
what = "again"
published = "2.0"
"""
"""Keys of the mean that the arithmetic does not exclude: 2.0 follows from 3.0."""

WRONG = {
    # text of the file, its replacement, words of the error
    'title = "A table"': [
        ('title = "A table"\ncolour = "red"', ["unknown key colour"]),
        ("", ["title is missing"]),
        ("title = 7", ["title = 7: must be str"]),
        ("title = ", ["line 2"]),
        ("title = true", ["title = True: must be str"]),
    ],
    'how = "Somehow."': [
        ("", ["how is missing"]),
        ('how = "Somehow."\ndisksim = true', ["disksim = True", "setup.toml has no table disksim"]),
    ],
    'readings = ["other"]': [
        ('readings = ["some"]', ["readings = 'some': must be of setup.toml: other"]),
        ('readings = "other"', ["readings = 'other': must be list"]),
    ],
    'what = "mean"': [
        ("", ["values.mean.what is missing"]),
        ('what = "mean"\nunits = "ms"', ["unknown key values.mean.units"]),
        ('what = "mean"\nkind = "at_most"', ["values.mean.kind", "'at_most'", "within, between"]),
        ('what = "mean"\nclass = "lucky"', ["values.mean.class = 'lucky'", "calibrated"]),
        ('what = "mean"\nclass = "input"', ["values.mean.because is missing"]),
        (
            'what = "mean"\nclass = "erratum"\nbecause = "So."',
            ["values.mean.class = 'erratum'", "expected.arithmetic"],
        ),
        (
            'class = "erratum"\nbecause = "-"\nwhat = "-"\nexpected = {value=2, arithmetic="2"}',
            ["values.mean.published = '2.0'", "other than 2, its arithmetic"],
        ),
        ('what = "mean"\nexpected = { value = 3 }', ["values.mean.expected.value", "arithmetic"]),
        (
            'what = "mean"\nexpected = { value = 3, arithmetic = "1 + 1" }',
            ["values.mean.expected.value = 3.0: must be what 1 + 1 gives: 2"],
        ),
        (
            'what = "mean"\nexpected = { value = 3, arithmetic = "f(3)" }',
            ["values.mean.expected.arithmetic = 'f(3)'", "sqrt"],
        ),
        (
            'what = "mean"\nexpected = { value = 3, computed = "a.b", tolerance = 2 }',
            ["values.mean.expected.because is missing"],
        ),
        (
            'what = "mean"\nhistory = [{ key = "kind", old = "a", new = "b" }]',
            ["values.mean.history.0.why is missing"],
        ),
    ],
    'published = "2.0"': [
        ("", ["values.mean.published is missing"]),
        ("published = 2.0", ["values.mean.published = 2.0: must be str"]),
        ('published = "two"', ["values.mean.published = 'two'", "digits as printed"]),
        ('published = "nan"', ["values.mean.published = 'nan'", "digits as printed"]),
        ('published = "inf"', ["values.mean.published = 'inf'", "digits as printed"]),
        ('kind = "between"\npublished = ["2"]', ["values.mean.published", "two numbers"]),
        ('kind = "between"\npublished = ["2", "1"]', ["values.mean.published", "smaller one"]),
        ('kind = "between"\npublished = ["1.5", "2"]', ["values.mean.published", "last digit"]),
        ('published = "2.0"\npercent = "more"', ["values.mean.percent = 'more'", "in %"]),
        ('published = "2.0"\npercent = "up"', ["values.mean.percent = 'up'", "more, less"]),
        ('published = "2.0"\ncause = "luck"', ["values.mean.cause = 'luck'", "it has none"]),
        ('published = "2.0"\nrepeats = "table1.none"', ["values.mean.repeats", "ITEM.KEY"]),
        ('published = "2.0"\nrepeats = "table1.mean"', ["values.mean.repeats", "is judged"]),
        (f'published = "2.0"\n{EXCLUDED}', ["values.mean.class = None", "'contradiction'"]),
        (
            f'published = "2.0"\n{EXCLUDES.replace("- 1", "/ (other - other)")}',
            ["values.mean.contradiction.arithmetic", "finite"],
        ),
        (
            f'published = "2.0"\n{EXCLUDES}',
            [
                "values.mean.published = '2.0'",
                "outside of what its arithmetic allows: 1.95 to 2.05",
            ],
        ),
        (
            f'published = "2.0"\n{EXCLUDES.replace("more", "curve", 1)}',
            ["values.mean.contradiction.numbers = 'curve'", "of the numbers: mean, more"],
        ),
    ],
    "error = 0.05": [
        ("error = -0.1", ["values.mean.error = -0.1", "0.0 or more"]),
        ('error = "much"', ["values.mean.error = 'much'"]),
        ("error = inf", ["values.mean.error = inf"]),
        ("tolerance = 0.1", ["unknown key values.mean.tolerance"]),
    ],
    'error_from = "sampling"': [
        ("", ["values.mean.error_from is missing"]),
        ('error_from = "another trace"', ["values.mean.error_from", "sampling, figure"]),
    ],
    'error_because = "Two standard errors."': [("", ["values.mean.error_because is missing"])],
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
        ('[[values]]\nwhat = "mean"\npublished = "2"', ["values = ", "must be dict"]),
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
        ('summary = "All of it comes out."', "", ["summary is missing"]),
    ],
)
def test_a_wrong_paper_is_one_clear_error(
    folder: Path, old: str, new: str, says: list[str]
) -> None:
    assert PAPER.count(old) == 1
    (folder / "paper.toml").write_text(PAPER.replace(old, new))
    _refused(str(folder / "paper.toml"), *says)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('how = "One disk."', "", ["how is missing"]),
        ('what = "Something else."', "", ["readings.other.what is missing"]),
        ('what = "Something else."', "what = 7", ["readings.other.what = 7: must be str"]),
        ("setup = { factor = 2.0, disk = { bus = 3 } }", "", ["readings.other.setup is missing"]),
        ("setup = { factor = 2.0, disk = { bus = 3 } }", "setup = {}", ["readings.other.setup"]),
        ("[setup]", "[set]", ["unknown key set"]),
    ],
)
def test_a_wrong_setup_is_one_clear_error(
    folder: Path, old: str, new: str, says: list[str]
) -> None:
    assert SETUP.count(old) == 1
    (folder / "setup.toml").write_text(SETUP.replace(old, new))
    _refused(str(folder / "setup.toml"), *says)


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


# The data of the package


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
def test_an_unknown_name_lists_the_known_ones(name: str, says: list[str]) -> None:
    with pytest.raises(ss.SledsimError) as error:
        papers.find([ITEMS[0].id, name])
    for text in says:
        assert text in str(error.value)


def test_all_data_files_belong_to_an_item_with_code() -> None:
    listed = {PACKAGE / item.folder / f"{item.name}.toml" for item in ITEMS}
    of_papers = {"paper.toml", "setup.toml"}
    assert listed == {file for file in PACKAGE.glob("*/*.toml") if file.name not in of_papers}, (
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
        for change in stated.history:
            assert change.why, stated.key
            assert change.old != change.new, stated.key


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
    """Return the numbers of the data file of an item in a code, but for round ones."""
    numbers = {abs(number) for entry in item.values for number in entry.numbers}
    numbers |= {abs(entry.expected.value) for entry in item.values if entry.expected}
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
