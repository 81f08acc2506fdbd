"""What the report of the papers says; ``tests/pages/test_pages.py`` looks at its page."""

import dataclasses
import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sledsim import __version__
from sledsim.papers.page import page
from sledsim.papers.page_code import highlighted_python, highlighted_toml
from sledsim.papers.page_text import MARKS
from sledsim.plots.style import COLOURS, FAINT, INK, VERDICTS
from sledsim.show.pages.colours import Palette
from sledsim.show.pages.embed import inline_svg

from tests.hostile_paper import HOSTILE, Made, reported
from tests.shown_page import Shown

PRINTED = {
    "\u202f": " ",
    "\u00a0": " ",
    "\u00b5m": "um",
    "\u2212": "-",
    "\u2013": "--",
    "\u00d7": "x",
}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Made, Made]]:
    with reported(tmp_path_factory.mktemp("papers")) as both:
        yield both


@pytest.fixture(scope="module")
def made(both: tuple[Made, Made]) -> Made:
    """Return the report of a paper of our own."""
    return both[0]


@pytest.fixture(scope="module")
def real(both: tuple[Made, Made]) -> Made:
    """Return the report of two items of the package."""
    return both[1]


@pytest.fixture(params=[0, 1], ids=["made", "real"])
def report(request: pytest.FixtureRequest, both: tuple[Made, Made]) -> Made:
    return both[request.param]


def plain(text: str) -> str:
    """Undo how prose is set: spaces, units and powers."""
    for printed, written in PRINTED.items():
        text = text.replace(printed, written)
    return " ".join(text.split()).replace("^", "")


def words(verdict: str) -> str:
    return verdict.replace("_", " ")


def test_every_item_is_on_the_page(report: Made) -> None:
    shown, text = report.shown, plain(" ".join(report.shown.raw("body")))
    names = [attributes["id"] for tag, attributes in shown.tags if tag == "article"]
    articles = dict(zip(names, map(plain, shown.raw("article")), strict=True))
    assert names == [result.item.id for result in report.results]
    codes = iter(shown.raw("pre"))
    links = [attributes["href"] for tag, attributes in shown.tags if tag == "a"]
    assert all(links.count(f"#{name}") == 1 for name in names)
    assert all(link.startswith("#") for link in links)
    for result in report.results:
        item, article = result.item, articles[result.item.id]
        wanted = [item.title, item.place, *item.how.split("\n\n"), words(result.verdict)]
        wanted += [reading.what for reading in item.readings]
        for value, judged in zip(item.values, result.document["values"], strict=True):
            wanted += [value.what, value.place, value.error_because, words(judged["verdict"])]
            wanted += [change.why for change in value.history]
            if judged["verdict"] not in {"reproduced", "conditional"}:
                wanted.append(value.because)
        for part in wanted:
            assert plain(part) in article, part
        assert [next(codes), next(codes)] == [item.code, item.data]
    for paper in report.papers:
        for part in (paper.title, paper.authors, paper.published, paper.summary, paper.how):
            assert text.count(plain(part)) >= 1
        for reading in paper.readings:
            assert plain(reading.what) in text
        for left in paper.left_out:
            assert f"{plain(left.place)}. {plain(left.because)}" in text


def test_markup_in_text_is_escaped(made: Made) -> None:
    """The parser would have seen a script, and the other tests miss the text."""
    assert made.text.count(html.escape(HOSTILE)) >= 12
    for markup in ("<script", "onerror=y>", "<b>line", "<u>"):
        assert markup not in made.text


