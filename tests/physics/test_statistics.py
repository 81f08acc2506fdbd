"""Statistics of runs: intervals, warm-up, seeds, series, distributions, and cautions."""

from __future__ import annotations

import itertools
import json
import math
import re
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim import papers
from sledsim._number_text import measured
from sledsim.cli import main
from sledsim.papers import simulations
from sledsim.papers.page import page
from sledsim.results import cautions

from tests import paper_items
from tests.waiting import interrupted_at_work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOAD = {"rate": 600, "requests": 3000}
RUN = ["run", "--device", "g2", "--set", "rate=600"]


def run(*, load: dict[str, Any] | None = None, **options: Any) -> Any:
    """Run the random workload on g2."""
    made = ss.workload("random", **(load or LOAD))
    return ss.simulate(made, ss.device("g2"), **options)


def test_an_interval_lies_around_the_mean_and_shrinks_with_the_run() -> None:
    widths = []
    for requests in (2_000, 32_000, 512_000):
        summary = run(load={"rate": 400, "requests": requests}, rows=False).summary
        interval = summary["confidence"]["response_time_ms"]
        assert interval["low"] < summary["response_time_ms"]["mean"] < interval["high"]
        assert interval["mean"] == pytest.approx((interval["low"] + interval["high"]) / 2)
        assert 16 <= interval["batches"] < 32
        assert requests * 15 / 16 < interval["batches"] * interval["batch_requests"] <= requests
        widths.append(interval["half_width_share"])
    # Sixteen times as long: a quarter as wide, to the luck of 16 batches (5 sigma).
    assert all(1 / 12 < after / before < 0.75 for before, after in itertools.pairwise(widths))


def test_intervals_tell_two_loads_apart_exactly_when_they_differ() -> None:
    low, high = {}, {}
    for rate, seed in ((400, 1), (400, 2), (500, 1)):
        done = run(load={"requests": 20_000, "rate": rate, "seed": seed}, rows=False)
        found = done.summary["confidence"]["response_time_ms"]
        low[rate, seed], high[rate, seed] = found["low"], found["high"]
    assert max(low[400, 1], low[400, 2]) < min(high[400, 1], high[400, 2])
    assert high[400, 1] < low[500, 1]


def test_a_precision_is_reached_and_reported(said: Callable[..., str]) -> None:
    done = run(load={"rate": 600}, precision=0.02, rows=False)
    interval, precision = done.summary["confidence"]["response_time_ms"], done.summary["precision"]
    assert precision is not None
    assert precision["met"] is True
    assert interval["half_width_share"] <= 0.02
    assert done.summary["requests"] == done.workload["requests"]
    for word in ("2%", "0.02", "2.0 %"):
        assert json.loads(said(*RUN, "--precision", word, "--json")) == done.to_dict()
    text = said(*RUN, "--precision", "2%")
    assert "precision     2 % reached\n" in text
    assert f"{interval['low']:.3f} to {interval['high']:.3f} ms" in text
    missed = said(*RUN, "--precision", "1%", "--set", "requests=100")
    assert "precision     1 % not reached: the load ended after 100 requests" in missed
    assert "NOT TO BE RELIED ON: too few requests" in missed


def test_the_longest_wait_is_named(said: Callable[..., str]) -> None:
    done = run()
    worst = pl.DataFrame(done.rows).sort("queue_ns", descending=True).row(0, named=True)
    found = done.summary["longest_wait"]
    assert found is not None
    assert found["queue_ms"] == worst["queue_ns"] / 1e6 == done.summary["queue_ms"]["max"]
    assert (found["id"], found["lbn"]) == (worst["id"], worst["lbn"])
    text = said(*RUN, "--set", "requests=3000")
    assert f"{measured(found['queue_ms'])} ms in the queue: request {worst['id']}, " in text
    assert f"99.99 % waited at most {measured(done.summary['queue_ms']['p99_99'])} ms" in text


