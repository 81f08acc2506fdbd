"""Comparisons on a trace: the ratio of means, and the same request on two devices."""

from __future__ import annotations

import json
import math
import pickle
import re
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import sledsim as ss
from matplotlib.figure import Figure
from sledsim.cli import main
from sledsim.show import as_text

if TYPE_CHECKING:
    from pathlib import Path

PERCENTILES = (5, 25, 50, 75, 95)
HEAD = "time_ms,op,lbn,blocks\n"


def trace(folder: Path, lines: str, **keys: Any) -> ss.Load:
    """Return the replay of a CSV trace: time in ms, operation, LBN and blocks of each request."""
    file = folder / "few.csv"
    file.write_text(HEAD + lines, encoding="utf-8")
    columns = "time=time_ms:ms, op=op, offset=lbn:512B, bytes=blocks:512B"
    return ss.read_trace(file, columns=columns, **keys)


def times_of(run: ss.Run, warm_up: int = 0) -> dict[int, int]:
    """Return response times in ns by id of a run that kept its rows, by polars."""
    frame = pl.DataFrame(run.rows).sort("id").slice(warm_up)
    return dict(zip(frame["id"], frame["completion_ns"] - frame["arrival_ns"], strict=True))


def brute_force(baseline: dict[int, int], other: dict[int, int]) -> dict[str, Any]:
    """Return what pairs of two runs are to be, by numpy."""
    both = sorted(baseline.keys() & other.keys())
    differences = np.array([other[key] - baseline[key] for key in both])
    quantiles = {
        f"p{each}": np.percentile(differences, each, method="inverted_cdf") for each in PERCENTILES
    }
    edges = {"mean": differences.mean(), "min": differences.min(), "max": differences.max()}
    return {
        "requests": len(both),
        "unpaired": len(other) - len(both),
        "unpaired_baseline": len(baseline) - len(both),
        "faster_share": np.mean(differences < 0),
        "equal_share": np.mean(differences == 0),
        "slower_share": np.mean(differences > 0),
        "difference_ms": {name: value / 1e6 for name, value in (edges | quantiles).items()},
    }


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    flat = [{**each, **each["difference_ms"], "difference_ms": 0} for each in (found, expected)]
    assert flat[0] == pytest.approx(flat[1], rel=1e-12)


def paired(load: ss.Load, *names: str) -> tuple[ss.Comparison, dict[str, Any]]:
    """Compare two devices; the pairs must be those of the rows of separate runs."""
    compared = ss.compare(load, list(names), paired=True)
    line = compared.to_dict()["runs"][1]
    first, second = (times_of(ss.simulate(load, name)) for name in names)
    assert_same(line["pairs"], brute_force(first, second))
    return compared, line


# By hand


# By hand


@pytest.fixture
def by_hand(tmp_path: Path) -> ss.Comparison:
    """Four requests on 1 ms + 0.5 ms a block, and on 0.25 ms + 0.875 ms a block.

    1, 2 and 10 blocks find the device idle: 1.5, 2 and 6 ms against 1.125, 2 and 9 ms. The last, of
    1 block, comes 1 ms after that of 10: 5 + 1.5 = 6.5 ms against 8 + 1.125 = 9.125 ms.
    """
    load = trace(tmp_path, "0,read,0,1\n10,read,8,2\n20,write,16,10\n21,read,0,1\n")
    even = ss.device("memory", latency_ms=1.0, ms_per_block=0.5).to_toml()
    brisk = ss.device("memory", latency_ms=0.25, ms_per_block=0.875).to_toml()
    devices = [ss.Device.from_toml(text, n) for n, text in (("even", even), ("brisk", brisk))]
    return ss.compare(load, devices, paired=True)


def test_differences_worked_by_hand(by_hand: ss.Comparison) -> None:
    first, second = by_hand.to_dict()["runs"]
    assert first["pairs"] is None
    assert second["pairs"] == {
        "requests": 4,
        "unpaired": 0,
        "unpaired_baseline": 0,
        "faster_share": 0.25,
        "equal_share": 0.25,
        "slower_share": 0.5,
        "difference_ms": {"mean": 1.3125, "p50": 0.0, "p75": 2.625, "p95": 3.0, "max": 3.0}
        | dict.fromkeys(("min", "p5", "p25"), -0.375),
    }
    assert by_hand.differences("brisk") == [(-0.375, 0.25), (0, 0.5), (2.625, 0.75), (3, 1)]
    assert first["trace_ratio"] == 1
    assert second["trace_ratio"] == 4 / 5.3125  # 16 ms in all against 21.25 ms
    keys = ("pairs", "equal_share", "difference_p75_ms")
    assert [by_hand.table[1][key] for key in keys] == [4, 0.25, 2.625]
    assert [by_hand.table[0][key] for key in keys] == [0, None, None]


