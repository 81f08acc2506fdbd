"""Pages that explain runs, in Chromium: states, steps, keys, themes, widths, accessibility."""

from __future__ import annotations

import math
import shutil
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
ROWS = ("start_ns", "lbn", "blocks", "from_cylinder", "seek_ns", "passes", "id", "completion_ns")


@pytest.fixture(scope="module")
def runs() -> dict[str, Any]:
    """Return results by their names."""
    load = ss.workload("random", rate=1500, requests=600)
    slow = ss.workload("random", rate=140, requests=300)
    return {
        "sled": ss.simulate(load, "g2(turnaround=exact)", "sptf"),
        "disk": ss.simulate(slow, "atlas10k", "sptf"),
        "two": ss.compare(slow, ["atlas10k"], ["fcfs", "c_look"]),
        "hybrid": ss.simulate(ss.workload("random", rate=80, requests=200), "mcd", parts=True),
        "one": ss.simulate(ss.workload("random", rate=80, requests=1), "g2"),
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield started
        started.close()


Open: TypeAlias = "Callable[..., Any]"


@pytest.fixture(scope="module")
def opened(browser: Any, runs: dict[str, Any], tmp_path_factory: Any) -> Iterator[Open]:
    """Return what opens the page of a result; no page may say anything on the console."""
    folder: Path = tmp_path_factory.mktemp("pages")
    contexts, said = [], []

    def opens(name: str, width: int = 1280, scheme: str = "light") -> Any:
        file = folder / f"{name}.html"
        if not file.exists():
            runs[name].explore(file)
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function("window.sledsim")
        page.evaluate("window.sledsim.ready")
        return page

    yield opens
    for context in contexts:
        context.close()
    assert said == []


def _now_ms(page: Any) -> float:
    return float(page.evaluate("window.sledsim.now()")) / 1e6


def test_a_sled_is_where_python_says(opened: Open, runs: dict[str, Any]) -> None:
    """At 1,000 instants of moves in X and passes over rows, to 1e-9 of half the travel."""
    run = runs["sled"]
    sled = ss.device("g2(turnaround=exact)")
    assert isinstance(sled, ss.Sled)
    rows = {name: run.rows[name] for name in ROWS}
    half_m, instants = 50e-6, []
    for place in range(len(rows["id"])):
        if rows["passes"][place] != 1:
            continue
        at = sled.locate(rows["lbn"][place])
        begin_m = sled.locate(sled.lbn(rows["from_cylinder"][place], 0, 0, 0)).x_m
        ways = [] if begin_m == at.x_m else sled.trajectory("x", begin_m, at.x_m)
        for instant in ways[:: max(1, len(ways) // 3)]:
            moment = rows["start_ns"][place] + instant.time_s * 1e9
            instants.append((moment, "x_m", instant.place_m))
    assert len(instants) > 1000
    page = opened("sled")
    found = page.evaluate(
        "moments => moments.map(t => window.sledsim.state(0, 0, t))",
        [moment for moment, _, _ in instants],
    )
    for (moment, axis, place_m), state in zip(instants, found, strict=True):
        # Moments are rounded to parts of a ns, in which the sled moves at most 1e-12 m.
        assert abs(state[axis] - place_m) < 1e-9 * half_m + 1e-12, moment
    # Over a row it moves at access velocity: two instants 0.1 ms apart.
    single = [place for place, passes in enumerate(rows["passes"]) if passes == 1]
    for place in single[:50]:
        inside = rows["start_ns"][place] + rows["seek_ns"][place] + 1e3
        before, after = page.evaluate(
            "at => at.map(t => window.sledsim.state(0, 0, t))", [inside, inside + 1e5]
        )
        assert before["y_phase"] == after["y_phase"] == "passes"
        assert math.isclose(abs(after["y_m"] - before["y_m"]), 28e-3 * 1e-4, rel_tol=1e-6)
        row = sled.locate(rows["lbn"][place]).row
        assert (before["cylinder"], before["media_row"]) == (
            sled.locate(rows["lbn"][place]).cylinder,
            row,
        )


def test_a_disk_turns_and_seeks_as_python_says(opened: Open, runs: dict[str, Any]) -> None:
    disk = ss.device("atlas10k")
    assert isinstance(disk, ss.Disk)
    rows = runs["disk"].rows
    page = opened("disk")
    at = [moment * 1e6 for moment in range(100)]
    states = page.evaluate("at => at.map(t => window.sledsim.state(0, 0, t))", at)
    turns_per_ms = 10_025 / 60e3  # of the drive's manual
    for before, after in pairwise(states):
        turned = (after["angle"] - before["angle"]) % 1
        assert math.isclose(turned, turns_per_ms, rel_tol=1e-3)
    for lbn, start, seek, cylinder, passes in zip(
        *(rows[name] for name in ("lbn", "start_ns", "seek_ns", "from_cylinder", "passes")),
        strict=True,
    ):
        if cylinder is None or passes != 1:
            continue
        target = disk.locate(lbn).cylinder
        between, there = page.evaluate(
            "at => at.map(t => window.sledsim.state(0, 0, t))",
            [start + seek / 2, start + seek + 1],
        )
        assert there["cylinder"] == target
        assert not there["interpolated"]
        if abs(target - cylinder) > 1:
            assert between["interpolated"]
            low, high = sorted((target, cylinder))
            assert low <= between["cylinder"] <= high


def test_steps_go_by_request_choice_and_event(opened: Open, runs: dict[str, Any]) -> None:
    page = opened("sled")
    starts = sorted(runs["sled"].rows["start_ns"])
    page.evaluate("window.sledsim.seek(0)")
    for start in starts[:5]:
        page.keyboard.press("]")
        assert math.isclose(_now_ms(page), start / 1e6, abs_tol=1e-6)
    page.keyboard.press("[")
    assert math.isclose(_now_ms(page), starts[3] / 1e6, abs_tol=1e-6)
    page.keyboard.press(".")
    assert "chose among" in page.inner_text(".run-body")
    before = _now_ms(page)
    page.keyboard.press("ArrowRight")
    assert _now_ms(page) > before
    page.keyboard.press("End")
    assert math.isclose(_now_ms(page), max(runs["sled"].rows["completion_ns"]) / 1e6, rel_tol=1e-9)
    page.keyboard.press("Home")
    assert _now_ms(page) == 0
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press(" ")
    page.wait_for_function("window.sledsim.now() > 0")
    page.keyboard.press(" ")
    paused = _now_ms(page)
    page.wait_for_timeout(100)
    assert _now_ms(page) == paused


def test_a_click_shows_the_row_and_its_formula(opened: Open, runs: dict[str, Any]) -> None:
    page = opened("sled")
    rows = runs["sled"].rows
    page.evaluate("window.sledsim.seek(2e8)")
    button = page.locator("tr.taken button")
    name = button.inner_text()
    button.click()
    shown = page.inner_text("#row").replace("\xa0", " ")
    assert name in shown
    number = int(name.split()[1].replace(",", ""))
    place = rows["id"].index(number)
    assert f"{rows['seek_ns'][place] / 1e6:.6f} ms" in shown
    assert "equal, to the ns" in shown
    assert "atan" in shown
    zoomed, names = page.locator("#zoomed"), set()
    width = zoomed.bounding_box()["width"]
    for share in (0.55, 0.6, 0.7, 0.8, 0.9):
        zoomed.click(position={"x": width * share, "y": 24})
        names.add(page.inner_text("#row h3"))
    assert len(names) > 2


def test_the_time_line_scrubs(opened: Open) -> None:
    page = opened("disk")
    box = page.locator("#overview").bounding_box()
    end = float(page.evaluate("window.sledsim.runs[0].end_ns")) / 1e6
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 8)
    page.mouse.down()
    assert math.isclose(_now_ms(page), end * 0.25, rel_tol=0.05)
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 8)
    assert math.isclose(_now_ms(page), end * 0.75, rel_tol=0.05)
    page.mouse.up()


def test_two_runs_are_shown_at_the_same_instant(opened: Open) -> None:
    page = opened("two")
    page.evaluate("window.sledsim.seek(5e8)")
    assert page.locator("#runs > article").count() == 2
    first, second = page.evaluate("[0, 1].map(run => window.sledsim.state(run, 0, 5e8))")
    assert first["angle"] == second["angle"]
    boxes = [page.locator("#runs > article").nth(i).bounding_box() for i in range(2)]
    assert boxes[0]["y"] == boxes[1]["y"]
    narrow = opened("two", width=360)
    boxes = [narrow.locator("#runs > article").nth(i).bounding_box() for i in range(2)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]


def test_a_hybrid_says_which_part_served_a_request(opened: Open) -> None:
    page = opened("hybrid")
    page.evaluate("window.sledsim.seek(1e9)")
    assert page.locator("canvas.view").count() >= 4
    assert "served by mcd.device." in page.inner_text(".run-body")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["sled", "two", "hybrid", "one"])
def test_pages_are_accessible(opened: Open, name: str, scheme: str) -> None:
    """Neither axe nor a narrow window finds anything."""
    from axe_playwright_python.sync_playwright import Axe

    page = opened(name, scheme=scheme)
    page.evaluate("window.sledsim.seek(window.sledsim.runs[0].end_ns / 2)")
    found = Axe().run(page)
    assert [violation["id"] for violation in found.response["violations"]] == []


@pytest.mark.parametrize("width", [360, 800, 2560])
@pytest.mark.parametrize("name", ["sled", "two", "hybrid"])
def test_nothing_is_wider_than_the_window(opened: Open, name: str, width: int) -> None:
    page = opened(name, width=width)
    page.evaluate("window.sledsim.seek(window.sledsim.runs[0].end_ns / 2)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_canvases_say_what_they_show(opened: Open) -> None:
    page = opened("sled")
    page.evaluate("window.sledsim.seek(1e8)")
    for canvas in page.locator("canvas").all():
        assert canvas.get_attribute("role") == "img"
        assert len(canvas.get_attribute("aria-label")) > 10
