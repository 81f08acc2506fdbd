"""Examples run, draw, refuse what is wrong, and say what closed forms and the papers say."""

from __future__ import annotations

import json
import re
import runpy
from functools import cache
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from matplotlib.figure import Figure
from shared import write
from sledsim.cli import main
from sledsim.papers import find, power
from sledsim.papers.osdi2000 import curves, figure6a, parts

from tests.example_runs import EXAMPLES, has_no_date, run_once, run_twice

if TYPE_CHECKING:
    from collections.abc import Callable

    Ran = Callable[[str], tuple[list[str], Any]]

SCHEDULERS = EXAMPLES / "schedulers.toml"
QUICK = {
    "batching": ["--groups=300", "--json={}.json"],
    "latin_hypercube": ["--quick"],
    "power_study": ["--quick"],
    "raid5_rebuild": ["--quick", "--json={}.json"],
    "scrub": ["--quick"],
    "tables": ["--records=3000"],
    "tip_failures": ["--quick"],
}
"""Arguments of a short run; where {} stands, its files."""
DRAWN = sorted(QUICK.keys() - {"latin_hypercube"})


@cache
def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Run an example once; return its lines and its numbers."""

    @cache
    def run(name: str) -> tuple[list[str], Any]:
        stem = tmp_path_factory.mktemp(name) / "out"
        picture, numbers = stem.with_suffix(".svg"), stem.with_suffix(".json")
        words = [word.format(stem) for word in QUICK[name]]
        words += [f"--output={picture}"] if name in DRAWN else []
        lines = run_once(EXAMPLES / f"{name}.py", *words)
        found = json.loads(numbers.read_text(encoding="utf-8")) if numbers.exists() else None
        written = {path for path in (numbers, picture) if path.exists()}
        assert {*stem.parent.iterdir()} == written
        assert {line for line in lines if "Written" in line} == {f"Written: {f}" for f in written}
        if name in DRAWN:
            has_no_date(picture)
        return [line for line in lines if "Written" not in line], found

    return run


@pytest.mark.parametrize("name", QUICK)
def test_an_example_runs(ran: Ran, name: str) -> None:
    assert len(ran(name)[0]) >= 3
    assert name != "tables" or len(ran(name)[0]) == 1 + 3 * 6 * 2, "each query of each layout"


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("batching", "--groups=0", "--groups"),
        ("batching", "--rate=-1", "--rate"),
        ("batching", "--output=x.gif", "--output"),
        ("latin_hypercube", "--samples many", "--samples"),
        ("pareto", "--device atlas10k", 'kind = "disk": must be "mems"'),
        ("pareto", "--device g5", "g5"),
        ("pareto", "--requests 0", "requests"),
        ("pareto", "--seed -1", "seed"),
        ("pareto", "--requests many", "--requests"),
        ("pareto", "--output front.gif", "must end in .png, .svg, .pdf"),
        ("pareto", "--quick --json taken/front.json", "taken"),
        ("power_study", "--quick --trace none.srt", "none.srt"),
        ("raid5_rebuild", "--output raid5.jpeg", "must end in"),
        ("sensitivity", "--device atlas10k", 'kind = "disk": must be "mems"'),
        ("sensitivity", "--device g5", "g5"),
        ("sensitivity", "--share 0", "must be above 0 and below 1"),
        ("sensitivity", "--share 1", "must be above 0 and below 1"),
        ("sensitivity", "--share nan", "must be above 0 and below 1"),
        ("sensitivity", "--seeds 1", "must be 2 or more"),
        ("sensitivity", "--requests 0", "requests"),
        ("sensitivity", "--output tornado.gif", "must end in .png, .svg, .pdf"),
        ("sensitivity", "--quick --requests 20 --json taken/numbers.json", "taken"),
        ("study_duckdb", "--folder taken", "taken: cannot be used as the folder of a study"),
        ("tables", "--records 99", "--records 99: must be at least 100"),
        ("tip_failures", "--output x.txt", "must end in"),
    ],
)
def test_an_example_names_what_is_wrong_and_writes_nothing(
    name: str,
    words: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "taken").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit_:
        example(name)["main"](words.split())
    assert exit_.value.code == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize("content", ["text", Figure()])
def test_a_file_that_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, content: str | Figure, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken.png"
    taken.mkdir()
    with pytest.raises(OSError, match="taken"):
        write(taken, content)
    assert list(tmp_path.iterdir()) == [taken]
    assert capsys.readouterr().out == ""


def test_a_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "new" / "page.html"
    for text in ("one\n", "two\n"):
        write(file, text)
        assert file.read_bytes() == text.encode()
    assert list(file.parent.iterdir()) == [file]


# What each says


def test_batches_said_in_advance_are_best(ran: Ran) -> None:
    """As the paper argues: a window either misses the end of a group or costs its length."""
    ways = ran("batching")[1]["ways"]
    alone, both = ways["alone"], ways["second_host"]
    for case in (alone, both):
        assert case["explicit"]["whole"] == 1
        windows = [case[way] for way in case if way.startswith("window")]
        for way in (*windows, case["plain"]):
            assert case["explicit"]["group_ms"] < way["group_ms"]
        assert windows[-1]["whole"] > windows[0]["whole"]
        assert windows[-1]["group_ms"] > windows[-2]["group_ms"] + 0.8
    # Ten commands take 0.2 ms to deliver, the first of them 0.02: with the second host, longer.
    assert alone["window 0.2 ms"]["whole"] == pytest.approx(1, abs=0.05)
    assert both["window 0.2 ms"]["whole"] < alone["window 0.2 ms"]["whole"]


def test_an_array_of_five_writes_rebuilds_and_is_at_risk(ran: Ran) -> None:
    found = ran("raid5_rebuild")[1]
    assert list(found) == ["g2", "atlas10k"]
    more = {}
    for name, result in found.items():
        alone, raid5 = (result["small_write_ms"][way] for way in ("alone", "raid5"))
        more[name] = raid5 - alone
        assert 1 < raid5 / alone < 2.2
        took = list(result["rebuild_s"].values())
        assert took == sorted(took)
        phases = result["phases"]
        assert phases["rebuilding"]["mean_ms"] > phases["normal"]["mean_ms"]
        assert all(times["p99_ms"] > times["mean_ms"] for times in phases.values())
        assert result["risk"] == sorted(result["risk"], reverse=True)
    # The disk (10,025 rpm) turns round once, 5.99 ms; the sled turns back. What is more is the wait
    # for the later one of two reads.
    assert 4 < more["atlas10k"] < 8
    assert more["g2"] < 1
    assert found["g2"]["risk"][0] < found["atlas10k"]["risk"][0] / 5


def test_a_scrub_that_begins_earlier_ends_earlier_and_costs_more(ran: Ran) -> None:
    never, late, at_once = ran("scrub")[0][1:4]
    assert re.match(r" *never +\d\.\d% +[\d,]+ +0 +-", never)
    after = [float(re.findall(r"([\d,]+) s", line)[0].replace(",", "")) for line in (late, at_once)]
    assert after[0] > after[1]
    assert late.count("100.0%") == at_once.count("100.0%") == 1
    means = [float(line.split()[-3]) for line in (never, late, at_once)]
    assert means == sorted(means)


@pytest.mark.parametrize(
    ("size", "alignment", "rows"),
    # A request of s blocks anywhere lies in (s + 9) / 10 rows of ten in the mean; one of eight
    # that starts at a multiple of eight in one row twice of five times, else in two.
    [(1, 1, 1.0), (16, 1, 2.5), (40, 1, 4.9), (8, 8, 1.6), (10, 10, 1.0), (30, 10, 3.0)],
)
def test_what_a_request_leaves_is_what_its_rows_have_left(
    size: int, alignment: int, rows: float
) -> None:
    # Where a track is reversed, one row in 27, two rows are one place: up to p blocks less.
    left = 10 * rows - size
    found = example("scrub")["free_blocks"](size, alignment, 4000)
    crossings = rows - size / 10 if alignment == 1 else rows - 1
    assert left - 10 * crossings / 27 - 0.35 < found < left + 0.35


def test_a_scan_takes_as_many_requests_at_any_rate() -> None:
    hours = example("scrub")["hours"]
    took = [hours(rate, 0, True) * rate for rate in (20, 200)]
    assert took[0] == pytest.approx(took[1], rel=0.02)
    assert hours(20, 5, True) * 20 < took[0]


def test_queries_pay_for_what_they_need(tmp_path: Path) -> None:
    path, tables, records = tmp_path / "records.parquet", example("tables"), 60_000
    tables["write_parquet"](path, records)
    costs = {
        (one.layout, one.query, one.engine): one
        for layout in tables["LAYOUTS"]
        for one in tables["costs"](path, layout)
    }
    rows = 16 * 512 * ceil(records / 115)  # CMU-CS-03-125, 5.2.5: 115 records on 8 KB
    capsules = 512 * records // 60  # and nine pages for 60 records, one of them the first column
    for engine in ("polars", "duckdb"):
        for query, pages in (("count", 0), ("8 bytes", 1), ("8 + 32 bytes", 5), ("all columns", 9)):
            moved = {name: costs[name, query, engine].bytes_moved for name in tables["LAYOUTS"]}
            assert moved["normal"] == (rows if pages else 0)
            assert moved["capsule"] == pages * capsules
            assert moved["vertical"] <= pages * capsules
        ranges = [costs[layout, "100 records", engine] for layout in tables["LAYOUTS"]]
        assert {one.rows for one in ranges} == {100}
        assert all(one.bytes_moved <= 512 * 32 for one in ranges)
        single = {layout: costs[layout, "one record", engine] for layout in tables["LAYOUTS"]}
        assert single["vertical"].simulated_s > 2 * single["capsule"].simulated_s


def test_spare_tips_and_squares_bear_failures(ran: Ran) -> None:
    printed = ran("tip_failures")[0]
    schemes = [line.split() for line in printed[1:8]]
    chances = {(row[0], row[1], row[2]): row[4:7] for row in schemes}
    assert chances["0", "0", "tolerance"] == ["100.0%"] * 3
    assert chances["2", "128", "tolerance"][0] == "0.0%"
    assert chances["2", "128", "capacity"] == ["0.0%"] * 3
    # 128 spare tips bear as many failures; each square of 66 that is given up bears its own and
    # 65 more: 272 take 5 of 100.
    assert schemes[-1][-1] == "95.0%"
    spare, elsewhere = (
        [float(word) for word in line.split()[1:7]] for line in sorted(printed[-2:], reverse=True)
    )
    assert len(set(spare)) == 1
    assert elsewhere[0] == spare[0]
    assert elsewhere == sorted(elsewhere, reverse=True)
    assert elsewhere[-1] < 0.8 * elsewhere[0]


def test_the_study_of_power_names_its_parts(ran: Ran) -> None:
    text = "\n".join(ran("power_study")[0])
    parts_ = ("g2, random", "atlas10k, trace postmark-ext4, 50 times", "Savings of Lin et al. 2002")
    assert [part for part in parts_ if part not in text] == []


def test_a_longer_timeout_takes_more_energy_and_less_time() -> None:
    load = ss.workload("random", rate=50, requests=2000)
    points = power.trade_off(load, "g2", example("power_study")["policies"]("g2"))
    line = [point for name, point in points.items() if name != "adaptive"]
    assert all(a.response_ms >= b.response_ms for a, b in pairwise(line))
    joules = [point.total_j for point in line[2:]]
    assert joules == sorted(joules)
    # 100 mW against 50 when nearly all is idle.
    assert points["never"].power_mw / points["immediate"].power_mw == pytest.approx(1.85, abs=0.15)
    assert points["adaptive"].total_j < 1.1 * points["immediate"].total_j


def rows_of(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    assert main(["sweep", str(SCHEDULERS), *map(str, words), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return json.loads(said.out)


def test_schedulers_are_in_the_order_of_the_paper_and_a_second_run_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--set", "requests=20000", "--replications", "1", "--output", tmp_path / "study")
    first = rows_of(capsys, *few, "--plot", tmp_path / "figure.svg")
    means: dict[float, dict[str, float]] = {}
    for row in first["rows"]:
        assert "saturated" not in row["caution"]
        means.setdefault(row["rate"], {})[row["scheduler"]] = row["response_time_ms.mean"]
    assert set(means) <= {float(rate) for rate in figure6a.RATES}
    for rate in (1000, 1100, 1200):  # high_ms of the paper's figure 6(a)
        order = ["sptf", "sstf_lbn", "c_look", "fcfs"]
        assert sorted(means[rate], key=means[rate].__getitem__) == order
    drawn = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert set(means[1000]) <= set(re.findall(r"<text[^>]*>(.*?)</text>", drawn))
    second = rows_of(capsys, *few)
    assert (first["run_now"], second["run_now"]) == (first["runs"], 0)
    assert second["rows"] == first["rows"]


def test_the_load_of_the_schedulers_is_that_of_the_item(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The device and the load of Figure 6(a), as the item of the paper has them but for turns."""
    (item,) = find(["osdi2000/figure6a"])
    requests = 3000
    few = ("--set", f"requests={requests}", "--set", f"warm_up_requests={requests // 20}")
    found = rows_of(capsys, *few, "--replications", "1", "--vary", "rate=500,1200")
    device = parts.sled(item.setup, turn="after_servo")
    for row in found["rows"]:
        load = curves.random_load(row["rate"], requests)
        run = ss.simulate(load, device, row["scheduler"])
        assert row["response_time_ms.mean"] == run.summary["response_time_ms"]["mean"]
        assert row["energy_j.total"] == run.summary["energy_j"]["total"]