def test_warming_up_is_not_counted(said: Callable[..., str]) -> None:
    done = run(load={**LOAD, "warm_up_requests": 500})
    assert (len(done.rows), done.summary["requests"]) == (3000, 2500)
    rows = pl.DataFrame(done.rows).sort("id")[500:]
    mean = (rows["completion_ns"] - rows["arrival_ns"]).to_numpy().mean()
    assert done.summary["response_time_ms"]["mean"] == pytest.approx(mean / 1e6)
    words = [*RUN, "--set", "requests=3000", "--set", "warm_up_requests=500"]
    assert "warm-up       500 more requests, until 0.8" in said(*words)
    for warm_up, key, low, high in (
        (done.summary["warm_up"], "requests", 500, 500),
        (run(load={**LOAD, "warm_up_s": 2.5}).summary["warm_up"], "until_s", 2.5, 2.55),
    ):
        assert warm_up is not None
        assert low <= warm_up[key] <= high


def test_seeds_side_by_side(said: Callable[..., str]) -> None:
    done = run(replications=5)
    singles = [run(load={**LOAD, "seed": seed}).summary for seed in range(1, 6)]
    means = [single["response_time_ms"]["mean"] for single in singles]
    seeds = done.summary["seeds"]
    assert seeds is not None
    shown = [(one["seed"], one["mean_response_time_ms"]) for one in seeds]
    assert shown == list(zip(range(1, 6), means, strict=True))
    interval = done.summary["confidence"]["response_time_ms"]
    half = 2.776445 * statistics.stdev(means) / math.sqrt(5)  # t with 4 degrees of freedom
    assert interval["high"] - interval["mean"] == pytest.approx(half, rel=1e-6)
    for mean in (interval["mean"], done.summary["response_time_ms"]["mean"]):
        assert mean == pytest.approx(statistics.fmean(means))
    for workers in (1, 3):
        assert done.to_dict() == run(replications=5, workers=workers).to_dict()
    words = [*RUN, "--set", "requests=3000", "--replications", 5]
    assert json.loads(said(*words, "--json", "--workers", 2)) == done.to_dict()
    text = said(*words)
    assert "seeds 1 to 5" in text
    assert "from 5 seeds" in text


def test_seeds_tell_their_progress_and_may_be_interrupted() -> None:
    heard: list[tuple[int, int | None]] = []

    def progress(done: int, of: int | None) -> None:
        heard.append((done, of))
        if done > 200_000:
            raise InterruptedError

    load = {"requests": 1_000_000_000}
    with pytest.raises(InterruptedError):
        run(load=load, replications=3, workers=2, progress=progress)
    assert heard[-1][1] == 3_000_000_000
    assert heard == sorted(heard)
    words = ["run", "--device", "g2", "--set", "requests=1000000000", "--replications", "3"]
    assert interrupted_at_work(*words) == (130, "sledsim: interrupted\n")


def test_the_series_adds_up(tmp_path: Path, said: Callable[..., str]) -> None:
    done = run(series=True)
    frame, summary = pl.DataFrame(done.series), done.summary
    span = (frame["end_ns"] - frame["start_ns"]) / 1e9
    assert frame["requests"].sum() == summary["requests"]
    assert frame["blocks"].sum() == summary["blocks_read"] + summary["blocks_written"]
    for joules in (frame["energy_j"].sum(), (frame["power_w"] * span).sum()):
        assert joules == pytest.approx(summary["energy_j"]["total"])
    # Little: time in the system of all requests = mean number in the system x time.
    in_system = summary["requests"] * summary["response_time_ms"]["mean"] / 1e3
    assert (frame["outstanding"] * span).sum() == pytest.approx(in_system)
    assert frame["end_ns"][-1] == round(1e9 * summary["simulated_s"])
    assert 512 <= len(frame) <= 1024
    # Windows of a chosen length, in files of both kinds.
    for name in ("out.csv", "out.parquet"):
        file = tmp_path / name
        words = [*RUN, "--set", "requests=3000", "--series", file, "--series-ms", "50"]
        assert said(*words).endswith(f"\nwritten: {file}\n")
        read = pl.read_csv(file) if name.endswith("csv") else pl.read_parquet(file)
        assert (read["end_ns"][:-1] - read["start_ns"][:-1]).unique().to_list() == [50_000_000]
        assert read["requests"].sum() == 3000
        assert read.columns == frame.columns
    for schema in (pa.schema(done.series), pq.read_schema(tmp_path / "out.parquet")):
        assert schema.field("power_w").metadata[b"unit"] == b"W"


