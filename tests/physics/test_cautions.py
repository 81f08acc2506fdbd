"""Cautions of a run go wherever its figures go, and an unreliable mean gives no speed-up."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.cli import main
from sledsim.papers import simulations
from sledsim.papers.page import page
from sledsim.results import cautions

from tests import paper_items

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OVERLOAD = ["--set", "rate=300", "--set", "requests=2000"]
SLOW_TRACE = ["--trace", "sample:postmark-ext4", "--set", "time_scale=0.125"]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*words: object) -> str:
        assert main([*map(str, words)]) == 0
        out = capsys.readouterr()
        assert out.err == ""
        return out.out

    return run


def codes(found: list[dict[str, Any]]) -> list[str]:
    return [one["code"] for one in found]


def test_a_comparison_marks_the_row_and_gives_no_speed_up(said: Callable[..., str]) -> None:
    words = ["compare", "--devices", "atlas10k,mcd,g2", *SLOW_TRACE]
    runs = json.loads(said(*words, "--json"))["runs"]
    intervals = [run["summary"]["confidence"]["response_time_ms"] for run in runs]
    assert intervals[0]["caution"] == "correlated batches"
    assert [run["speed_up"] for run in runs] == [None] * 3
    for run, interval in zip(runs, intervals, strict=True):
        expected = [interval["caution"].replace(" ", "_")] if interval["caution"] else []
        assert codes(run["caution"]) == expected
        assert run["no_speed_up"] == (interval["caution"] or "baseline: correlated batches")
    text = said(*words)
    for line in (
        r"^atlas10k +! .* - \(correlated batches\)$",
        r"^mcd +\d.* - \(baseline: correlated batches\)$",
        r"^! atlas10k, g2: the interval of the mean is not to be relied on",
    ):
        assert re.search(line, text, re.MULTILINE), line
    assert not re.search(r"\d\.\d\d \(", text)


def test_seeds_precision_errors_and_lost_blocks_have_cautions() -> None:
    load = {"rate": 300, "requests": 600}
    run = simulated("atlas10k", load, replications=2, precision=0.01)
    assert codes(run.cautions) == ["overloaded", "precision"]
    assert "1 % was not reached" in run.cautions[1]["text"]
    summary = simulated("g2", {}).to_dict()["summary"]
    summary |= {"errors": 1200, "devices": [{"counts": {"lost_blocks": 7}}, {"counts": {}}]}
    found = cautions.of({"summary": summary, "workload": {"part": {"a": {"shortened": 3}}}})
    assert [one["text"] for one in found] == [
        "1,200 requests could not be served",
        "7 blocks of an array are gone for good",
        "3 requests were shortened to fit into the device",
    ]


def test_the_table_for_data_frames_has_cautions() -> None:
    load = ss.workload(rate=300, requests=2000, warm_up_requests=20)
    comparison = ss.compare(load, ["g2", "atlas10k"])
    names = ("caution", "speed_up", "no_speed_up", "speed_up_low", "speed_up_high")
    first, second = ([row[name] for name in names] for row in comparison.table.to_dicts())
    assert first[:3] == ["warm_up", 1.0, None]
    assert second == ["overloaded, warm_up", None, "overloaded", None, None]
    found = {label: codes(each) for label, each in comparison.cautions.items()}
    assert found == {"g2": ["warm_up"], "atlas10k": ["overloaded", "warm_up"]}


def test_caution_lines_name_their_runs() -> None:
    """A sentence once, the graver first; "all" for all, no name where there is one result."""
    grave, note = ({"code": c, "text": c, "unreliable": c == "bad"} for c in ("bad", "so"))
    lines = cautions.lines({"a": [note], "b": [grave, note], "c": [note]})
    assert lines == ["! b: bad", "* all: so"]
    assert cautions.lines({"a": [note], "b": [note], "c": []}) == ["* a, b: so"]
    assert cautions.lines({"a": [grave]}) == ["! bad"]
    assert [cautions.mark(found) for found in ([], [note], [note, grave])] == ["", "*", "!"]


@pytest.mark.parametrize(
    ("rule", "key"), [("wrap", "wrapped"), ("scale", "scaled"), ("compact", "compacted")]
)
def test_changes_of_addresses_are_a_caution_of_each_device(
    said: Callable[..., str], tmp_path: Path, rule: str, key: str
) -> None:
    """Of 600 requests some lie beyond the end of a small device, and some have odd bytes."""
    file = tmp_path / "trace.csv"
    lines = [f"{n / 50:.3f},{n * 40_000_000},{4096 - n % 2},R" for n in range(600)]
    file.write_text("\n".join(["t,at,size,op", *lines]) + "\n")
    words = ["--trace", file, "--columns", "time=t:s, offset=at:B, bytes=size:B, op=op"]
    words = ["compare", "--devices", "g3,g1", *words, "--set", f'address="{rule}"']
    for run in json.loads(said(*words, "--json"))["runs"]:
        found = {one["code"]: one["text"] for one in run["caution"]}
        for each in (key, "widened"):
            assert found[each].startswith(f"{run['workload'][each]:,} requests were ")
    text = said(*words)
    assert re.search(r"^\* (g1|all): [\d,]+ requests were (wrapped|moved to)", text, re.MULTILINE)
    assert re.search(r"^\* all: 300 requests were widened", text, re.MULTILINE)


def test_cautions_are_in_text_json_python_and_pictures(
    said: Callable[..., str], tmp_path: Path
) -> None:
    picture = tmp_path / "picture.svg"
    words = ["run", "--device", "atlas10k", *OVERLOAD]
    text = said(*words, "--plot", picture)
    assert text.startswith("OVERLOADED: requests arrived faster than they were served (296.2 ag")
    assert "NOT TO BE RELIED ON: overloaded" in text
    assert re.search(r"\d ms !", texts(picture))
    assert "! requests arrived faster than they were served" in texts(picture)
    run = ss.simulate(ss.workload(rate=300, requests=2000), ss.device("atlas10k"))
    assert json.loads(said(*words, "--json"))["caution"] == run.cautions
    assert codes(run.cautions) == ["overloaded"]
    said("compare", "--devices", "g2,atlas10k", *OVERLOAD, "--plot", picture)
    assert len(re.findall(r"g2 !|atlas10k !", texts(picture))) == 1
    assert "! atlas10k: requests arrived faster" in texts(picture)
    said("compare", "--devices", "g2,g3", *OVERLOAD, "--plot", picture)
    assert "!" not in texts(picture)


def simulated(device: str, keys: dict[str, Any], **options: Any) -> ss.Run:
    return ss.simulate(ss.workload(**keys), device, rows=False, **options)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"rate": 300}, []),
        ({"requests": 100}, ["too_few_requests"]),
        ({"rate": 9000, "requests": 5000, "max_queue": 100}, ["saturated"]),
        ({"requests": 5000, "warm_up_requests": 10}, ["warm_up"]),
        ({"rate": 1230, "requests": 2000}, ["correlated_batches"]),
    ],
)
def test_each_kind_of_caution_occurs(keys: dict[str, Any], expected: list[str]) -> None:
    run = simulated("g2", keys)
    assert codes(run.cautions) == expected
    grave = run.summary["confidence"]["response_time_ms"]["caution"] is not None
    assert [one["unreliable"] for one in run.cautions] == [grave] * len(expected)


def test_a_validation_has_cautions(said: Callable[..., str], tmp_path: Path) -> None:
    """A response of 1 ms, measured every 2 ms; the disk takes five times as long."""
    file = tmp_path / "measured.csv"
    lines = [f"{n * 2},{n * 7919 % 10_000 * 1000},8,R,1" for n in range(1000)]
    file.write_text("\n".join(["t,at,n,op,took", *lines]) + "\n")
    columns = "time=t:ms, offset=at:512B, bytes=n:512B, op=op, response=took:ms"
    words = ["validate", "--device", "atlas10k", "--trace", file, "--columns", columns]
    found = json.loads(said(*words, "--json"))["caution"]
    assert codes(found) == ["overloaded"]
    assert "\n! requests arrived faster than they were served" in said(*words)
    for scale in (1, 0.05):
        load = ss.read_trace(file, columns=columns, time_scale=scale)
        assert (ss.validate(load, "atlas10k").cautions == found) == (scale == 1)


def texts(picture: Path) -> str:
    """Return the text in a picture."""
    return " ".join(re.findall(r"<text[^>]*>(.*?)</text>", picture.read_text("utf-8")))


def test_an_item_of_a_paper_counts_its_runs() -> None:
    """The rates of the figure end beyond what the device can serve."""
    result = paper_items.run("osdi2000/figure6a")
    points = [p for curve in result.document["series"].values() for p in curve["points"]]
    beyond = sum(point["caution"] == "overloaded" for point in points)
    assert 0 < beyond < len(points)
    (found,) = [one for one in result.cautions if one["code"] == "overloaded"]
    count, runs = map(int, re.findall(r"\d+", found["text"]))
    assert beyond <= count < runs
    line = f"! overloaded: {count} of {runs} runs"
    assert line in result.svg
    assert line in page(papers.papers(), [result])


def test_an_outcome_that_is_kept_has_its_cautions_each_time() -> None:
    """An item must say the same, whichever items were run before it in the same process."""

    @papers.once
    def mean_ms(rate: float) -> float:
        load = ss.workload(rate=rate, requests=600)
        summary = papers.summary_of(load, ss.device("atlas10k"))
        mean: float = summary["response_time_ms"]["mean"]
        return mean

    seen = []
    for _ in range(2):
        with simulations.collecting() as runs:
            assert mean_ms(300) == mean_ms(rate=300) > mean_ms(20)
        seen.append(simulations.together(runs))
    assert seen[0] == seen[1]
    assert "overloaded: 2 of 3 runs" in [one["text"] for one in seen[0]]
