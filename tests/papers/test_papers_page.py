"""The report of the papers: its content, and its rendering in a browser."""

from __future__ import annotations

import dataclasses
import html
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

import pytest
from sledsim import __version__, papers
from sledsim.papers import model
from sledsim.papers.page import page
from sledsim.papers.page_text import MARKS
from sledsim.plots.style import COLOURS, FAINT, INK, VERDICTS

from tests.hostile_paper import (
    ALL,
    ALL_CODE,
    EMPTY,
    EMPTY_CODE,
    HOSTILE,
    PAPER,
    SETUP,
    WIDE,
    WIDE_CODE,
)
from tests.shown_page import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.papers import Paper, Result

ROOT = Path(__file__).parents[2]
PRINTED = {
    "\u202f": " ",
    "\u00a0": " ",
    "\u00b5m": "um",
    "\u2212": "-",
    "\u2013": "--",
    "\u00d7": "x",
}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


class Made(NamedTuple):
    papers: tuple[Paper, ...]
    results: list[Result]
    text: str
    shown: Shown


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Make the report of a paper of our own."""
    root = tmp_path_factory.mktemp("papers")
    own = root / "paper2001"
    own.mkdir()
    files = {"all": (ALL, ALL_CODE), "wide": (WIDE, WIDE_CODE), "empty": (EMPTY, EMPTY_CODE)}
    for name, (data, code) in files.items():
        (own / f"{name}.toml").write_text(data)
        (own / f"{name}.py").write_text(code)
    (own / "paper.toml").write_text(PAPER)
    (own / "setup.toml").write_text(SETUP)
    for paper in papers.papers():
        folder = paper.items[0].folder
        (root / folder).symlink_to(model._FOLDER / folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_FOLDER", root)
        patch.setattr(papers, "__path__", [str(root), *papers.__path__])
        model.papers.cache_clear()
        results = papers.run(papers.find(["paper2001"]), root / "out", quick=True, workers=1)
        own_papers = tuple(paper for paper in papers.papers() if paper.name == "paper2001")
        text = page(own_papers, results)
        yield Made(own_papers, results, text, Shown(text))
    model.papers.cache_clear()
    for name in [name for name in sys.modules if name.startswith("sledsim.papers.paper2001")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, made: Made) -> Made:
    """Make the report of some items of the package."""
    items = papers.find(["sigmetrics2000/table1", "sigmetrics2000/table2"])
    results = papers.run(items, tmp_path_factory.mktemp("out"), quick=True, workers=1)
    others = tuple(paper for paper in papers.papers() if paper not in made.papers)
    text = page(others, results)
    return Made(others, results, text, Shown(text))


@pytest.fixture(params=["made", "real"])
def report(request: pytest.FixtureRequest) -> Made:
    report: Made = request.getfixturevalue(request.param)
    return report


def _words(verdict: str) -> str:
    return verdict.replace("_", " ")


def plain(text: str) -> str:
    """Undo how prose is set: spaces, units and powers."""
    for printed, written in PRINTED.items():
        text = text.replace(printed, written)
    return " ".join(text.split()).replace("^", "")


# Content of the page


def test_the_page_is_sound_html(report: Made) -> None:
    assert report.text.startswith("<!DOCTYPE html>\n<html lang=")
    names = [tag for tag, _ in report.shown.tags]
    for name in ("title", "main", "h1", "style"):
        assert names.count(name) == 1
    levels = [int(tag[1]) for tag in names if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(report.shown.all(f"h{level}") for level in (1, 2, 3))
    for tag, attributes in report.shown.tags:
        if tag == "th":
            assert attributes.get("scope") in {"col", "row"}
        if tag == "svg" and "aria-hidden" not in attributes:
            assert attributes["role"] == "img"
            assert attributes["aria-label"]


def test_every_item_is_on_the_page(report: Made) -> None:
    shown, text = report.shown, plain(" ".join(report.shown.raw("body")))
    articles = dict(
        zip(
            [attributes["id"] for tag, attributes in shown.tags if tag == "article"],
            map(plain, shown.raw("article")),
            strict=True,
        )
    )
    assert list(articles) == [result.item.id for result in report.results]
    codes = iter(shown.raw("pre"))
    for result in report.results:
        item, article = result.item, articles[result.item.id]
        wanted = [item.title, item.place, *item.how.split("\n\n"), _words(result.verdict)]
        wanted += [reading.what for reading in item.readings]
        for value, judged in zip(item.values, result.document["values"], strict=True):
            wanted += [value.what, value.place, value.error_because, _words(judged["verdict"])]
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


def test_links_go_to_every_item(report: Made) -> None:
    links = [attributes["href"] for tag, attributes in report.shown.tags if tag == "a"]
    for result in report.results:
        assert links.count(f"#{result.item.id}") == 1
    assert all(link.startswith("#") for link in links)


def test_references_find_one_thing_each(report: Made) -> None:
    tags = report.shown.tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert not [name for name in ids if re.search(r"\s", name)]
    wanted = {attributes["href"][1:] for _, attributes in tags if "href" in attributes}
    wanted = {name for name in wanted if not name.startswith("ata:image/png;base64,")}
    wanted |= set(re.findall(r"url\(#([^)]*)\)", report.text))
    wanted |= {
        attributes["aria-labelledby"] for _, attributes in tags if "aria-labelledby" in attributes
    }
    assert len(wanted) > 10
    assert wanted <= set(ids)
    assert set(re.findall(r"var\(--([\w-]+)\)", report.text)) <= set(
        re.findall(r"--([\w-]+): #", report.text)
    )


def test_the_page_is_self_contained_and_has_no_machine_data(report: Made) -> None:
    for tag, attributes in report.shown.tags:
        assert tag not in {"script", "link", "iframe", "object", "img", "base", "embed"}
        assert not [name for name in attributes if name.startswith("on")]
        for name in {"src", "srcset", "href", "xlink:href", "data", "action"} & attributes.keys():
            assert re.match(r"#|data:image/png;base64,", attributes[name]), (tag, name)
    assert "@import" not in report.text
    assert re.findall(r"url\((?!#)", report.text) == []
    assert re.findall(r"https?:", report.text) == []
    assert re.findall(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", report.text) == []
    for folder in (ROOT, Path.home(), Path(sys.prefix), Path("/tmp")):
        assert f"{folder}/" not in report.text


def test_markup_in_text_is_escaped(made: Made) -> None:
    """The parser would have seen a script, and the other tests miss the text."""
    assert made.text.count(html.escape(HOSTILE)) >= 12
    assert "<script" not in made.text
    assert "onerror=y>" not in made.text
    assert "<b>line" not in made.text
    assert "<u>" not in made.text


@pytest.mark.parametrize(
    ("what", "cells"),
    [
        ("near", "0.90 ms ± 0.01a | 0.903 ms | +0.003 +0.35 % | ✓ reproduced"),
        ("range", "2 to 4.5 um | 4.5 um | met | ✓ reproduced"),
        ("below", "-0.5 to -0.25 m/s2 | 0.25 m/s2 | +0.5 +200 % | ✗ missed1"),
        ("printed", "1.49 <u> ± 0.005 | 2.082 <u> | +0.592 +39.7 % | ! erratum2"),
        ("lost", "20 ± 0.5 | 25 | +5 +25.0 % | ✗ missed3"),
        ("unknown", "20 ± 0.5 | 25 | +5 +25.0 % | ✗ missed4"),
        ("given", "20 ± 0.5 | 20 | 0 | = input5"),
        ("chosen", "20 ± 0.5 | 20.4 | +0.4 +2.0 % | ◎ calibrated6"),
        ("clock", "20 ± 0.5 | -- | -- | ○ not modelled7"),
        (
            "order",
            (
                "a <b> < b & c < d | a <b> (1.00001) < b & c (1.00002) < d (3) in s | -- | "
                "✓ reproduced"
            ),
        ),
        (
            "shape",
            (
                "rises ever less tolerance 0.5b | 4 numbers from 0 to 1.75, between 0 and 1.75"
                " | -- | ✓ reproduced"
            ),
        ),
        ("zero", "0.000 ± 0.001b | -0.0004 | -0.0004 | ✓ reproduced"),
        ("tiny", "0.0000000025 s ± 5 x 10-11 | 2.5 x 10-9 s | 0 | ✓ reproduced"),
        ("huge", "3,456,000,000 bytes ± 0.5 | 3,456,000,000 bytes | 0 | ✓ reproduced"),
        ("share", "40 % ± 1b | 40.5 % | +0.5 +1.2 % | ✓ reproduced"),
    ],
)
def test_a_value_reads_as_it_was_stated(made: Made, what: str, cells: str) -> None:
    rows = {row[0].partition(" Section 9")[0]: row for row in _rows(made.shown)}
    assert rows[what][1:5] == cells.split(" | ")


def test_readings_are_columns(made: Made) -> None:
    rows = {row[0].partition(" Section 9")[0]: row for row in _rows(made.shown)}
    assert rows["near"][5:] == ["1 ms not as published", "0.903 ms as published"]
    assert rows["order"][5] == "d (1) = a <b> (1) < b & c (2) in s not as published"
    assert rows["clock"][5:] == ["--", "--"]
    assert rows["range"][6] == "4.5 um as published"


def test_a_reading_tells_in_how_many_items_it_holds(made: Made) -> None:
    body = plain(" ".join(made.shown.raw("body")))
    assert "more of it: More" in body
    assert "0 of 1 items hold whole under it, 8 of 13 values are as published." in body
    assert "1 of 1 items hold whole under it, 2 of 2 values are as published." in body


def _rows(shown: Shown) -> list[list[str]]:
    """Return the rows of the tables of values of a page, as text, cells apart."""
    rows: list[list[str]] = []
    inside = ""
    for place, (tag, attributes) in enumerate(shown.tags):
        if tag == "table":
            inside = attributes["class"]
        elif tag == "tr" and inside == "values":
            rows.append([])
        elif tag in {"th", "td"} and inside == "values":
            rows[-1].append(plain(shown.parts[place]))
    return rows


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
            assert plain(text) == f"{mark} {_words(verdict)}"
    assert report.shown.all("span", "reproduced")


def test_a_partial_run_is_marked(made: Made) -> None:
    text = plain(" ".join(Shown(page(made.papers, made.results[:1])).raw("body")))
    assert "Table 3. Not part of this run." in text
    assert page(made.papers, [])


def test_results_of_other_papers_are_refused(made: Made, real: Made) -> None:
    with pytest.raises(ValueError, match="paper2001"):
        page(real.papers, made.results)


def test_results_may_come_in_any_order(made: Made) -> None:
    assert page(made.papers, made.results[::-1]) == made.text


def test_the_same_results_give_the_same_page(real: Made, tmp_path: Path) -> None:
    code = """
