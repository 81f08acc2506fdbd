"""Traces split by volume: brute force over the volumes, executors, folders, and bad input."""

from __future__ import annotations

import json
import math
import os
import pickle
import random
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
import sledsim as ss
from sledsim import _core
from sledsim.cli import main
from sledsim.traces.parts import split
from sledsim.volumes import _run_part, _tasks

if TYPE_CHECKING:
    from pathlib import Path

VOLUMES = 12
START = 128166372003061629
"""The first time in the traces, in units of 100 ns, as in those of MSR Cambridge."""
ONE: dict[str, Any] = {"trace_device": "all"}


def msr(path: Path, requests: int = 4000, volumes: int = VOLUMES, late_ms: float = 0.0) -> Path:
    """Write a trace of several volumes, of which the first have most requests."""
    draw = random.Random(1)
    time_s, lines = 0.0, []
    for _ in range(requests):
        time_s += draw.expovariate(100)
        # The last volume has one request; the one before fewer than an interval needs.
        volume = min(int(draw.paretovariate(0.7)) - 1, volumes - 3)
        ticks = START + int(1e7 * (time_s + draw.random() * late_ms * 1e-3))
        op = "Read" if draw.random() < 0.6 else "Write"
        place, size = 512 * draw.randrange(3_000_000), draw.choice([512, 4096, 8192])
        lines.append(f"{ticks},host{volume % 3},{volume},{op},{place},{size},1000\n")
    ticks = START + int(1e7 * time_s)
    lines += [f"{ticks},last,{volumes - 2},Write,{4096 * n},4096,1000\n" for n in range(5)]
    lines.append(f"{ticks},last,{volumes - 1},Read,0,4096,1000\n")
    path.write_text("".join(lines))
    return path


def rows_of(run: ss.VolumesRun) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pa.table(run.volumes).to_pylist()
    return rows


def by_volume(load: Any, device: str = "g2", **options: Any) -> ss.VolumesRun:
    return ss.simulate(load, device, split="volumes", **options)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Return a trace of 4,006 requests."""
    return msr(tmp_path / "many.csv")


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Return a trace of 306 requests."""
    return msr(tmp_path / "many.csv", requests=300)


@pytest.mark.parametrize(
    ("keys", "late_ms"),
    [
        ({}, 0.0),
        ({"time_scale": 20.0, "address": "scale"}, 0.0),
        ({"time_scale": 20.0, "address": "compact"}, 0.0),
        ({"queue_depth": 2, "address": "wrap", "address_offset": 4096}, 0.0),
        ({"sort_ms": 200}, 150.0),
        ({"warm_up_requests": 1}, 0.0),
    ],
    ids=lambda case: ",".join(case) or "plain" if isinstance(case, dict) else None,
)
def test_parts_are_the_runs_of_their_volumes(
    tmp_path: Path, keys: dict[str, Any], late_ms: float
) -> None:
    """Each row, and the sums of all, are those of a loop that replays one volume after another."""
    trace = msr(tmp_path / "many.csv", late_ms=late_ms)
    run = by_volume(ss.read_trace(trace, **keys), scheduler="sptf")
    alone: dict[str, dict[str, Any] | None] = {}
    fields = [line.split(",") for line in trace.read_text().splitlines()]
    for name in dict.fromkeys(f"{host}.{disk}" for _, host, disk, *_ in fields):
        load = ss.read_trace(trace, trace_device=name, **keys)
        try:
            alone[name] = ss.simulate(load, "g2", "sptf", rows=False).to_dict()["summary"]
        except ss.SledsimError:
            alone[name] = None  # its error is compared below
    rows = rows_of(run)
    assert list(alone) == [row["name"] for row in rows]
    for row in rows:
        summary = alone[row["name"]]
        if summary is None:
            assert "before any was counted" in row["error"]
            assert row["counted"] is None
            continue
        times, interval = summary["response_time_ms"], summary["confidence"]["response_time_ms"]
        requests = summary["requests"] + (summary["warm_up"] or {"requests": 0})["requests"]
        assert row == {
            "name": row["name"],
            "requests": requests,
            "counted": summary["requests"],
            "mean_ms": times["mean"],
            "p99_ms": times["p99"],
            "caution": interval["caution"],
            **{key: summary[key] for key in ("throughput_iops", "utilisation")},
            "error": None,
        }
    each = [summary for summary in alone.values() if summary is not None]
    whole = run.to_dict()["summary"]
    for key in ("requests", "reads", "writes", "blocks_read", "blocks_written"):
        assert whole[key] == sum(summary[key] for summary in each), key
    for key in ("max_queue_depth", "simulated_s"):
        assert whole[key] == max(summary[key] for summary in each), key
    energy = sum(summary["energy_j"]["total"] for summary in each)
    assert math.isclose(whole["energy_j"]["total"], energy, rel_tol=1e-12)
    active = [s["mechanisms"][0]["busy_s"] / s["utilisation"] for s in each]
    for at, told in enumerate(whole["mechanisms"]):
        alike = [summary["mechanisms"][at] for summary in each]
        assert {one["name"] for one in alike} == {told["name"]}
        assert math.isclose(told["busy_s"], sum(one["busy_s"] for one in alike), rel_tol=1e-9)
        for key in ("utilisation", "host", "other"):
            shares = sum(one[key] * time for one, time in zip(alike, active, strict=True))
            assert math.isclose(told[key], shares / sum(active), rel_tol=1e-9, abs_tol=1e-12), key
    assert [told["name"] for told in whole["mechanisms"]] == ["g2", "g2.bus"]
    assert (whole["busiest"], whole["utilisation"]) == ("g2", whole["mechanisms"][0]["utilisation"])
    total = sum(summary["requests"] * summary["response_time_ms"]["mean"] for summary in each)
    mean = whole["response_time_ms"]["mean"]
    assert math.isclose(mean, total / whole["requests"], rel_tol=1e-12)
    assert whole["response_time_ms"]["max"] == max(s["response_time_ms"]["max"] for s in each)
    parts = run.split
    counts = ("requests_counted", "requests_of_warm_up", "requests_of_failed")
    assert parts["requests"] == sum(row["requests"] for row in rows) == 4006
    assert parts["requests"] == sum(parts[count] for count in counts)
    assert parts["requests_not_served"] == 0
    assert run.workload["requests"] == whole["requests"] + parts["requests_of_warm_up"]


