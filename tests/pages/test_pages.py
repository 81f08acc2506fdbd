"""Every page that sledsim writes: sound, complete in itself, accessible, legible everywhere."""

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import first_look
import pytest
import sledsim as ss
from sledsim import programs
from sledsim.papers.page import page as papers_page
from sledsim.show import pages as reports
from sledsim.show.pages.colours import DARK_PAPER, PAPER

from tests.hostile_paper import Made, reported
from tests.picture_checks import contrast
from tests.shown_page import Shown, browser

__all__ = ["browser"]  # a fixture

ROOT = Path(__file__).parents[2]
HOSTILE = "<script>&'\""
"""The name of a device file: a name of a file has no slash."""
MEASURED = "".join(
    f"{'W' if i % 4 == 0 else 'R'} Hit {i * i * 7919 % 6_000_000} {1 + i % 30} 900.0 800\n"
    for i in range(200)
)
KINDS = ("run", "overloaded", "comparison", "study", "validation", "crash", "applications")
EXPLORED = ("sled", "disk", "two", "hybrid", "one")
PAGES = (*KINDS, *(f"explore {name}" for name in EXPLORED), "paper", "papers", "first look")
MOST_BYTES = {"papers": 2**20, "first look": 2**20}
"""The largest pages; others have 400 kB at most."""
Page = tuple[str, Shown]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Work in a folder with the files of the pages."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / f"{HOSTILE}.toml").write_text('base = "g2"\nspring_factor = 0.5\n', "utf-8")
    (folder / "drive.validate").write_text(MEASURED, encoding="utf-8")
    with contextlib.chdir(folder):
        yield folder


@pytest.fixture(scope="module")
def of_papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Made, Made]]:
    with reported(tmp_path_factory.mktemp("papers")) as both:
        yield both


@pytest.fixture(scope="module")
def write(folder: Path, of_papers: tuple[Made, Made]) -> Callable[[str], str]:
    """Return what writes a page of a name, each time anew."""
    load = ss.workload("random", rate=300, requests=4000)
    device = f"{HOSTILE}.toml"
    base = {"device": device, "requests": 300}
    grid: Any = {"rate": [100, 500], "scheduler": ["fcfs", "sptf"]}
    few = ss.workload(last_lbn=500, queue_depth=8, requests=500)
    fast, slow, slower = (
        ss.workload("random", rate=rate, requests=count)
        for rate, count in ((1500, 600), (140, 300), (80, 200))
    )
    hostile = ss.Device.from_toml(ss.device("g2").to_toml(), HOSTILE)
    made: dict[str, Callable[[], Any]] = {
        "run": lambda: ss.simulate(load, device, rows=False),
        "overloaded": lambda: ss.simulate(load, "atlas10k", rows=False),
        "comparison": lambda: ss.compare(load, ["g2", device, "atlas10k"]),
        "study": lambda: ss.sweep(base, grid=grid, replications=2),
        "validation": lambda: ss.validate("drive.validate", device),
        "crash": lambda: ss.crash_test(few, device, points=40),
        "applications": lambda: programs.replay("sample:postmark", ["g2", device]),
        "explore sled": lambda: ss.simulate(fast, hostile, "sptf"),
        "explore disk": lambda: ss.simulate(slow, "atlas10k", "sptf"),
        "explore two": lambda: ss.compare(slow, ["atlas10k"], ["fcfs", "c_look"]),
        "explore hybrid": lambda: ss.simulate(slower, "mcd", parts=True),
        "explore one": lambda: ss.simulate(ss.workload("random", rate=80, requests=1), "g2"),
    }

    @cache
    def result(name: str) -> Any:
        return made[name]()

    def written(name: str) -> str:
        if name.startswith("explore"):
            return str(result(name).explore().text)
        if name.startswith("paper"):
            of, results, *_ = of_papers[name == "papers"]
            return papers_page(of, results[::-1])  # in any order
        if name == "first look":
            first_look.main(["--requests", "500", "--output", "first.html"])
            return (folder / "first.html").read_text("utf-8")
        return reports.page(result(name))

    return written