from pathlib import Path
from sledsim import papers
from sledsim.papers.page import page
from sledsim.papers.page_text import MARKS
from sledsim.plots.style import COLOURS, FAINT, INK, VERDICTS
from sledsim.plots.style import COLOURS, FAINT, INK, VERDICTS
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


# Pictures, code and colours


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
        labels = " ".join(texts)
        values = result.document["values"]
        for value in values:
            assert value["what"] in labels
        for value, text in zip(values, far[result.item.name], strict=True):
            share = value["simulated"] / float(value["published"]) - 1
            percent = float(text.replace("\u2212", "-").removesuffix(" %"))
            assert percent == pytest.approx(100 * share, abs=0.5 if abs(share) > 0.1 else 0.06)
    assert far["table1"].count("0 %") == 13
    assert "+41 %" in far["table2"], "2.10 ms for 1.49"


def test_contrast_is_enough_in_light_and_dark(real: Made) -> None:
    style = real.text.partition("</style>")[0]
    parts = re.split(
        r"(@media screen and \(prefers-color-scheme: dark\) \{.*?\n\})", style, flags=re.DOTALL
    )
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", "".join(parts[place::2])))
        for place in (0, 1)
    )
    assert light.keys() == dark.keys() >= {"ink", "paper", "card", "quiet", "link"}
    for colours in (light, dark):
        own = {"reproduced", "conditional", "calibrated", "erratum", "missed"}
        assert {f"{verdict}-text" for verdict in own} <= colours.keys(), "the others are quiet"
        for name, colour in colours.items():
            ratio = _contrast(colour, colours["paper"])
            if name in {"ink", "quiet", "link"} or name.endswith("-text"):
                assert ratio >= 4.5, name
                assert _contrast(colour, colours["card"]) >= 4.5, name
            elif name.startswith("c0") or name in {"rule", "warn-rule"}:
                usual = _contrast(light[name], light["paper"])
                assert ratio >= min(usual, 3) * 0.95, name