def test_percentiles_are_those_of_all_rows(many: Path) -> None:
    """The merged distribution is that of the rows of all volumes, each simulated alone."""
    load = ss.read_trace(many, time_scale=5.0)
    run = by_volume(load)
    times: list[float] = []
    for row in rows_of(run):
        load = ss.read_trace(many, time_scale=5.0, trace_device=row["name"])
        table = pa.table(ss.simulate(load, "g2").rows).to_pydict()
        pairs = zip(table["arrival_ns"], table["completion_ns"], strict=True)
        times += [completion - arrival for arrival, completion in pairs]
    assert len(times) == run.summary["requests"]
    times.sort()
    for key, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        exact = times[math.ceil(share * len(times)) - 1] / 1e6
        found = run.to_dict()["summary"]["response_time_ms"][key]
        assert exact <= found * (1 + 1e-12), key
        assert found <= exact * (1 + 1 / 1024), key


def outcome(run: ss.VolumesRun) -> tuple[str, Any, Any]:
    return json.dumps(run.to_dict()), run.cdf(), pa.table(run.volumes)


@pytest.mark.parametrize("by", ["volumes", 9.0])
def test_threads_give_the_same_bit_for_bit(many: Path, by: Any) -> None:
    load = ss.read_trace(many, **({} if by == "volumes" else ONE))
    one, two = (outcome(ss.simulate(load, "mcd", split=by, workers=f"threads:{n}")) for n in (1, 2))
    assert one == two


def test_processes_give_the_same_bit_for_bit(many: Path) -> None:
    one = outcome(by_volume(many, "mcd", workers="threads:1"))
    for n in (1, 2):
        assert outcome(by_volume(many, "mcd", workers=f"processes:{n}")) == one


@pytest.mark.parametrize("windows", [None, (7.0, 1.0)], ids=["volumes", "windows"])
@pytest.mark.parametrize("name", ["disk", "mcd", "g2"])
def test_the_order_of_completion_does_not_matter(
    many: Path, name: str, windows: tuple[float, float] | None
) -> None:
    load = ss.read_trace(many, **(ONE if windows else {}))
    device = ss.device(name)
    found = []
    with split(load, windows) as parts:
        tasks = list(_tasks(device, "fcfs", parts))
        outcomes = {task.index: _run_part(task) for task in tasks}
        for order in (tasks, tasks[::-1], random.Random(2).sample(tasks, len(tasks))):
            merge = _core.Parts(device._core, "fcfs")
            merge.expect(parts.text)
            for task in order:
                made = outcomes[task.index]
                assert not isinstance(made, str)
                merge.add(task.index, *pickle.loads(pickle.dumps(made)))
            merged = merge.finish(None)
            found.append((merged["document"], merged["statistics"].cdf("response_time", None)))
    assert len(tasks) >= 6
    assert found[0] == found[1] == found[2]


