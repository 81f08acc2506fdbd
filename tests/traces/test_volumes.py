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
from typing import TYPE_CHECKING, Any, Literal

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
    run = ss.simulate(ss.read_trace(trace, **keys), "g2", "sptf", split="volumes")
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
        assert row == {
            "name": row["name"],
            "requests": summary["requests"] + (summary["warm_up"] or {"requests": 0})["requests"],
            "counted": summary["requests"],
            "mean_ms": times["mean"],
            "p99_ms": times["p99"],
            "throughput_iops": summary["throughput_iops"],
            "utilisation": summary["utilisation"],
            "caution": interval["caution"],
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


def test_percentiles_are_those_of_all_rows(tmp_path: Path) -> None:
    """The merged distribution is that of the rows of all volumes, each simulated alone."""
    trace = msr(tmp_path / "many.csv")
    load = ss.read_trace(trace, time_scale=5.0)
    run = ss.simulate(load, "g2", split="volumes")
    times: list[float] = []
    for row in rows_of(run):
        load = ss.read_trace(trace, time_scale=5.0, trace_device=row["name"])
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


def can_be_sent() -> bool:
    try:
        pickle.dumps((ss.device("g2"), ss.simulate("random", "g2", rows=False)._statistics))
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("by", ["volumes", 9.0])
def test_threads_give_the_same_bit_for_bit(tmp_path: Path, by: Literal["volumes"] | float) -> None:
    keys: dict[str, Any] = {} if by == "volumes" else {"trace_device": "all"}
    load = ss.read_trace(msr(tmp_path / "many.csv"), **keys)
    one, two = (outcome(ss.simulate(load, "mcd", split=by, workers=f"threads:{n}")) for n in (1, 2))
    assert one == two


def test_a_part_can_be_sent_to_another_process(tmp_path: Path) -> None:
    device = ss.device("mcd")
    with split(ss.read_trace(msr(tmp_path / "many.csv")), None) as parts:
        for task in _tasks(device, "fcfs", parts):
            here, there = _run_part(task), _run_part(pickle.loads(pickle.dumps(task)))
            assert not isinstance(here, str)
            assert not isinstance(there, str)
            assert here[1] == there[1]


@pytest.mark.skipif(not can_be_sent(), reason="devices and statistics cannot be pickled")
def test_processes_give_the_same_bit_for_bit(tmp_path: Path) -> None:
    trace = msr(tmp_path / "many.csv")
    one = outcome(ss.simulate(trace, "mcd", workers="threads:1", split="volumes"))
    for n in (1, 2):
        assert outcome(ss.simulate(trace, "mcd", workers=f"processes:{n}", split="volumes")) == one


@pytest.mark.parametrize("windows", [None, (7.0, 1.0)], ids=["volumes", "windows"])
@pytest.mark.parametrize("name", ["disk", "mcd", "g2"])
def test_the_order_of_completion_does_not_matter(
    tmp_path: Path, name: str, windows: tuple[float, float] | None
) -> None:
    load = ss.read_trace(msr(tmp_path / "many.csv"), trace_device="all")
    if windows is None:
        load = ss.read_trace(tmp_path / "many.csv")
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


def test_facts_of_another_version_or_device_are_refused(tmp_path: Path) -> None:
    """The message says which version is read."""
    load = ss.read_trace(msr(tmp_path / "many.csv"), trace_device="all")
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
    run = ss.simulate("sample:postmark-ext4", "g2", split="volumes")
    whole = ss.simulate("sample:postmark-ext4", "g2", rows=False)
    assert run.split["count"] == 1
    assert run.cdf() == whole.cdf()
    of_run, of_whole = dict(run.to_dict()["summary"]), dict(whole.to_dict()["summary"])
    mine, other = of_run.pop("confidence"), of_whole.pop("confidence")
    of_whole.pop("overloaded")
    of_run.pop("overloaded")
    assert of_run == of_whole
    # The middle of the other is the mean of its whole batches.
    found, expected = (
        one["response_time_ms"]["high"] - one["response_time_ms"]["low"] for one in (mine, other)
    )
    assert math.isclose(found, expected, rel_tol=1e-9)
    assert mine["method"] == "strata"


def test_a_volume_that_fails_is_a_row_with_its_error(tmp_path: Path) -> None:
    trace = msr(tmp_path / "many.csv")
    with trace.open("a") as file:
        file.write(f"{START + int(1e10)},far,99,Read,{10**15},4096,1\n")
    run = ss.simulate(trace, "g2", split="volumes")
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
    trace.write_text(trace.read_text().splitlines()[-1] + "\n")
    with pytest.raises(ss.SledsimError, match=r"all 1 parts failed; far.99: row 1: blocks"):
        ss.simulate(trace, "g2", split="volumes")


def test_a_volume_that_outruns_its_device_says_so(tmp_path: Path) -> None:
    trace = msr(tmp_path / "many.csv")
    run = ss.simulate(ss.read_trace(trace, max_queue=40, time_scale=100.0), "disk", split="volumes")
    saturated = [row for row in rows_of(run) if row["caution"] == "saturated"]
    assert saturated
    assert run.split["saturated"] == len(saturated)
    lost = sum(row["requests"] - row["counted"] for row in saturated)
    assert lost == run.split["requests_not_served"] > 0
    assert run.summary["saturated"] is not None
    assert run.summary["confidence"]["response_time_ms"]["caution"] == "saturated"
    codes = [one["code"] for one in run.cautions]
    assert codes.count("saturated") == 1


@pytest.mark.parametrize(
    ("keys", "options", "message"),
    [
        ({"trace_device": "host0.0"}, {}, "trace_device: must not be given by volume"),
        ({"requests": 5}, {}, "requests: must not be given by volume"),
        ({"queue_depth": 1}, {"split": 5}, "queue_depth: must not be given by window"),
        ({"think": "recorded"}, {"split": 5}, "think: must not be given by window"),
        ({"address": "scale"}, {"split": 5}, 'address: "scale" must not be given by window'),
        ({"address": "compact"}, {"split": 5}, 'address: "compact" must not be given by window'),
        ({"trace_device": "separate"}, {"split": 5}, 'trace_device: "separate" must not'),
        ({"warm_up_s": 1}, {"split": 5}, "warm_up_s: must not be a key of the trace by window"),
        ({}, {"split": 5}, "trace_device = "),
        ({}, {"split": 0}, 'split = 0: must be "volumes", or the length of windows in s'),
        ({}, {"split": "volume"}, "split = 'volume': must be \"volumes\""),
        ({}, {"split": "10"}, "split = '10': must be \"volumes\""),
        ({}, {"split": True}, "split = True: must be"),
        ({}, {"split": math.nan}, "split = nan: must be"),
        ({}, {"split": ["volumes"]}, "split = ['volumes']: must be"),
        ({}, {"split": 5, "warm_up_s": 500}, "warm_up_s: must be at most 16 windows, 80 s"),
        ({}, {"split": 5, "warm_up_s": -1}, "warm_up_s = -1: must be a finite number"),
        ({}, {"split": "volumes", "warm_up_s": 5}, "warm_up_s = 5: must be left out by volume"),
        ({}, {"split": None, "warm_up_s": 5}, "warm_up_s = 5: must be given with split=SECONDS"),
        ({}, {"split": None, "folder": "a"}, "folder = 'a': must be given with split="),
        ({}, {"split": None, "table": "a.csv"}, "table = 'a.csv': must be given with split="),
        ({}, {"split": None, "workers": "threads:2"}, "workers = 'threads:2': must be an integer"),
        ({}, {"background": "scan"}, "background = 'scan': must be left out with split"),
        ({}, {"rows": "a.csv"}, "rows = 'a.csv': must be left out with split"),
        ({}, {"rows": True}, "rows = True: must be left out with split"),
        ({}, {"parts": True}, "parts = True: must be left out with split"),
        ({}, {"series": True}, "series = True: must be left out with split"),
        ({}, {"series_ms": 5}, "series_ms = 5: must be left out with split"),
        ({}, {"precision": 0.1}, "precision = 0.1: must be left out with split"),
        ({}, {"replications": 2}, "replications = 2: must be left out with split"),
        ({}, {"workers": "cars"}, "workers = 'cars': must be"),
        ({}, {"workers": 0}, "workers = 0: must be an integer from 1 to 1024"),
        ({}, {"table": "volumes.txt"}, "volumes.txt: must end in .parquet or .csv"),
        ({"trace_device": "all"}, {"split": 1e-5}, "more than 1048576 windows"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, keys: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    trace = msr(tmp_path / "many.csv", requests=200)
    if "1048576" in message:
        lines = (f"{START + 200 * n},a,0,Read,0,512,1\n" for n in range(2**20 + 1))
        trace.write_text("".join(lines))
    with pytest.raises(ss.SledsimError) as raised:
        ss.simulate(ss.read_trace(trace, **keys), "g2", **{"split": "volumes", **options})
    assert message in str(raised.value)


def test_other_loads_and_devices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ss.SledsimError, match="load = 'random': must be a trace, to be split"):
        ss.simulate("random", "g2", split="volumes")
    trace = msr(tmp_path / "many.csv", requests=50)
    with pytest.raises(ss.SledsimError, match="unknown scheduler"):
        ss.simulate(trace, "g2", "sooner", split="volumes")
    with trace.open("a") as file:
        file.write("this is no request\n")
    with pytest.raises(ss.SledsimError, match=r"many.csv:57: "):
        ss.simulate(ss.read_trace(trace, trace_format="msr"), "g2", split="volumes")
    trace.write_text("")
    with pytest.raises(ss.SledsimError, match=r"many\.csv"):
        ss.simulate(trace, "g2", split="volumes")


def test_a_late_request_is_refused_at_its_line(tmp_path: Path) -> None:
    """Late among those of its own volume; the order across volumes does not matter."""
    lines = [f"{START + at},a,{volume},Read,0,512,1\n" for at, volume in ((90, 0), (50, 1))]
    trace = tmp_path / "late.csv"
    trace.write_text("".join(lines))
    assert ss.simulate(trace, "g2", split="volumes").split["count"] == 2
    trace.write_text("".join([*lines, f"{START + 20},a,0,Read,0,512,1\n"]))
    with pytest.raises(ss.SledsimError, match=r"late.csv:3: time .* give sort_ms"):
        ss.simulate(trace, "g2", split="volumes")


def test_a_folder_is_kept_and_reused(tmp_path: Path) -> None:
    trace = msr(tmp_path / "many.csv", requests=300)
    folder = tmp_path / "parts"
    first = ss.simulate(trace, "g2", folder=folder, split="volumes")
    names = sorted(file.name for file in folder.iterdir())
    assert names == [*(f"{n:07}.parquet" for n in range(first.split["count"])), "parts.json"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    again = ss.simulate(trace, "g2", folder=folder, split="volumes")
    assert outcome(again) == outcome(first)
    assert before == {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}

    (folder / names[0]).unlink()
    with pytest.raises(ss.SledsimError, match=r"0000000\.parquet: this part is missing"):
        ss.simulate(trace, "g2", folder=folder, split="volumes")


@pytest.mark.parametrize("damage", ["a bit", "nothing", "a pipe", "a folder", "in the list"])
def test_a_damaged_part_is_named(damage: str, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    trace = msr(tmp_path / "many.csv", requests=300)
    ss.simulate(trace, "g2", folder=folder, split="volumes")
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
    code = (
        "import sledsim as ss; "
        f"ss.simulate({str(trace)!r}, 'g2', split='volumes', folder={str(folder)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert f"SledsimError: {file}: " in done.stderr
    assert done.stderr.endswith("; remove the folder\n")


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    trace = msr(tmp_path / "many.csv", requests=300)
    folder = tmp_path / "parts"
    ss.simulate(trace, "g2", folder=folder, split="volumes")
    other = ss.read_trace(trace, time_scale=2.0)
    with pytest.raises(ss.SledsimError, match="with other keys of the trace"):
        ss.simulate(other, "g2", folder=folder, split="volumes")
    one = ss.read_trace(trace, trace_device="all")
    with pytest.raises(ss.SledsimError, match=r"other keys|of other windows, or volumes"):
        ss.simulate(one, "g2", folder=folder, split=10)
    msr(trace, requests=301)
    with pytest.raises(ss.SledsimError, match="are of another trace"):
        ss.simulate(trace, "g2", folder=folder, split="volumes")
    (folder / "parts.json").write_text("{")
    with pytest.raises(ss.SledsimError, match=r"parts.json: is damaged"):
        ss.simulate(trace, "g2", folder=folder, split="volumes")
    (folder / "parts.json").unlink()
    with pytest.raises(ss.SledsimError, match="holds no parts of a trace"):
        ss.simulate(trace, "g2", folder=folder, split="volumes")
    with pytest.raises(ss.SledsimError, match="cannot be made: No such file"):
        ss.simulate(trace, "g2", folder=tmp_path / "none" / "parts", split="volumes")
    with pytest.raises(ss.SledsimError, match=r"cannot be read: Not a directory"):
        ss.simulate(trace, "g2", folder=trace, split="volumes")


def test_an_interrupted_pass_leaves_nothing(tmp_path: Path) -> None:
    trace = msr(tmp_path / "many.csv", requests=30_000)
    before = set(threading.enumerate())

    def interrupt(_done: int, _of: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ss.simulate(trace, "g2", folder=tmp_path / "parts", progress=interrupt, split="volumes")
    assert [path.name for path in tmp_path.iterdir()] == ["many.csv"]
    assert set(threading.enumerate()) <= before


def test_a_pipe_is_split_in_one_pass(tmp_path: Path) -> None:
    trace = msr(tmp_path / "many.csv", requests=300)
    command = [sys.executable, "-m", "sledsim", "run", "--device", "g2", "--trace", "-"]
    done = subprocess.run(
        [*command, "--by-volume", "--json"],
        input=trace.read_bytes(),
        capture_output=True,
        check=True,
        timeout=120,
    )
    summary = json.loads(done.stdout)["summary"]
    assert summary == ss.simulate(trace, "g2", split="volumes").summary


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    """Files cannot grow beyond a limit here, which is what a full disk does, too."""
    trace = msr(tmp_path / "many.csv", requests=3000)
    code = f"""
import resource, signal
import sledsim as ss
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
try:
    ss.simulate({str(trace)!r}, "g2", folder={str(tmp_path / "parts")!r}, split="volumes")
except ss.SledsimError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "too large" in done.stdout
    assert ".parquet" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["many.csv"]


def test_the_command_gives_what_the_function_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, table = msr(tmp_path / "many.csv"), tmp_path / "volumes.csv"
    command = ["run", "--device", "g2", "--trace", str(trace), "--by-volume"]
    assert main([*command, "--json", "--workers", "threads:2"]) == 0
    run = ss.simulate(trace, "g2", split="volumes")
    assert json.loads(capsys.readouterr().out) == run.to_dict()
    assert main([*command, "--table", str(table)]) == 0
    printed = capsys.readouterr().out
    assert f"{VOLUMES} volumes, a device each" in printed
    assert f"written: {table}" in printed
    header, *lines = table.read_text().splitlines()
    assert header.split(",") == run.volumes.column_names
    assert [line.split(",")[1] for line in lines] == [str(r["requests"]) for r in rows_of(run)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by-volume", "--rows", "a.csv"], "--rows: must not be given with --by-volume"),
        (
            ["--by-window", "5", "--replications", "2"],
            "--replications: must not be given with --by-window",
        ),
        (["--by-volume", "--by-window", "5"], "--by-volume and --by-window: give one of them"),
        (["--by-volume", "--warm-up", "5"], "--warm-up: needs --by-window"),
        (["--by-volume", "--workload", "random"], "must be a trace"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    trace = msr(tmp_path / "many.csv", requests=20)
    load = [] if "--workload" in options else ["--trace", str(trace)]
    assert main(["run", "--device", "g2", *load, *options]) != 0
    assert message in capsys.readouterr().err