def _contrast(one: str, other: str) -> float:
    """Contrast as WCAG 2 defines it."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(map(float.__mul__, (0.2126, 0.7152, 0.0722), linear))


MEASURE = """
<!DOCTYPE html><html><body style="margin: 0">{frames}<script>
onload = () => {{
  for (const frame of document.querySelectorAll("iframe")) {{
    const own = frame.contentDocument, root = own.documentElement, said = [frame.width]
    for (const folded of own.querySelectorAll("details")) folded.open = true
    said.push(root.clientWidth, root.scrollWidth)
    const [first] = own.querySelectorAll(".both"), [left, right] = first.children
    said.push(left.getBoundingClientRect().top === right.getBoundingClientRect().top)
    said.push(getComputedStyle(own.body).backgroundColor)
    let small = 100
    for (const text of own.querySelectorAll("svg.picture text")) {{
      const size = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a
      small = Math.min(small, size)
    }}
    said.push(small.toFixed(2))
    document.body.append("|" + said.join(" ") + "|")
  }}
  document.body.append("done")
}}
</script></body></html>
"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_browser_shows_it_without_scrolling_sideways(
    report: Made, tmp_path: Path, dark: bool
) -> None:
    assert CHROMIUM is not None
    widths = (320, 390, 768, 1280, 1920)
    source = html.escape(report.text)
    frames = "".join(
        f'<iframe width="{width}" height="900" srcdoc="{source}"></iframe>' for width in widths
    )
    file = tmp_path / "frames.html"
    file.write_text(MEASURE.format(frames=frames), "utf-8")
    switches = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    switches += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    switches += ["--hide-scrollbars", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    switches += [f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    done = subprocess.run(
        [CHROMIUM, *switches, "--virtual-time-budget=10000", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "done" in done.stdout.rpartition("</script>")[2]
    found = re.findall(r"\|(\d+) (\d+) (\d+) (true|false) (rgb\(.*?\)) ([\d.]+)\|", done.stdout)
    assert [int(entry[0]) for entry in found] == list(widths)
    for width, client, scrolled, beside, background, text_px in found:
        assert int(scrolled) <= int(client), f"at {width} px it scrolls sideways"
        assert (beside == "true") == (int(width) >= 1280), "figure next to table where it is wide"
        assert background == ("rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)")
        assert float(text_px) >= 7.5, "text of a figure"