def test_a_nanosecond_is_a_difference(tmp_path: Path) -> None:
    load = trace(tmp_path, "0,read,0,1\n10,read,8,2\n")
    texts = [ss.device("memory", latency_ms=ms).to_toml() for ms in (1.0, 1.000001)]
    for pair, share in ((texts, "slower"), (texts[::-1], "faster")):
        devices = [ss.Device.from_toml(text, name) for text, name in zip(pair, "ab", strict=True)]
        pairs = ss.compare(load, devices, paired=True).to_dict()["runs"][1]["pairs"]
        assert (pairs[f"{share}_share"], pairs["equal_share"]) == (1, 0)
        assert abs(pairs["difference_ms"]["max"]) == 1e-6


def test_the_table_and_the_page_say_them(by_hand: ss.Comparison, tmp_path: Path) -> None:
    cells = as_text(by_hand)
    (row,) = re.findall(r"^brisk +4 .*$", cells, re.MULTILINE)
    assert row.split()[:6] == ["brisk", "4", "25.00", "%", "25.00", "%"]
    assert "minus even, ms" in cells
    assert re.search(r"on this trace\n.*\n.*brisk.* 0\.753$", cells, re.MULTILINE)
    by_hand.report(tmp_path / "page.html")
    page = re.sub(r"<[^>]+>", "", (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "mean response time of even, the baseline, is 0.753 times that of brisk." in page
    assert "faster were: brisk 25.0 %" in (tmp_path / "page.html").read_text(encoding="utf-8")


# Against the rows of separate runs


def test_pairs_are_those_of_the_rows_of_separate_runs() -> None:
    load = ss.read_trace("sample:pgbench")
    names, schedulers = ["atlas10k", "g2", "mcd"], ["sptf", "fcfs"]
    compared = ss.compare(load, names, schedulers, paired=True)
    runs = [ss.simulate(load, name, scheduler) for name in names for scheduler in schedulers]
    assert runs[0].rows["id"] != sorted(runs[0].rows["id"]), "rows are not in the order of ids"
    baseline = times_of(runs[0])
    lines = compared.to_dict()["runs"]
    for label, line, run in list(zip(compared.labels, lines, runs, strict=True))[1:]:
        theirs = times_of(run)
        ratio = sum(baseline.values()) / sum(theirs.values())
        assert line["trace_ratio"] == pytest.approx(ratio, rel=1e-9)
        assert_same(line["pairs"], brute_force(baseline, theirs))
        differences = np.array([theirs[key] - baseline[key] for key in baseline]) / 1e6
        steps = compared.differences(label)
        assert len(steps) == 1000 < len(differences)
        for ms, share in steps[::37]:
            assert np.mean(differences <= ms) >= share > np.mean(differences < ms) - 1e-12
        assert steps[-1] == (differences.max(), 1)


def test_only_requests_that_count_are_paired() -> None:
    keys: list[dict[str, Any]] = [
        {"warm_up_requests": 700},
        {"warm_up_s": 1.5},
        {"queue_depth": 4, "warm_up_s": 0.4},  # which differ: 0.4 s are more requests on g2
    ]
    for given in keys:
        load = ss.read_trace("sample:pgbench", **given)
        line = ss.compare(load, ["atlas10k", "g2"], paired=True).to_dict()["runs"][1]
        first, second = (ss.simulate(load, name) for name in ("atlas10k", "g2"))
        counted = []
        for run in (first, second):
            cut = run.summary["warm_up"]
            assert cut is not None
            early = pl.DataFrame(run.rows)["arrival_ns"] < round(1e9 * cut["until_s"])
            counted.append(times_of(run, int(early.sum())))
        assert [len(each) for each in counted] == [first.requests, second.requests]
        assert_same(line["pairs"], brute_force(*counted))
        if "queue_depth" in given:
            assert line["pairs"]["unpaired_baseline"] > 0
            assert line["no_trace_ratio"] == "different requests"
            assert line["trace_ratio"] is None


def test_a_run_that_is_given_up_has_the_pairs_that_both_served(
    capsys: pytest.CaptureFixture[str],
) -> None:
    load = ss.read_trace("sample:sqlite", max_queue=200)
    compared = ss.compare(load, ["g2", "atlas10k"], ["fcfs", "sptf"], paired=True)
    cases = product(("g2", "atlas10k"), ("fcfs", "sptf"))
    runs = [ss.simulate(load, name, rule) for name, rule in cases]
    for line, run in zip(compared.to_dict()["runs"][2:], runs[2:], strict=True):
        assert run.summary["saturated"]
        assert_same(line["pairs"], brute_force(times_of(runs[0]), times_of(run)))
        assert line["pairs"]["requests"] == run.requests < runs[0].requests
        assert (line["trace_ratio"], line["no_trace_ratio"]) == (None, "saturated")
    words = ["compare", "--devices", "atlas10k,g2", "--trace", "sample:sqlite", "--paired"]
    assert main([*words, "--set", "max_queue=200"]) == 0
    said = capsys.readouterr().out
    left = runs[0].requests - runs[2].requests
    assert f"requests without a pair, g2: {left:,} of g2" in said
    assert "- (baseline: saturated)" in said
    assert max(map(len, said.splitlines())) <= 80


def test_two_requests_and_none_to_pair(tmp_path: Path) -> None:
    load = trace(tmp_path, "0,read,0,8\n5,read,800000,8\n")
    compared, line = paired(load, "atlas10k", "g2")
    assert [share for _, share in compared.differences("g2")] == [0.5, 1]
    assert line["no_speed_up"] == "too few requests"
    at_once = trace(tmp_path, "".join("0,read,0,8\n" for _ in range(40)), max_queue=2)
    nothing = ss.compare(at_once, ["atlas10k", "g2"], paired=True)
    pairs = nothing.to_dict()["runs"][1]["pairs"]
    assert pairs["requests"] == 0
    assert pairs["faster_share"] is pairs["difference_ms"]["p50"] is None
    assert nothing.differences("g2") == []
    assert isinstance(nothing.plot(), Figure)
    assert "g2" in as_text(nothing)


def test_flushes_and_trims_are_pairs_too(tmp_path: Path) -> None:
    lines = [f"{7 * at},{('read', 'write', 'trim')[at % 3]},{64 * at},8" for at in range(200)]
    lines[2::4] = [f"{7 * at},flush,0,0" for at in range(2, 200, 4)]
    load = trace(tmp_path, "\n".join([*lines, ""]))
    assert {*ss.simulate(load, "disk").rows["op"]} == {"read", "write", "flush", "trim"}
    assert paired(load, "disk", "mems")[1]["pairs"]["requests"] == 200


def test_a_generated_open_load_has_pairs_and_no_ratio_on_a_trace() -> None:
    load = ss.workload("random", rate=100, requests=3000, seed=4)
    compared, line = paired(load, "g1", "g2")
    assert line["speed_up"] is not None
    lines = compared.to_dict()["runs"]
    assert {line["trace_ratio"] for line in lines} == {line["no_trace_ratio"] for line in lines}
    assert line["trace_ratio"] is None
    assert "on this trace" not in as_text(ss.compare(load, ["g1", "g2"]))


def test_runs_of_different_length_are_paired_as_far_as_both_go() -> None:
    load = ss.workload("random", rate=300, requests=60_000)
    compared = ss.compare(load, ["g1", "flash"], paired=True, precision=0.05)
    first, second = compared.runs
    pairs = compared.to_dict()["runs"][1]["pairs"]
    assert first.requests != second.requests
    assert pairs["requests"] >= min(first.requests, second.requests) - 10
    assert pairs["requests"] + pairs["unpaired"] == second.requests
    assert pairs["requests"] + pairs["unpaired_baseline"] == first.requests


# What is kept, and what is asked for


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_change_nothing_and_rows_go(workers: int) -> None:
    given: dict[str, Any] = {"load": "sample:sqlite", "devices": ["g1", "g2", "g3"]}
    compared = ss.compare(**given, paired=True, workers=workers)
    kept = ss.compare(**given, paired=True, rows=True, workers=2)
    assert compared == kept
    assert compared.differences("g3") == kept.differences("g3")
    assert len(kept.runs[0].rows) == kept.runs[0].requests
    again = pickle.loads(pickle.dumps(compared))
    assert again == compared
    assert again.differences("g2") == compared.differences("g2")


def test_without_pairs_all_else_is_the_same() -> None:
    without = ss.compare("sample:sqlite", ["g2", "g3"])
    paired = ss.compare("sample:sqlite", ["g2", "g3"], paired=True).to_dict()
    for one, other in zip(without.to_dict()["runs"], paired["runs"], strict=True):
        assert one == other | {"pairs": None}
    assert not without.has_pairs


def test_a_comparison_of_one_run_has_no_pairs() -> None:
    alone = ss.compare("sample:sqlite", ["g2"], paired=True)
    assert alone.to_dict()["runs"][0]["pairs"] is None
    assert isinstance(alone.plot(), Figure)


def test_the_command_says_what_the_function_says(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "--devices", "atlas10k,g2", "--trace", "sample:tpch-q4", "--paired"]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == ss.compare("sample:tpch-q4", ["atlas10k", "g2"], paired=True).to_dict()
    assert math.isclose(said["runs"][1]["trace_ratio"], 8610, rel_tol=0.01)
    assert said["runs"][1]["speed_up"] is None


def test_a_mix_of_open_loads_has_pairs() -> None:
    parts = {name: {"kind": "random", "rate": rate} for name, rate in (("a", 50), ("b", 20))}
    load = ss.workload("mix", requests=100, part=parts)
    assert ss.compare(load, ["g1", "g2"], paired=True).has_pairs


def test_a_recording_has_another_order_on_another_device(tmp_path: Path) -> None:
    """The ids of a recording that is replayed closed belong to other requests: it is refused."""
    base = {"kind": "random", "size": "fixed"}
    small, large = {"mean_size_kib": 4, "think_ms": 1}, {"mean_size_kib": 256, "think_ms": 7}
    parts = {"small": base | small, "large": base | large}
    file, names = tmp_path / "recording.parquet", ["g2", "memory"]
    ss.simulate(ss.workload("mix", requests=400, part=parts), "g2", rows=file)
    load = ss.read_trace(file, think="recorded", trace_device="all")
    frames = [pl.DataFrame(ss.simulate(load, name).rows).sort("id") for name in names]
    assert not frames[0]["blocks"].equals(frames[1]["blocks"])
    with pytest.raises(ss.SpecError, match='without think = "recorded"'):
        ss.compare(load, names, paired=True)
    assert ss.compare(ss.read_trace(file, trace_device="all"), names, paired=True).has_pairs


# Pictures


def test_the_picture_shows_the_distributions() -> None:
    compared = ss.compare("sample:sqlite", ["g2", "g3", "g1"], paired=True)
    (axes,) = ss.plots.differences(compared).axes
    lines = {str(line.get_label()): line for line in axes.lines}
    for label in ("g3", "g1"):
        data: Any = lines[label].get_xydata()
        drawn = [tuple(point) for point in data.tolist()]
        assert drawn[1:] == compared.differences(label)
        low, high = axes.get_xlim()
        assert low <= drawn[0][0] <= drawn[-1][0] <= high
    assert axes.get_xlabel() == "response time minus that on g2,\u00a0ms"
    whole = compared.plot()
    wide = ss.compare("sample:sqlite", ["atlas10k", "g2"], paired=True).plot(size="14x7")
    assert not wide.axes[2].get_yticklabels(), "beside others"
    assert whole.get_supxlabel().startswith("On this trace the mean response time of g2, the base")
    assert len(whole.axes) == 1 + len(ss.compare("sample:sqlite", ["g2", "g3", "g1"]).plot().axes)
    assert whole.axes[-1].get_xlabel() == axes.get_xlabel()
    two = Figure(figsize=(9, 4)).subplots(1, 2)
    assert compared.plot(ax=two) is two[0].get_figure()


def test_an_axis_for_far_apart_differences_is_logarithmic_on_both_sides() -> None:
    load = ss.read_trace("sample:postmark", queue_depth=1)
    compared = ss.compare(load, ["g2", "g3", "atlas10k"], paired=True)
    (axes,) = ss.plots.differences(compared).axes
    assert axes.get_xscale() == "symlog"
    ticks = axes.get_xticks().tolist()
    assert 0 in ticks
    assert sorted(-tick for tick in ticks) == sorted(ticks)