VALUES = """
range | 2 to 4.5 um | 4.5 um | met | ✓ reproduced
unknown | 20 ± 0.5 | 25 | +5 +25.0 % | ✗ missed1
given | 20 ± 0.5 | 20 | 0 | = input2
chosen | 20 ± 0.5 | 20.4 | +0.4 +2.0 % | ◎ calibrated3
clock | 20 ± 0.5 | -- | -- | ○ not modelled4
order | a <b> < b & c < d | a <b> (1.00001) < b & c (1.00002) < d (3) in s | -- | ✓ reproduced
zero | 0.000 ± 0.001a | -0.0004 | -0.0004 | ✓ reproduced
tiny | 0.0000000025 s ± 5 x 10-11 | 2.5 x 10-9 s | 0 | ✓ reproduced
huge | 3,456,000,000 bytes ± 0.5 | 3,456,000,000 bytes | 0 | ✓ reproduced
share | 40 % ± 1a | 40.5 % | +0.5 +1.2 % | ✓ reproduced
near | 0.90 ms ± 0.01b | 0.903 ms | +0.003 +0.35 % | ✓ reproduced
below | -0.5 to -0.25 m/s2 | 0.25 m/s2 | +0.5 +200 % | ✗ missed5
printed | 1.49 <u> ± 0.005 | 2.082 <u> | +0.592 +39.7 % | ! erratum6
lost | 20 ± 0.5 | 25 | +5 +25.0 % | ✗ missed7
shape | rises ever less tolerance 0.5a | 4 numbers from 0 to 1.75, between 0 and 1.75 | -- |\
 ✓ reproduced
near | 1 ms not as published | 0.903 ms as published
order | d (1) = a <b> (1) < b & c (2) in s not as published |\
 a <b> (1.00001) < b & c (1.00002) < d (3) in s as published
clock | -- | --
range | 4.5 um as published | 4.5 um as published
"""
"""Rows of the table of values, as written and under the readings; marks count notes and errors."""


def test_a_value_reads_as_it_was_stated(made: Made) -> None:
    rows = [[plain(cell) for cell in row] for row in made.shown.rows("values")]
    found = {row[0].partition(" Section 9")[0]: row[1:] for row in rows}
    for line in VALUES.strip().splitlines():
        what, *cells = line.split(" | ")
        assert (found[what][:4] if len(cells) == 4 else found[what][4:]) == cells


def test_a_reading_tells_in_how_many_items_it_holds(made: Made) -> None:
    body = plain(" ".join(made.shown.raw("body")))
    assert "more of it: More" in body
    for items, values in (("0 of 1", "8 of 13"), ("1 of 1", "2 of 2")):
        told = f"{items} items hold whole under it, {values} values are as published."
        assert told in body


def test_the_overview_counts(made: Made) -> None:
    body = plain(" ".join(made.shown.raw("body")))
    assert f"sledsim {__version__}" in body
    assert "quick run" in body
    rows = [plain(row) for row in made.shown.all("tr")]
    assert "all12--11--1--1319" in rows, "reproduced, conditional, calibrated, ..., missed, all"
    assert "A table with much in a rowTable 3✓ reproducedagrees2----------------2" in rows
    near = next(row for row in rows if row.endswith("12999112 of 21 of 1"))
    assert near.startswith("In"), "numbers, within 1, 5, 10, 25 %, orders, shapes"
    full = [dataclasses.replace(r, document=r.document | {"quick": False}) for r in made.results]
    assert "(full run)" in page(made.papers, full)


def test_verdicts_are_readable_without_colour(report: Made) -> None:
    for verdict, mark in MARKS.items():
        for text in report.shown.all("span", verdict):
            assert plain(text) == f"{mark} {words(verdict)}"
    assert report.shown.all("span", "reproduced")


def test_a_partial_run_is_marked(made: Made) -> None:
    text = plain(" ".join(Shown(page(made.papers, made.results[:1])).raw("body")))
    assert "Table 3. Not part of this run." in text
    assert page(made.papers, [])


def test_results_of_other_papers_are_refused(made: Made, real: Made) -> None:
    with pytest.raises(ValueError, match="paper2001"):
        page(real.papers, made.results)


def test_the_same_results_give_the_same_page(real: Made, tmp_path: Path) -> None:
    code = """
from pathlib import Path
from sledsim import papers
from sledsim.papers.page import page
items = papers.find(["sigmetrics2000/table1", "sigmetrics2000/table2"])
for _ in range(2):  # simulated, then read
    results = papers.run(items, Path("out"), quick=True, workers=1)
    Path(f"page{_}.html").write_text(page(papers.papers(), results), "utf-8")
"""
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONHASHSEED": "123", "TZ": "Asia/Tokyo", "SLEDSIM_OUTCOMES": ""},
        timeout=100,
        check=True,
    )
    for number in range(2):
        assert (tmp_path / f"page{number}.html").read_text("utf-8") == real.text


