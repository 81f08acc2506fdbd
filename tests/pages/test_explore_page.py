"""Pages that explain runs, in Chromium: states, steps, keys; ``test_pages.py`` looks at all."""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss

from tests.shown_page import browser

__all__ = ["browser"]  # a fixture

STATES = "at => at.map(t => window.sledsim.state(0, 0, t))"


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
    }


@pytest.fixture(scope="module")
def opened(
    browser: Any, runs: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Any]]:
    """Return what opens the page of a result; no page may say anything on the console."""
    folder: Path = tmp_path_factory.mktemp("pages")
    context = browser.new_context(offline=True)
    said: list[str] = []

    def opens(name: str, width: int = 1280) -> Any:
        file = folder / f"{name}.html"
        if not file.exists():
            runs[name].explore(file)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function("window.sledsim")
        page.evaluate("window.sledsim.ready")
        return page

    yield opens
    context.close()
    assert said == []


def _now_ms(page: Any) -> float:
    return float(page.evaluate("window.sledsim.now()")) / 1e6


def test_a_sled_is_where_python_says(opened: Any, runs: dict[str, Any]) -> None:
    """At 1,000 instants of moves in X and passes over rows, to 1e-9 of half the travel."""
    run = runs["sled"]
    sled = ss.device("g2(turnaround=exact)")
    assert isinstance(sled, ss.Sled)
    names = ("start_ns", "lbn", "from_cylinder", "seek_ns", "passes")
    rows = {name: run.rows[name] for name in names}
    single = [place for place, passes in enumerate(rows["passes"]) if passes == 1]
    half_m, instants = 50e-6, []
    for place in single:
        at = sled.locate(rows["lbn"][place])
        begin_m = sled.locate(sled.lbn(rows["from_cylinder"][place], 0, 0, 0)).x_m
        ways = [] if begin_m == at.x_m else sled.trajectory("x", begin_m, at.x_m)
        begin_ns, some = rows["start_ns"][place], ways[:: max(1, len(ways) // 3)]
        instants += [(begin_ns + instant.time_s * 1e9, instant.place_m) for instant in some]
    assert len(instants) > 1000
    page = opened("sled")
    found = page.evaluate(STATES, [moment for moment, _ in instants])
    for (moment, place_m), state in zip(instants, found, strict=True):
        # Moments are rounded to parts of a ns, in which the sled moves at most 1e-12 m.
        assert abs(state["x_m"] - place_m) < 1e-9 * half_m + 1e-12, moment
    # Over a row it moves at access velocity: two instants 0.1 ms apart.
    for place in single[:50]:
        inside = rows["start_ns"][place] + rows["seek_ns"][place] + 1e3
        before, after = page.evaluate(STATES, [inside, inside + 1e5])
        assert before["y_phase"] == after["y_phase"] == "passes"
        assert math.isclose(abs(after["y_m"] - before["y_m"]), 28e-3 * 1e-4, rel_tol=1e-6)
        at = sled.locate(rows["lbn"][place])
        assert (before["cylinder"], before["media_row"]) == (at.cylinder, at.row)


def test_a_disk_turns_and_seeks_as_python_says(opened: Any, runs: dict[str, Any]) -> None:
    disk = ss.device("atlas10k")
    assert isinstance(disk, ss.Disk)
    rows = runs["disk"].rows
    page = opened("disk")
    states = page.evaluate(STATES, [moment * 1e6 for moment in range(100)])
    turns_per_ms = 10_025 / 60e3  # of the drive's manual
    for before, after in pairwise(states):
        turned = (after["angle"] - before["angle"]) % 1
        assert math.isclose(turned, turns_per_ms, rel_tol=1e-3)
    names = ("lbn", "start_ns", "seek_ns", "from_cylinder", "passes")
    columns = [rows[name] for name in names]
    for lbn, start, seek, cylinder, passes in zip(*columns, strict=True):
        if cylinder is None or passes != 1:
            continue
        target = disk.locate(lbn).cylinder
        between, there = page.evaluate(STATES, [start + seek / 2, start + seek + 1])
        assert there["cylinder"] == target
        assert not there["interpolated"]
        if abs(target - cylinder) > 1:
            assert between["interpolated"]
            assert min(target, cylinder) <= between["cylinder"] <= max(target, cylinder)


def test_steps_go_by_request_choice_and_event(opened: Any, runs: dict[str, Any]) -> None:
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


def test_a_click_shows_the_row_and_its_formula(opened: Any, runs: dict[str, Any]) -> None:
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


def test_the_time_line_scrubs(opened: Any) -> None:
    page = opened("disk")
    box = page.locator("#overview").bounding_box()
    end = float(page.evaluate("window.sledsim.runs[0].end_ns")) / 1e6
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 8)
    page.mouse.down()
    assert math.isclose(_now_ms(page), end * 0.25, rel_tol=0.05)
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 8)
    assert math.isclose(_now_ms(page), end * 0.75, rel_tol=0.05)
    page.mouse.up()


def test_two_runs_are_shown_at_the_same_instant(opened: Any) -> None:
    page = opened("two")
    page.evaluate("window.sledsim.seek(5e8)")
    assert page.locator("#runs > article").count() == 2
    first, second = page.evaluate("[0, 1].map(run => window.sledsim.state(run, 0, 5e8))")
    assert first["angle"] == second["angle"]
    for shown in (page, opened("two", width=360)):
        one, other = (one.bounding_box() for one in shown.locator("#runs > article").all())
        assert other["y"] == one["y"] if shown is page else other["y"] >= one["y"] + one["height"]


def test_a_hybrid_says_which_part_served_a_request(opened: Any) -> None:
    page = opened("hybrid")
    page.evaluate("window.sledsim.seek(1e9)")
    assert page.locator("canvas.view").count() >= 4
    assert "served by mcd.device." in page.inner_text(".run-body")


def test_canvases_say_what_they_show(opened: Any) -> None:
    page = opened("sled")
    page.evaluate("window.sledsim.seek(1e8)")
    for canvas in page.locator("canvas").all():
        assert canvas.get_attribute("role") == "img"
        assert len(canvas.get_attribute("aria-label")) > 10