def test_facts_of_another_version_or_device_are_refused(many: Path) -> None:
    """The message says which version is read."""
    load = ss.read_trace(many, trace_device="all")
    with split(load, (600.0, 0.0)) as parts:
        task, *_ = _tasks(ss.device("g2"), "fcfs", parts)
        made = _run_part(task)
        assert not isinstance(made, str)
        statistics, facts = made
        merge = _core.Parts(ss.device("g2")._core, "fcfs")
        merge.expect(parts.text)
        problems = {
            b"": "there are no bytes",
            b"\x09" + facts[1:]: "the bytes have version 9; must be 3",
            facts[:-1]: "the bytes are damaged",
            facts + b"\x00": "the bytes are damaged",
        }
        for given, problem in problems.items():
            with pytest.raises(ss.SledsimError, match=f"the facts of a part: {problem}"):
                merge.add(task.index, statistics, given)
        other = _core.Parts(ss.device("mcd")._core, "fcfs")
        other.expect(parts.text)
        with pytest.raises(ss.SledsimError, match="the bytes are damaged"):
            other.add(task.index, statistics, facts)
        merge.add(task.index, statistics, facts)


def test_a_trace_without_devices_is_one_part() -> None:
    """Its result is that of the whole trace, the interval, too."""
    run = by_volume("sample:postmark-ext4")
    whole = ss.simulate("sample:postmark-ext4", "g2", rows=False)
    assert run.split["count"] == 1
    assert run.cdf() == whole.cdf()
    of_run, of_whole = dict(run.to_dict()["summary"]), dict(whole.to_dict()["summary"])
    mine, other = of_run.pop("confidence"), of_whole.pop("confidence")
    of_whole["overloaded"] = of_run["overloaded"] = None
    assert of_run == of_whole
    # The middle of the other is the mean of its whole batches.
    times = [one["response_time_ms"] for one in (mine, other)]
    found, expected = (time["high"] - time["low"] for time in times)
    assert math.isclose(found, expected, rel_tol=1e-9)
    assert mine["method"] == "strata"


def test_a_volume_that_fails_is_a_row_with_its_error(many: Path) -> None:
    with many.open("a") as file:
        file.write(f"{START + int(1e10)},far,99,Read,{10**15},4096,1\n")
    run = by_volume(many)
    *others, far = rows_of(run)
    assert far["name"] == "far.99"
    assert far["counted"] is far["mean_ms"] is None
    assert "row 1: blocks 1953125000000 to 1953125000007: the device has" in far["error"]
    assert all(row["error"] is None for row in others)
    assert run.split["failed"] == run.split["requests_of_failed"] == 1
    assert run.summary["requests"] == run.split["requests"] - 1
    (caution,) = (one for one in run.cautions if one["code"] == "failed")
    assert caution["unreliable"]
    assert "1 of 13 volumes failed, and their 1 requests are missing" in caution["text"]
    assert "far.99: row 1" in caution["text"]
    many.write_text(many.read_text().splitlines()[-1] + "\n")
    with pytest.raises(ss.SledsimError, match=r"all 1 parts failed; far.99: row 1: blocks"):
        by_volume(many)


def test_a_volume_that_outruns_its_device_says_so(many: Path) -> None:
    run = by_volume(ss.read_trace(many, max_queue=40, time_scale=100.0), "disk")
    saturated = [row for row in rows_of(run) if row["caution"] == "saturated"]
    assert saturated
    assert run.split["saturated"] == len(saturated)
    lost = sum(row["requests"] - row["counted"] for row in saturated)
    assert lost == run.split["requests_not_served"] > 0
    assert run.summary["saturated"] is not None
    assert run.summary["confidence"]["response_time_ms"]["caution"] == "saturated"
    codes = [one["code"] for one in run.cautions]
    assert codes.count("saturated") == 1


def test_a_line_or_a_trace_that_is_wrong_is_named(tmp_path: Path) -> None:
    """Late counts among those of its own volume; the order across volumes does not matter."""
    trace = tmp_path / "many.csv"
    lines = [f"{START + at},a,{volume},Read,0,512,1\n" for at, volume in ((90, 0), (50, 1))]
    trace.write_text("".join(lines))
    assert by_volume(trace).split["count"] == 2
    for line, words in (
        (f"{START + 20},a,0,Read,0,512,1\n", r"many\.csv:3: time .* give sort_ms"),
        ("this is no request\n", r"many\.csv:3: "),
    ):
        trace.write_text("".join([*lines, line]))
        with pytest.raises(ss.TraceError, match=words):
            by_volume(ss.read_trace(trace, trace_format="msr"))
    trace.write_text("")
    with pytest.raises(ss.TraceError, match=r"many\.csv"):
        by_volume(trace)
    trace.write_text("".join(f"{START + 200 * n},a,0,Read,0,512,1\n" for n in range(2**20 + 1)))
    with pytest.raises(ss.SledsimError, match="more than 1048576 windows"):
        ss.simulate(ss.read_trace(trace, trace_device="all"), "g2", split=1e-5)


