"""The first example: its output and its page."""

import re
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import sledsim as ss

from tests.example_runs import EXAMPLES, run_twice

ROOT = Path(__file__).parents[1]
REQUESTS = 5000
DEVICES = ["sigmetrics2000", "g1", "g2", "g3"]
LOADS = {
    "PostMark trace, recorded pace": ss.read_trace("sample:postmark-ext4"),
    "PostMark trace, 8 times slower": ss.read_trace("sample:postmark-ext4", time_scale=0.125),
    "Random, one after the other": ss.workload(requests=REQUESTS),
    "Random, 400 per second": ss.workload(requests=REQUESTS, rate=400),
}


class Page(HTMLParser):
    """The content of the page as a browser sees it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.lines: list[list[str]] = []
        """The cells of every table row, and before them the class of the row."""
        self.figures: list[list[str]] = []
        """The texts in every figure."""
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        if tag == "figure":
            self.figures.append([])
        elif tag == "tr":
            self.lines.append([attributes.get("class", "")])
        elif tag in {"th", "td"}:
            self.lines[-1].append("")
        if tag not in {"base", "br", "img", "link", "meta"}:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if "figure" in self._open:
            self.figures[-1].append(data.strip())
        elif self._open[-1:] in (["td"], ["th"]):
            self.lines[-1][-1] += " " + data if self.lines[-1][-1] else data


class Shown(NamedTuple):
    """One run as a line of the big table."""

    load: str
    device: str
    behind: bool
    cells: dict[str, str]

    def number(self, heading: str) -> float:
        return float(self.cells[heading].replace(",", ""))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("first-look")


@pytest.fixture(scope="module")
def printed(folder: Path) -> list[str]:
    """Run the example twice, in different circumstances, and return its output."""
    (folder / "matplotlibrc").write_text(
        "axes.labelsize: 30\nimage.cmap: gray\nsvg.hashsalt: pepper\n"
    )
    targets = [folder / f"page{number}" / "index.html" for number in (1, 2)]
    (*first, last_of_first), (*second, last_of_second) = run_twice(
        EXAMPLES / "first_look.py",
        lambda number: ["--requests", str(REQUESTS), "--output", str(targets[number])],
        (ROOT, folder),
        MPLCONFIGDIR=str(folder),
    )
    assert [last_of_first, last_of_second] == [f"Written: {target}" for target in targets]
    assert [list(target.parent.iterdir()) for target in targets] == [[one] for one in targets]
    assert first == second
    return first


@pytest.fixture(scope="module")
def page(folder: Path, printed: list[str]) -> Page:
    assert printed
    return Page((folder / "page1" / "index.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def shown(page: Page) -> list[Shown]:
    _, *headings = page.lines[0]
    table = []
    load = ""
    for behind, *cells in page.lines[1:]:
        if len(cells) == 1:
            load = cells[0]
        elif len(cells) == len(headings):
            line = dict(zip(headings, cells, strict=True))
            table.append(Shown(load, line["device"], behind == "marked", line))
    return table


@pytest.fixture(scope="module")
def summaries() -> dict[tuple[str, str], dict[str, Any]]:
    """Make the same runs here."""
    return {
        (title, name): ss.simulate(load, ss.device(name), rows=False).to_dict()["summary"]
        for title, load in LOADS.items()
        for name in DEVICES
    }


@pytest.mark.usefixtures("printed")
def test_two_runs_write_the_same_page(folder: Path) -> None:
    first, second = (folder / f"page{run}" / "index.html" for run in (1, 2))
    assert first.read_bytes() == second.read_bytes()


def test_the_page_is_self_contained_and_has_no_machine_data(page: Page) -> None:
    allowed = re.compile(r"#|data:image/png;base64,")
    for tag, attributes in page.tags:
        assert tag not in {"script", "link", "iframe", "object", "img", "base"}
        for name in {"src", "srcset", "href", "xlink:href", "data", "action"} & attributes.keys():
            assert allowed.match(attributes[name]), (tag, name, attributes[name][:80])
    assert "@import" not in page.text
    assert re.findall(r"url\((?!#)", page.text) == []
    assert re.findall(r"https?:", page.text) == []
    assert re.findall(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", page.text) == []
    assert str(ROOT) not in page.text
    assert str(Path.home()) not in page.text


def test_references_inside_the_page_find_one_thing_each(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    wanted = set(re.findall(r"url\(#([^)]*)\)", page.text))
    wanted |= {
        attributes["href"][1:]
        for _, attributes in page.tags
        if attributes.get("href", "").startswith("#")
    }
    assert wanted
    assert wanted <= set(ids)
    assert set(re.findall(r"var\(--([\w]+)\)", page.text)) <= set(
        re.findall(r"--([\w]+): #", page.text)
    )


def test_every_device_has_its_line_under_every_load(shown: list[Shown]) -> None:
    found = {
        load: [run.device for run in runs] for load, runs in groupby(shown, lambda run: run.load)
    }
    assert found == dict.fromkeys(LOADS, DEVICES)


def test_numbers_of_the_table_are_those_of_the_summaries(
    shown: list[Shown], summaries: dict[tuple[str, str], dict[str, Any]]
) -> None:
    for run in shown:
        summary = summaries[run.load, run.device]
        response = summary["response_time_ms"]
        expected = {
            "requests": summary["requests"],
            "response mean ms": response["mean"],
            "p50 ms": response["p50"],
            "p99 ms": response["p99"],
            "p99.9 ms": response["p99_9"],
            "service mean ms": summary["service_time_ms"]["mean"],
            "seek mean ms": summary["seek_ms"]["mean"],
            "X seek mean ms": summary["x_seek_ms"]["mean"],
            "Y seek mean ms": summary["y_seek_ms"]["mean"],
            "done per s": summary["throughput_iops"],
            "busy %": 100 * summary["utilisation"],
            "energy mJ each": 1000 * summary["request_energy_j"] / summary["requests"],
            "longest queue": summary["max_queue_depth"],
        }
        assert run.cells.keys() == expected.keys() | {"device"}
        for heading, value in expected.items():
            decimals = len(run.cells[heading].partition(".")[2])
            rounding = 0.501 * 10**-decimals
            assert run.number(heading) == pytest.approx(value, rel=0, abs=rounding), (run, heading)
            exact = heading in {"requests", "longest queue", "busy %"}
            assert exact or decimals == 3 or rounding <= 1e-3 * value, (run, heading)


def test_the_terminal_shows_the_same_table(shown: list[Shown], printed: list[str]) -> None:
    lines = [re.split(r"  +", line) for line in printed]
    for load, runs in groupby(shown, lambda run: run.load):
        start = lines.index([load]) + 1
        assert lines[start : start + 4] == [list(run.cells.values()) for run in runs]


def test_known_relations_of_the_devices_hold_in_the_table(shown: list[Shown]) -> None:
    for run in shown:
        x, y, seek = (run.number(f"{part}seek mean ms") for part in ("X ", "Y ", ""))
        assert max(x, y) <= seek < x + y
        assert run.number("p50 ms") < run.number("p99 ms") < run.number("p99.9 ms")
        assert run.number("service mean ms") < run.number("response mean ms") + 1e-9
        busy = run.number("done per s") * run.number("service mean ms") / 1e3
        assert run.number("busy %") / 100 == pytest.approx(busy, rel=0.01, abs=0.001)
    closed = [run for run in shown if run.load == "Random, one after the other"]
    sled_ms = {"sigmetrics2000": 2.040, "g1": 1.301, "g2": 0.7666, "g3": 0.5715}
    for run in closed:  # positioning and transfer, from runs of other programs
        busy_ms = run.number("busy %") / 100 * run.number("response mean ms")
        assert busy_ms == pytest.approx(sled_ms[run.device], rel=0.01)


def test_a_device_that_cannot_keep_up_is_named(
    page: Page,
    printed: list[str],
    shown: list[Shown],
    summaries: dict[tuple[str, str], dict[str, Any]],
) -> None:
    behind = {(run.load, run.device) for run in shown if run.behind}
    waited_s = {key: summary["queue_ms"]["max"] / 1e3 for key, summary in summaries.items()}
    assert behind == {key for key, wait_s in waited_s.items() if wait_s > 1}
    assert {device for _, device in behind} == {"sigmetrics2000", "g1"}
    warnings = [line for line in printed if "falls behind" in line]
    assert len(warnings) == page.text.count("falls behind") == len(behind)
    for load, device in behind:
        (warning,) = (line for line in warnings if line.startswith(f'{device} on "{load}"'))
        assert f"for {waited_s[load, device]:.1f} s" in warning


def test_it_leads_with_a_sentence_and_a_distribution(
    page: Page, summaries: dict[tuple[str, str], dict[str, Any]]
) -> None:
    order = [tag for tag, _ in page.tags if tag in {"h1", "p", "figure", "table"}]
    assert order[:3] == ["h1", "p", "p"]
    assert order.index("figure") < order.index("table")
    means = {
        name: summaries["Random, one after the other", name]["response_time_ms"]["mean"]
        for name in DEVICES
    }
    fast, slow = (choose(means, key=lambda name: means[name]) for choose in (min, max))
    assert f"{fast} is the fastest and {slow} the slowest" in page.text


def test_the_figures_show_all_devices(page: Page) -> None:
    titles = list(LOADS)
    *loads, history, random, slow, centre, corner, g2_centre, g2_corner = page.figures
    for title, figure in zip([titles[2], *titles[:2], titles[3]], loads, strict=True):
        assert f"{title}." in figure
        assert {*DEVICES, "response time, ms", "share of requests"} <= set(figure)
    assert {*DEVICES, "time of arrival, s", "mean response time, ms"} <= set(history)
    for figure, title in ((random, titles[2]), (slow, titles[1])):
        assert f"{title}." in figure
        assert {*DEVICES, "seek", "transfer", "overhead"} <= {text.rstrip(" !*") for text in figure}
    for figure in (centre, corner, g2_centre, g2_corner):
        assert {"X, µm", "Y, µm", "seek time, ms"} <= set(figure)
    # The longest seeks: edge to edge in X, springs and settling included.
    assert "sigmetrics2000, from the corner." in corner
    assert "Longest 2.19 ms" in " ".join(corner)
    assert "g2, from the corner." in g2_corner
    assert "Longest 0.77 ms" in " ".join(g2_corner)
