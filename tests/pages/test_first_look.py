"""The first example: its output and its page."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss

from tests.example_runs import EXAMPLES, run_twice

ROOT = Path(__file__).parents[2]
REQUESTS = 5000
DEVICES = ["sigmetrics2000", "g1", "g2", "g3"]
LOADS = {
    "Random, one after the other": ss.workload(requests=REQUESTS),
    "Random, 400 per second": ss.workload(requests=REQUESTS, rate=400),
    "PostMark trace, recorded pace": ss.read_trace("sample:postmark-ext4"),
    "PostMark trace, 8 times slower": ss.read_trace("sample:postmark-ext4", time_scale=0.125),
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
            self.figures[-1].append(data.strip().replace("\xa0", " "))
        elif {"td", "th"} & set(self._open[-2:]):
            self.lines[-1][-1] += " " + data if self.lines[-1][-1] else data


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
def tables(page: Page) -> list[list[list[str]]]:
    """Return the rows of the tables of runs, a table for each load."""
    starts = [at for at, line in enumerate(page.lines) if "speed-up" in line]
    assert len(starts) == len(LOADS)
    return [page.lines[start + 1 : start + 1 + len(DEVICES)] for start in starts]


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


def test_numbers_of_the_tables_are_those_of_the_summaries(
    tables: list[list[list[str]]], summaries: dict[tuple[str, str], dict[str, Any]]
) -> None:
    for load, rows in zip(LOADS, tables, strict=True):
        assert [row[1] for row in rows] == DEVICES
        for _, device, mark, mean, _, p50, p99, p99_9, longest, rate, busy, energy, *_ in rows:
            summary = summaries[load, device]
            times = summary["response_time_ms"]
            unreliable = summary["confidence"]["response_time_ms"]["caution"]
            assert (mark == "!") == bool(unreliable or summary["overloaded"])
            for shown, value in (
                (mean, times["mean"]),
                (p50, times["p50"]),
                (p99, times["p99"]),
                (p99_9, times["p99_9"]),
                (longest, times["max"]),
                (rate, summary["throughput_iops"]),
                (busy.removesuffix(" %"), 100 * summary["utilisation"]),
                (energy, 1e3 * summary["energy_j"]["total"] / summary["requests"]),
            ):
                digits = len(re.sub(r"[.,]|^[0.]+", "", shown).rstrip("0")) or 1
                assert float(shown.replace(",", "")) == pytest.approx(
                    value, rel=0.5 * 10 ** (1 - digits) * 1.01, abs=5e-4
                ), (load, device, shown)


def test_the_terminal_shows_the_same_tables(
    tables: list[list[list[str]]], printed: list[str]
) -> None:
    text = "\n".join(printed)
    for load, rows in zip(LOADS, tables, strict=True):
        own = text.partition(f"{load}\n")[2].partition("mean, ms, by cause")[0]
        for _, device, _, *cells in rows:
            lines = [line for line in own.splitlines() if line.startswith(f"{device} ")]
            shown = " ".join(lines).split()
            assert all(word in shown for cell in cells for word in cell.split()), (load, device)


def test_the_sleds_take_as_long_as_those_of_other_programs(
    summaries: dict[tuple[str, str], dict[str, Any]],
) -> None:
    sled_ms = {"sigmetrics2000": 2.040, "g1": 1.301, "g2": 0.7666, "g3": 0.5715}
    for device, own_ms in sled_ms.items():  # positioning and transfer
        summary = summaries["Random, one after the other", device]
        busy_ms = summary["utilisation"] * summary["response_time_ms"]["mean"]
        assert busy_ms == pytest.approx(own_ms, rel=0.01)


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
    assert f"{fast} is the fastest" in page.text
    assert f"that of {slow}, the slowest" in page.text


def test_the_figures_show_all_devices(page: Page) -> None:
    *loads, centre, corner, g2_centre, g2_corner = page.figures
    assert len(loads) == 2 * len(LOADS)
    for distribution, causes in zip(loads[::2], loads[1::2], strict=True):
        assert {*DEVICES, "response time, ms", "share of requests"} <= set(distribution)
        assert {*DEVICES, "seek", "transfer"} <= {text.rstrip(" !*") for text in causes}
    for figure in (centre, corner, g2_centre, g2_corner):
        assert {"X, µm", "Y, µm", "seek time, ms"} <= set(figure)
    assert "Seek times of sigmetrics2000 from the corner" in " ".join(corner)
    assert "Seek times of g2 from the corner" in " ".join(g2_corner)


def test_the_longest_seeks_are_from_edge_to_edge() -> None:
    """In X, springs and settling included; as other programs have them."""
    for name, longest_ms in {"sigmetrics2000": 2.19, "g2": 0.77}.items():
        device = ss.device(name)
        assert isinstance(device, ss.Sled)
        ends = [(x * 1e-6, y * 1e-6) for x in range(-50, 51, 5) for y in range(-50, 51, 5)]
        times = [
            min(device.seek((-50e-6, -50e-6, "up"), (*end, way)).seek_s for way in ("up", "down"))
            for end in ends
        ]
        assert 1e3 * max(times) == pytest.approx(longest_ms, abs=0.005)