def test_pictures_take_the_colours_of_the_page(report: Made) -> None:
    drawings = re.findall(r"<svg.*?</svg>", report.text, re.DOTALL)
    assert len(drawings) >= len(report.results)
    own = {INK, FAINT, *COLOURS, *VERDICTS.values(), "#ffffff"}
    for drawing in drawings:
        fills = re.sub("<pattern.*?</pattern>", "", drawing, flags=re.DOTALL)  # hatches stay
        assert not own & set(re.findall(r"#[0-9a-f]{6}", fills))
    assert sum("var(--ink)" in drawing for drawing in drawings) == len(report.results)


def test_the_default_picture_tells_how_far_off_each_number_is(real: Made) -> None:
    table1, table2 = real.results
    far = {}
    for result in (table1, table2):
        root = ET.fromstring(result.svg)
        texts = [part.text or "" for part in root.iter("{http://www.w3.org/2000/svg}text")]
        assert "simulated against published (%)" in texts
        far[result.item.name] = [text for text in texts if text.endswith(" %")]
        values = result.document["values"]
        assert all(value["what"] in " ".join(texts) for value in values)
        for value, text in zip(values, far[result.item.name], strict=True):
            share = value["simulated"] / float(value["published"]) - 1
            percent = float(text.replace("\u2212", "-").removesuffix(" %"))
            assert percent == pytest.approx(100 * share, abs=0.5 if abs(share) > 0.1 else 0.06)
    assert far["table1"].count("0 %") == 13
    assert "+41 %" in far["table2"], "2.10 ms for 1.49"


def test_a_picture_becomes_part_of_a_page() -> None:
    svg = """<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://x">
    <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
     width="100pt" height="50pt" viewBox="0 0 100 50"><metadata><date>today</date></metadata>
    <defs><style>* {stroke: red}</style><clipPath id="p1"><path id="unused" d="M 0 0"/></clipPath>
    <path id="m1" style="fill: #000000; stroke: #1b1f24"/></defs>
    <g id="g1" clip-path="url(#p1)" style="stroke: #0072b2; fill: #123456"><!-- hidden -->
    <use xlink:href="#m1" fill="#ffffff"/></g><text>a &lt;b&gt; &amp; c</text></svg>"""
    palette = Palette()
    drawing = inline_svg(svg, "x:", 'it "is"', palette)
    assert palette.light == {f"--c{each}": f"#{each}" for each in ("000000", "0072b2", "123456")}
    for part in (
        '<clipPath id="x:p1">',
        '<path id="x:m1" style="fill: var(--c000000); stroke: var(--ink)" />',
        'clip-path="url(#x:p1)"',
        "stroke: var(--c0072b2); fill: var(--c123456)",
        '<use href="#x:m1" fill="var(--paper)" />',
        "<text>a &lt;b&gt; &amp; c</text>",
        'aria-label="it &quot;is&quot;"',
        'viewBox="0 0 100 50"',
        'id="x:drawing"',
    ):
        assert part in drawing
    for part in ("today", "style>", "unused", "g1", "hidden", "xlink", "xmlns", "DOCTYPE", "100pt"):
        assert part not in drawing


@given(
    st.text()
    | st.lists(st.sampled_from(['"""', "'", "#", "\\", "if ", "x = 1", "\n", "f'{"])).map("".join)
)
def test_highlighting_changes_no_text(code: str) -> None:
    for marked in (highlighted_python(code), highlighted_toml(code)):
        bare = re.sub(r'<span class="[kscm]">|</span>', "", marked)
        assert "<" not in bare
        assert html.unescape(bare) == html.unescape(html.escape(code, quote=False))


def test_highlighting_knows_words_and_strings() -> None:
    # Other characters end lines elsewhere, but not for the tokenizer.
    assert highlighted_python("'\u2028\x0c'\nx < 1\n") == (
        '<span class="s">\'\u2028\x0c\'</span>\nx &lt; <span class="m">1</span>\n'
    )
    marked = highlighted_python('def f(x):  # why\n    return "a < b" if x else 1.5\n')
    found = re.findall(r'<span class="(\w)">(.*?)</span>', marked)
    assert "".join(kind for kind, _ in found) == "kckskkm"
    texts = ["def", "# why", "return", '"a &lt; b"', "if", "else", "1.5"]
    assert [text for _, text in found] == texts