@pytest.fixture(scope="module")
def page(write: Callable[[str], str]) -> Callable[[str], Page]:
    """Return what gives a page of a name, written once."""

    @cache
    def page(name: str) -> Page:
        text = write(name)
        return text, Shown(text)

    return page


@pytest.fixture(params=PAGES)
def one(request: pytest.FixtureRequest, page: Callable[[str], Page]) -> Page:
    return page(request.param)


def test_a_page_is_sound(one: Page) -> None:
    """Tags are closed, as the parser of ``Shown`` checks, and headings go down by one."""
    text, shown = one
    assert re.match("<!doctype html>\n<html lang=", text, re.IGNORECASE)
    names = [tag for tag, _ in shown.tags]
    for name in ("title", "main", "h1", "style"):
        assert names.count(name) == 1
    levels = [int(tag[1]) for tag in names if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    explores = 'id="head"' in text  # it has more headings when its script has run
    assert explores or all(after <= before + 1 for before, after in pairwise(levels))
    for place, (tag, attributes) in enumerate(shown.tags):
        if tag == "th":
            assert attributes.get("scope") in {"col", "row", "rowgroup"}
        if tag == "svg" and "aria-hidden" not in attributes:
            assert attributes["role"] == "img"
            assert attributes["aria-label"]
        if tag == "button":
            assert attributes.get("aria-label") or shown.parts[place].strip()


def test_a_page_needs_no_other_file_and_knows_no_machine(one: Page) -> None:
    text, shown = one
    explores = 'id="head"' in text
    for tag, attributes in shown.tags:
        assert tag not in {"link", "iframe", "object", "img", "base", "embed"}
        assert tag != "script" or explores
        assert not [name for name in attributes if name.startswith("on")]
        for name in {"src", "srcset", "href", "xlink:href", "data", "action"} & attributes.keys():
            assert re.match(r"#|data:image/png;base64,", attributes[name]), (tag, name)
    loads = r"url\((?!#)|@import|https?:|\bfetch\(|XMLHttpRequest"
    assert re.findall(loads, text.replace("http://www.w3.org/2000/svg", "")) == []
    assert re.findall(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", text) == []
    for place in (ROOT, Path.home(), Path(sys.prefix), Path(gettempdir())):
        assert f"{place}/" not in text


def test_references_find_one_thing_each(one: Page) -> None:
    text, shown = one
    ids = [attributes["id"] for _, attributes in shown.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert not [name for name in ids if re.search(r"\s", name)]
    wanted = set(re.findall(r"url\(#([^)]*)\)", text))
    for _, attributes in shown.tags:
        wanted |= {attributes[name] for name in ("popovertarget", "for") if name in attributes}
        wanted |= set(attributes.get("aria-labelledby", "").split())
        if attributes.get("href", "").startswith("#"):
            wanted.add(attributes["href"][1:])
    assert wanted
    assert wanted <= set(ids)
    named = set(re.findall(r"var\(--([\w-]+)\)", text))
    assert named <= set(re.findall(r"--([\w-]+): ?[#\w]", text))


@pytest.mark.parametrize("name", [*KINDS, "first look"])
def test_words_that_are_used_are_explained(page: Callable[[str], Page], name: str) -> None:
    text, _ = page(name)
    used = set(re.findall(r'href="#(term-[\w-]+)"', text))
    assert used == set(re.findall(r'<div id="(term-[\w-]+)">', text))
    assert used or "response time" not in re.sub(r"<[^>]+>", "", text)


@pytest.mark.parametrize("name", [*KINDS, "first look"])
def test_every_figure_says_what_it_shows_and_can_be_enlarged(
    page: Callable[[str], Page], name: str
) -> None:
    text, _ = page(name)
    figures = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    assert figures
    for figure in figures:
        (caption,) = re.findall(r"<figcaption>(.*?)</figcaption>", figure, re.DOTALL)
        (alt,) = re.findall(r'role="img" aria-label="(.*?)"', figure)
        assert min(len(re.sub(r"<[^>]+>", "", caption)), len(alt)) > 20
        (drawing,) = re.findall(r'class="picture" id="(.*?)"', figure)
        assert f'<use href="#{drawing}"/>' in figure
        opens, closes = re.findall(r'popovertarget="(.*?)"', figure)
        assert opens == closes
        assert f'id="{opens}"' in figure


@pytest.mark.parametrize("name", [n for n in PAGES if n not in {"overloaded", "first look"}])
def test_names_are_text(page: Callable[[str], Page], name: str) -> None:
    """The name of the device would be a script, which the parser would see."""
    text, shown = page(name)
    assert "<script>" not in text
    if name.startswith("explore"):
        assert name != "explore sled" or r'"device": "\u003cscript>' in text
    elif name not in {"paper", "papers"}:
        assert HOSTILE in shown.all("body")[0]


@pytest.mark.parametrize("name", PAGES)
def test_the_same_result_gives_the_same_page(
    page: Callable[[str], Page], write: Callable[[str], str], of_papers: Any, name: str
) -> None:
    text, _ = page(name)
    assert write(name) == text
    if name.startswith("paper"):
        assert of_papers[name == "papers"].text == text, "results in another order"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_small(page: Callable[[str], Page], name: str) -> None:
    assert len(page(name)[0].encode()) < MOST_BYTES.get(name, 400_000)


# In a browser

LOOK = """() => {
  for (const folded of document.querySelectorAll("details")) folded.open = true
  const root = document.documentElement, sizes = [99], style = one => getComputedStyle(one)
  for (const text of document.querySelectorAll("svg.picture text")) {
    const at = text.getScreenCTM()
    sizes.push(parseFloat(style(text).fontSize) * Math.hypot(at.a, at.b))
  }
  const told = document.querySelectorAll("svg.picture text, p, td, th, dd, a, figcaption")
  const both = document.querySelector(".both"), tops = both
    ? [...both.children].map(one => one.getBoundingClientRect().top) : []
  const ink = one => style(one)[one.localName === "text" ? "fill" : "color"]
  return {wide: root.scrollWidth > root.clientWidth, small: Math.min(...sizes),
    inks: [...new Set([...told].map(ink))], beside: tops[0] === tops[1],
    paper: style(document.body).backgroundColor}
}"""
WIDTHS = (360, 390, 800, 1280, 2560)


def _hex(colour: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", colour)[:3])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_browser_shows_it(
    browser: Any, page: Callable[[str], Page], tmp_path: Path, name: str, scheme: str
) -> None:
    """At all widths, by day and by night, on paper, to those who hear it, and without errors."""
    from axe_playwright_python.sync_playwright import Axe

    explores, of_papers = name.startswith("explore"), name.startswith("paper")
    file = tmp_path / "page.html"
    file.write_text(page(name)[0], "utf-8")
    said: list[str] = []
    with browser.new_context(color_scheme=scheme, offline=True) as context:
        shown = context.new_page()
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.goto(file.as_uri())
        if explores:
            shown.wait_for_function("window.sledsim")
            shown.evaluate("window.sledsim.ready")
            shown.evaluate("window.sledsim.seek(window.sledsim.runs[0].end_ns / 2)")
        behind = DARK_PAPER if scheme == "dark" else PAPER
        for width in (320, *WIDTHS) if of_papers else WIDTHS:
            shown.set_viewport_size({"width": width, "height": 900})
            look = shown.evaluate(LOOK)
            assert not look["wide"], f"at {width} px it scrolls sideways"
            assert look["small"] >= 7.5, f"text of a figure at {width} px"
            paper = _hex(look["paper"])
            assert explores or paper == behind
            assert not of_papers or look["beside"] == (width >= 1280), "the figure by the table"
            assert min(contrast(_hex(ink), paper) for ink in look["inks"]) >= 3
        violations = Axe().run(shown).response["violations"]
        assert [violation["id"] for violation in violations] == []
        if shown.locator(".large").count():
            large = shown.locator(".large").first
            shown.locator("figure button.enlarge").first.click()
            assert large.evaluate("one => one.matches(':popover-open')")
            assert large.locator("svg").evaluate("one => one.clientWidth") > 600
            large.locator("button").click()
            assert not large.evaluate("one => one.matches(':popover-open')")
        if not explores:
            shown.emulate_media(media="print")
            assert _hex(shown.evaluate(LOOK)["paper"]) == PAPER
    assert said == []