def test_a_latin_hypercube_has_each_tenth_of_each_range_once() -> None:
    hypercube = example("latin_hypercube")
    rows = hypercube["rows"](10)
    for key, (low, high) in hypercube["RANGES"].items():
        tenths = sorted(int(10 * (row[key] - low) / (high - low)) for row in rows)
        assert tenths == list(range(10))


def test_the_ranks_of_the_hypercube_are_physical(ran: Ran) -> None:
    ranks = {line.split()[0]: float(line.split()[-1]) for line in ran("latin_hypercube")[0][1:]}
    # More force and stiffer springs make a sled faster.
    for key in ("resonance_hz", "acceleration_x_m_s2", "acceleration_y_m_s2"):
        assert ranks[f"device.{key}"] < -0.2
    assert [abs(rank) for rank in ranks.values()] == sorted(map(abs, ranks.values()), reverse=True)


def test_duckdb_finds_the_best_scheduler(tmp_path: Path) -> None:
    folders, duckdb = [tmp_path / "1", tmp_path / "2"], EXAMPLES / "study_duckdb.py"
    first, second = run_twice(duckdb, lambda run: ["--quick", "--folder", str(folders[run])])
    assert first == second
    assert first[0] == "36 of 36 runs simulated"
    again = run_once(duckdb, "--quick", "--folder", folders[0])
    assert again == ["0 of 36 runs simulated", *first[1:]]
    printed: dict[int, tuple[str, float, float]] = {}
    for line in first[1:]:
        found = re.fullmatch(
            r" *(\d+)/s: (\w+), ([\d.]+) ms; the next x ([\d.]+); p99 ([\d.]+) ms", line
        )
        assert found
        printed[int(found[1])] = (found[2], float(found[3]), float(found[4]))
    for rate, (best, ms, lead) in printed.items():
        load, own = ss.workload("random", requests=2000, rate=rate), {}
        for scheduler in ("fcfs", "c_look", "sptf"):
            run = ss.simulate(load, "g2", scheduler, replications=3)
            own[scheduler] = run.summary["response_time_ms"]["mean"]
        fastest, following, _ = sorted(own.values())
        assert own[best] == fastest
        assert ms == pytest.approx(fastest, abs=5.1e-4)
        assert lead == pytest.approx(following / fastest, abs=5.1e-3)
