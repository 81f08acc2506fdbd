"""The data files of the papers: reading, and the content of those of the package."""

import ast
import re
from collections.abc import Iterator
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
    told = (paper.name, paper.title, paper.left_out[0].place)
    assert told == ("paper2001", "A paper", "Figure 1")
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

NEW = {
    "EXCLUDED": EXCLUDED,
    "EXCLUDES": EXCLUDES,
    "ZERO": EXCLUDES.replace("- 1", "/ (other - other)"),
    "CURVE": EXCLUDES.replace("more", "curve", 1),
    "-": "",
}
VALUES = TABLE[TABLE.index("[values.mean]") :]
WRONG = """
title = "A table"
  + colour = "red" | unknown key colour
  - | title is missing
  title = 7 | title = 7: must be str
  title =  | line 2
  title = true | title = True: must be str
how = "Somehow."
  - | how is missing
  + disksim = true | disksim = True | setup.toml has no table disksim
readings = ["other"]
  readings = ["some"] | readings = 'some': must be of setup.toml: other
  readings = "other" | readings = 'other': must be list
what = "mean"
  - | mean.what is missing
  + units = "ms" | unknown key values.mean.units
  + kind = "at_most" | mean.kind | 'at_most' | within, between
  + class = "lucky" | mean.class = 'lucky' | calibrated
  + class = "input" | mean.because is missing
  + class = "erratum" ; because = "So." | mean.class = 'erratum' | expected.arithmetic
  class = "erratum" ; because = "-" ; what = "-" ; expected = {value=2, arithmetic="2"} |\
      mean.published = '2.0' | other than 2, its arithmetic
  + expected = { value = 3 } | mean.expected.value | arithmetic
  + expected = { value = 3, arithmetic = "1 + 1" } |\
      mean.expected.value = 3.0: must be what 1 + 1 gives: 2
  + expected = { value = 3, arithmetic = "f(3)" } | mean.expected.arithmetic = 'f(3)' | sqrt
  + expected = { value = 3, computed = "a.b", tolerance = 2 } | mean.expected.because is missing
  + history = [{ key = "kind", old = "a", new = "b" }] | mean.history.0.why is missing
published = "2.0"
  - | mean.published is missing
  published = 2.0 | mean.published = 2.0: must be str
  published = "two" | mean.published = 'two' | digits as printed
  published = "nan" | mean.published = 'nan' | digits as printed
  published = "inf" | mean.published = 'inf' | digits as printed
  kind = "between" ; published = ["2"] | mean.published | two numbers
  kind = "between" ; published = ["2", "1"] | mean.published | smaller one
  kind = "between" ; published = ["1.5", "2"] | mean.published | last digit
  + percent = "more" | mean.percent = 'more' | in %
  + percent = "up" | mean.percent = 'up' | more, less
  + cause = "luck" | mean.cause = 'luck' | it has none
  + repeats = "table1.none" | mean.repeats | ITEM.KEY
  + repeats = "table1.mean" | mean.repeats | is judged
  + EXCLUDED | mean.class = None | 'contradiction'
  + ZERO | mean.contradiction.arithmetic | finite
  + EXCLUDES | mean.published = '2.0' | outside of what its arithmetic allows: 1.95 to 2.05
  + CURVE | mean.contradiction.numbers = 'curve' | of the numbers: mean, more
error = 0.05
  error = -0.1 | mean.error = -0.1 | 0.0 or more
  error = "much" | mean.error = 'much'
  error = inf | mean.error = inf
  tolerance = 0.1 | unknown key values.mean.tolerance
error_from = "sampling"
  - | mean.error_from is missing
  error_from = "another trace" | mean.error_from | sampling, figure
error_because = "Two standard errors."
  - | mean.error_because is missing
published = ["a", "b"]
  published = ["a"] | fastest.published | two names
  published = ["a", "a"] | fastest.published | each once
  published = [1, 2] | fastest.published | strings
  published = "a < b" | fastest.published = 'a < b': must be list
published = "rises"
  published = "wobbles" | curve.published | 'wobbles' | rises, then falls
  published = 1.0 | curve.published = 1.0: must be str
VALUES
  - | values | one value or more
  [values] ; mean = 7 | mean = 7: must be a table
  [[values]] ; what = "mean" ; published = "2" | values =  | must be dict
order = 2001
  - | order is missing
  order = "2001" | order = '2001'
title = "A paper"
  + year = 2001 | unknown key year
authors = "Its authors"
  - | authors is missing
items = ["table1"]
  - | items is missing
  items = "table1" | items = 'table1': must be list
  items = [1] | items = [1] | strings
  items = ["table1", "table1"] | items | each once
because = "A drawing."
  - | left_out.0.because is missing
  because = "A." ; why = 1 | unknown key left_out.0.why
[[left_out]]
  [left_out] | left_out =  | must be list
published = "Somewhere 2001"
  published = [ | line
summary = "All of it comes out."
  - | summary is missing
how = "One disk."
  - | how is missing
what = "Something else."
  - | readings.other.what is missing
  what = 7 | readings.other.what = 7: must be str
setup = { factor = 2.0, disk = { bus = 3 } }
  - | readings.other.setup is missing
  setup = {} | readings.other.setup
[setup]
  [set] | unknown key set
"""
"""A text of a file, and below it what replaces it, or is added, and words of the error."""


def _wrong() -> Iterator[list[str]]:
    old = ""
    for line in WRONG.strip().splitlines():
        if not line.startswith(" "):
            old = VALUES if line == "VALUES" else line
            continue
        new, *says = re.split(r" \| *", line.strip())
        more, new = new.startswith("+ "), new.removeprefix("+ ")
        yield [old, f"{old}\n" * more + NEW.get(new, new).replace(" ; ", "\n"), *says]


@pytest.mark.parametrize("row", [*_wrong()], ids=lambda row: row[1][:40])
def test_a_wrong_file_is_one_clear_error(folder: Path, row: list[str]) -> None:
    old, new, *says = row
    files = {"table1.toml": TABLE, "paper.toml": PAPER, "setup.toml": SETUP}
    ((name, text),) = ((name, text) for name, text in files.items() if old in text)
    assert text.count(old) == 1
    (folder / name).write_text(text.replace(old, new))
    _refused(str(folder / name), *says)


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
    assert all((item.title, item.place, item.how))
    for stated in item.values:
        assert all((stated.what, stated.place)), stated.key
        for change in stated.history:
            assert change.why, stated.key
            assert change.old != change.new, stated.key


def test_no_published_value_stands_in_the_code() -> None:
    assert {item.id: typed(item.code, item) for item in ITEMS} == {item.id: set() for item in ITEMS}
    (table1,) = papers.find(["sigmetrics2000/table1"])
    code = "x = 114.8\ny = {'tips': -1280}\nz = 100 * 2**30 + 8"
    assert typed(code, table1) == {114.8, 1280}, "it would be found"


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