def test_a_folder_is_kept_and_reused(few: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    first = by_volume(few, folder=folder)
    names = sorted(file.name for file in folder.iterdir())
    assert names == [*(f"{n:07}.parquet" for n in range(first.split["count"])), "parts.json"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    again = by_volume(few, folder=folder)
    assert outcome(again) == outcome(first)
    assert before == {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}

    (folder / names[0]).unlink()
    with pytest.raises(ss.SledsimError, match=r"0000000\.parquet: this part is missing"):
        by_volume(few, folder=folder)


@pytest.mark.parametrize("damage", ["a bit", "nothing", "a pipe", "a folder", "in the list"])
def test_a_damaged_part_is_named(damage: str, few: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    by_volume(few, folder=folder)
    file = folder / ("parts.json" if damage == "in the list" else "0000003.parquet")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.unlink()
    if damage in {"a bit", "in the list"}:
        file.write_bytes(content)
    elif damage == "a pipe":
        os.mkfifo(file)
    elif damage == "a folder":
        file.mkdir()
    told = in_python(f"ss.simulate({str(few)!r}, 'g2', split='volumes', folder={str(folder)!r})")
    assert told.startswith(f"{file}: ")
    assert told.endswith(f"{'missing' if damage == 'nothing' else 'damaged'}; remove the folder\n")


def in_python(work: str, before: str = "") -> str:
    """Return the error of a statement in a process of its own."""
    code = f"import sledsim as ss\n{before}\ntry: {work}\nexcept ss.SledsimError as no: print(no)"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_a_folder_of_something_else_is_refused(few: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    by_volume(few, folder=folder)

    def refused(words: str, load: Any = few) -> None:
        with pytest.raises(ss.SledsimError, match=words):
            by_volume(load, folder=folder)

    refused("with other keys of the trace", ss.read_trace(few, time_scale=2.0))
    whole = ss.read_trace(few, trace_device="all")
    ss.simulate(whole, "g2", folder="whole", split=10)
    with pytest.raises(ss.SledsimError, match="of other windows, or volumes"):
        ss.simulate(whole, "g2", folder="whole", split=5)
    msr(few, requests=301)
    refused("are of another trace")
    (folder / "parts.json").write_text("{")
    refused(r"parts.json: is damaged")
    (folder / "parts.json").unlink()
    refused("holds no parts of a trace")


def test_an_interrupted_pass_leaves_nothing(tmp_path: Path) -> None:
    trace = msr(tmp_path / "many.csv", requests=30_000)
    before = set(threading.enumerate())

    def interrupt(_done: int, _of: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        by_volume(trace, folder=tmp_path / "parts", progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["many.csv"]
    assert set(threading.enumerate()) <= before


def test_a_pipe_is_split_in_one_pass(few: Path) -> None:
    command = [sys.executable, "-m", "sledsim", "run", "--device", "g2", "--trace", "-"]
    done = subprocess.run(
        [*command, "--by-volume", "--json"],
        input=few.read_bytes(),
        capture_output=True,
        check=True,
        timeout=120,
    )
    summary = json.loads(done.stdout)["summary"]
    assert summary == by_volume(few).summary


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    """Files cannot grow beyond a limit here, which is what a full disk does, too."""
    trace, folder = msr(tmp_path / "many.csv", requests=3000), str(tmp_path / "parts")
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))"
    small = f"import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n{limit}"
    told = in_python(
        f"ss.simulate({str(trace)!r}, 'g2', folder={folder!r}, split='volumes')", small
    )
    assert "too large" in told
    assert ".parquet" in told
    assert [path.name for path in tmp_path.iterdir()] == ["many.csv"]


def test_the_command_gives_what_the_function_does(
    many: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "volumes.csv"
    command = ["run", "--device", "g2", "--trace", str(many), "--by-volume"]
    assert main([*command, "--json", "--workers", "threads:2"]) == 0
    run = by_volume(many)
    assert json.loads(capsys.readouterr().out) == run.to_dict()
    assert main([*command, "--table", str(table)]) == 0
    printed = capsys.readouterr().out
    assert f"{VOLUMES} volumes, a device each" in printed
    assert f"written: {table}" in printed
    header, *lines = table.read_text().splitlines()
    assert header.split(",") == run.volumes.column_names
    assert [line.split(",")[1] for line in lines] == [str(r["requests"]) for r in rows_of(run)]
