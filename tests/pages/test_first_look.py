"""The first example: its output and its page, which ``test_pages.py`` looks at, too."""

from pathlib import Path

import pytest
import sledsim as ss
from sledsim.show import as_text, sheet_of

from tests.example_runs import EXAMPLES, run_twice
from tests.shown_page import Shown

ROOT = Path(__file__).parents[2]
REQUESTS = 5000
DEVICES = ["sigmetrics2000", "g1", "g2", "g3"]
LOADS = {
    "Random, one after the other": ss.workload(requests=REQUESTS),
    "Random, 400 per second": ss.workload(requests=REQUESTS, rate=400),
    "PostMark trace, recorded pace": ss.read_trace("sample:postmark-ext4"),
    "PostMark trace, 8 times slower": ss.read_trace("sample:postmark-ext4", time_scale=0.125),
}


@pytest.fixture(scope="module")
def first_look(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Shown]:
    """Run the example twice, in different circumstances; return its output and its page."""
    folder = tmp_path_factory.mktemp("first-look")
    own = "axes.labelsize: 30\nimage.cmap: gray\nsvg.hashsalt: pepper\n"
    (folder / "matplotlibrc").write_text(own)
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
    assert targets[0].read_bytes() == targets[1].read_bytes()
    return first, Shown(targets[0].read_text(encoding="utf-8"))


def test_the_terminal_and_the_page_show_the_tables_of_the_comparisons(
    first_look: tuple[list[str], Shown],
) -> None:
    """As sheets have them, cell by cell."""
    text, lines = "\n".join(first_look[0]), first_look[1].rows()
    for title, load in LOADS.items():
        comparison = ss.compare(load, DEVICES)
        assert text.partition(f"{title}\n\n")[2].startswith(as_text(comparison))
        for table in sheet_of(comparison).tables:
            for row in table.rows:
                cells = [" ".join(str(cell).split()) for cell in row]
                assert cells in [line[: len(cells)] for line in lines], (title, cells)


def test_the_sleds_take_as_long_as_those_of_other_programs() -> None:
    sled_ms = {"sigmetrics2000": 2.040, "g1": 1.301, "g2": 0.7666, "g3": 0.5715}
    for device, own_ms in sled_ms.items():  # positioning and transfer
        summary = ss.simulate(ss.workload(requests=REQUESTS), device, rows=False).summary
        busy_ms = summary["utilisation"] * summary["response_time_ms"]["mean"]
        assert busy_ms == pytest.approx(own_ms, rel=0.01)


def test_it_leads_with_a_sentence_and_a_distribution(first_look: tuple[list[str], Shown]) -> None:
    page = first_look[1]
    order = [tag for tag, _ in page.tags if tag in {"h1", "p", "figure", "table"}]
    assert order[:3] == ["h1", "p", "p"]
    assert order.index("figure") < order.index("table")
    assert "g3 is the fastest" in page.text
    assert "that of sigmetrics2000, the slowest" in page.text


def test_the_figures_show_all_devices(first_look: tuple[list[str], Shown]) -> None:
    *loads, _, corner, _, g2_corner = figures = first_look[1].all("figure")
    assert len(loads) == 2 * len(LOADS)
    wanted = [*DEVICES, "response time, ms", "share of requests"], [*DEVICES, "seek", "transfer"]
    for place, figure in enumerate(figures):
        maps = ["X, µm", "Y, µm", "seek time, ms"]
        for text in maps if place >= len(loads) else wanted[place % 2]:
            assert text in figure
    assert "Seek times of sigmetrics2000 from the corner" in corner
    assert "Seek times of g2 from the corner" in g2_corner


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