def test_a_distribution_function_is_that_of_the_rows() -> None:
    done = run()
    rows = pl.DataFrame(done.rows)
    ops = rows["op"].cast(pl.String)
    times = (rows["completion_ns"] - rows["arrival_ns"]) / 1e6
    for op in (None, "read", "write"):
        exact = (times if op is None else times.filter(ops == op)).sort()
        points = done.cdf(op=op)
        assert points[-1][0] == pytest.approx(exact[-1])
        assert points[-1][1] == 1.0
        for ms, share in points:
            assert share == pytest.approx((exact <= ms * (1 + 1e-12)).sum() / len(exact))
    assert done.cdf("seek")[-1][0] == done.summary["seek_ms"]["max"]
    assert done.cdf(op="trim") == []


def test_a_picture_needs_neither_rows_nor_polars(
    monkeypatch: pytest.MonkeyPatch, said: Callable[..., str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    for name, *more in (("a.png",), ("b.svg", "--replications=2"), ("c.png", "--set=max_queue=1")):
        said(*RUN, "--set", "requests=500", *more, "--plot", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5_000


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


def test_a_comparison_marks_the_row_and_gives_no_speed_up(said: Callable[..., str]) -> None:
    words = ["compare", "--devices", "atlas10k,mcd,g2", *SLOW_TRACE]
    runs = json.loads(said(*words, "--json"))["runs"]
    intervals = [run["summary"]["confidence"]["response_time_ms"] for run in runs]
    assert intervals[0]["caution"] == "correlated batches"
    assert [run["speed_up"] for run in runs] == [None] * 3
    for run, interval in zip(runs, intervals, strict=True):
        expected = [interval["caution"].replace(" ", "_")] if interval["caution"] else []
        assert cautions.codes(run["caution"]) == expected
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
    load = ss.workload(rate=300, requests=600)
    both = ss.simulate(load, "atlas10k", replications=2, precision=0.01)
    assert cautions.codes(both.cautions) == ["overloaded", "precision"]
    assert "1 % was not reached" in both.cautions[1]["text"]
    summary = run(rows=False).to_dict()["summary"]
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
    found = {label: cautions.codes(each) for label, each in comparison.cautions.items()}
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
    assert cautions.codes(run.cautions) == ["overloaded"]
    said("compare", "--devices", "g2,atlas10k", *OVERLOAD, "--plot", picture)
    assert len(re.findall(r"g2 !|atlas10k !", texts(picture))) == 1
    assert "! atlas10k: requests arrived faster" in texts(picture)
    said("compare", "--devices", "g2,g3", *OVERLOAD, "--plot", picture)
    assert "!" not in texts(picture)


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
    done = run(load={"rate": 200, **keys}, rows=False)
    assert cautions.codes(done.cautions) == expected
    grave = done.summary["confidence"]["response_time_ms"]["caution"] is not None
    assert [one["unreliable"] for one in done.cautions] == [grave] * len(expected)


def test_a_validation_has_cautions(said: Callable[..., str], tmp_path: Path) -> None:
    """A response of 1 ms, measured every 2 ms; the disk takes five times as long."""
    file = tmp_path / "measured.csv"
    lines = [f"{n * 2},{n * 7919 % 10_000 * 1000},8,R,1" for n in range(1000)]
    file.write_text("\n".join(["t,at,n,op,took", *lines]) + "\n")
    columns = "time=t:ms, offset=at:512B, bytes=n:512B, op=op, response=took:ms"
    words = ["validate", "--device", "atlas10k", "--trace", file, "--columns", columns]
    found = json.loads(said(*words, "--json"))["caution"]
    assert cautions.codes(found) == ["overloaded"]
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
    def mean_ms(rate: float) -> Any:
        load = ss.workload(rate=rate, requests=600)
        return papers.summary_of(load, ss.device("atlas10k"))["response_time_ms"]["mean"]

    seen = []
    for _ in range(2):
        with simulations.collecting() as runs:
            assert mean_ms(300) == mean_ms(rate=300) > mean_ms(20)
        seen.append(simulations.together(runs))
    assert seen[0] == seen[1]
    assert "overloaded: 2 of 3 runs" in [one["text"] for one in seen[0]]
