"""Applications on emulated devices: runs, replays, refusals."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim import programs
from sledsim.cli import main
from sledsim.programs import Recording
from sledsim.programs.benchmarks.io_statistics import facts_of
from sledsim.programs.benchmarks.pgbench import PgBench
from sledsim.programs.processes import tree_compute_s

from tests.mounted import POSTGRES, RUN, needs_postgres, needs_root
from tests.processes import descendants
from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    Bench = Callable[..., dict[str, dict[str, Any]]]

SAMPLES = Path(ss.__file__).parent / "data" / "traces"
needs_postmark = pytest.mark.skipif(not shutil.which("postmark"), reason="no postmark")


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str], clean: None) -> Bench:
    """Run an application through the command line; recordings go to the temporary folder."""
    del clean

    def ran(name: str, devices: str, *words: str) -> dict[str, dict[str, Any]]:
        record = f"--record={tmp_path}"
        code = main(["bench-app", name, "--devices", devices, "--json", record, *words])
        out, errors = capsys.readouterr()
        assert code == 0, errors
        return {each["device"]: each for each in json.loads(out)["devices"]}

    return ran


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


# Counts


def row(**other: Any) -> dict[str, Any]:
    moves = ("seek", "settle", "turnaround", "rotation", "head_switch", "transfer")
    base = dict.fromkeys((f"{name}_ns" for name in moves), 0)
    return {"device": "a", "op": "read", "blocks": 8, "lateness_ns": 0, **base, **other}


@pytest.mark.parametrize("seed", range(5))
def test_busy_time_is_the_number_of_covered_instants(seed: int) -> None:
    chance = random.Random(seed)
    spans = []
    for _ in range(60):
        begin = chance.randrange(1000)
        spans.append((begin, begin + chance.randrange(40)))
    told = [row(arrival_ns=begin, completion_ns=end) for begin, end in spans]
    facts = facts_of(pa.Table.from_pylist(told))
    covered = sum(any(begin <= at < end for begin, end in spans) for at in range(1100))
    assert facts.busy_s == pytest.approx(covered / 1e9)
    assert facts.access_ms == pytest.approx(covered / 60 / 1e6)
    first, last = min(begin for begin, _ in spans), max(end for _, end in spans)
    assert facts.duration_s == pytest.approx((last - first) / 1e9)


def test_requests_are_counted_by_kind() -> None:
    told = [
        row(op="read", arrival_ns=0, completion_ns=10, transfer_ns=5),
        row(op="read", arrival_ns=20, completion_ns=30, lateness_ns=7, blocks=16),
        row(op="write", arrival_ns=20, completion_ns=24),
        row(op="flush", arrival_ns=25, completion_ns=26, blocks=0),
    ]
    facts = facts_of(pa.Table.from_pylist(told))
    assert (facts.requests, facts.reads, facts.writes, facts.flushes) == (4, 2, 1, 1)
    assert facts.mean_blocks == pytest.approx(32 / 3)
    assert facts.read_hits == 0.5
    assert facts.duration_s == pytest.approx(37e-9)
    nothing = facts_of(pa.Table.from_pylist(told).slice(0, 0))
    assert (nothing.requests, nothing.access_ms, nothing.busy_s) == (0, None, 0)


def test_a_device_that_works_while_the_program_computes_stalls_it_no_longer() -> None:
    told = [row(arrival_ns=0, completion_ns=4_000_000_000)]
    facts = facts_of(pa.Table.from_pylist(told))
    outcome = programs.Outcome("a", "b", run_s=5.0, compute_s=3.0, facts=facts, emulated=True)
    assert (outcome.stall_s, outcome.device_s, outcome.way_s) == (2.0, 2.0, 0.0)
    assert outcome.to_dict()["stall_device_s"] == 2.0


def test_processor_time_of_ended_children_of_a_server_counts() -> None:
    burn = "import time; t = time.process_time() + 0.3\nwhile time.process_time() < t: pass"
    parent = (
        "import os, subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]]); "
        "print(sum(os.times()[:4]), flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", parent, burn]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        used_s = float(process.stdout.readline())
        assert used_s >= 0.3
        assert tree_compute_s(process.pid) == pytest.approx(used_s, abs=0.1)
        assert tree_compute_s(os.getpid()) >= tree_compute_s(process.pid)
        assert process.stdin is not None
        process.stdin.close()


def test_a_prefetch_buffer_of_a_sled_shortens_query_4() -> None:
    """Section 4.2 of SIGMETRICS 2000 names the buffer that its sled lacks."""
    buffer = {"size_kib": 2048, "segments": 8, "read_ahead": "full"}
    plain, idle, ahead = programs.replay(
        "sample:tpch-q4",
        [
            ss.device("sigmetrics2000"),
            ss.device("sigmetrics2000", buffer=buffer | {"read_ahead": "none"}),
            ss.device("sigmetrics2000", buffer=buffer),
        ],
    )
    # Without read-ahead, a buffer of 2 MiB holds nothing that is read again.
    assert idle.run_s == plain.run_s
    assert idle.facts.read_hits == plain.facts.read_hits == 0
    # The sled passes over each row at least once, in 90 bits at 400 kbit/s.
    load = ss.read_trace("sample:tpch-q4", think="recorded", depends_on="all")
    run = ss.simulate(load, ss.device("sigmetrics2000", buffer=buffer))
    rows = pa.table(run.rows).to_pylist()
    reads = [row for row in rows if row["op"] == "read"]
    touched = {
        number
        for row in reads
        for number in range(row["lbn"] // 20, (row["lbn"] + row["blocks"] - 1) // 20 + 1)
    }
    media_s = len(touched) * 90 / 400e3
    assert media_s < ahead.stall_s < 0.75 * plain.stall_s
    # The saving is at most two turnarounds (.35 ms each in the middle, 1.4 at most) a read.
    assert (plain.stall_s - ahead.stall_s) / len(reads) < 2 * 1.4e-3
    hits = sum(row["passes"] == 0 for row in reads)
    assert run.summary["devices"][0]["counts"] == {"read_hits": hits}
    assert hits == round((ahead.facts.read_hits or 0) * len(reads)) > 0


# Recordings


@pytest.mark.parametrize("name", programs.NAMES)
def test_a_sample_is_what_the_file_beside_it_says(name: str) -> None:
    about = ss.sample_traces()[name]
    path = SAMPLES / about["file"]
    table = pq.read_table(path)
    facts = facts_of(table)
    for key in ("requests", "reads", "writes", "flushes", "mean_blocks", "duration_s"):
        assert about["figures"][key] == pytest.approx(getattr(facts, key)), key
    ends = [each["lbn"] + each["blocks"] for each in table.to_pylist()]
    assert about["figures"]["end_lbn"] == max(ends)
    assert facts.duration_s <= about["run"]["run_s"]
    assert about["licence"] == "CC0-1.0"
    info = ss.trace_info(f"sample:{name}")
    assert info["requests"] == facts.requests


@pytest.mark.parametrize("name", programs.NAMES)
def test_a_replay_on_the_device_of_the_recording_takes_as_long(name: str) -> None:
    """Apart from lateness, which is in the recording's time and not in the replay's."""
    recording = Recording.load(SAMPLES / f"{name}.parquet")
    late_s = sum(each["lateness_ns"] for each in rows(recording.path)) / 1e9
    again = recording.replay(ss.device(recording.device))
    assert recording.run_s - late_s - 0.02 <= again.run_s <= recording.run_s + 1e-6
    assert again.run_s == pytest.approx(again.compute_s + again.stall_s)
    assert again.stall_s == pytest.approx(again.device_s + again.way_s)


def test_a_device_without_times_leaves_what_was_computed_and_the_ways() -> None:
    recording = Recording.load(SAMPLES / "postmark.parquet")
    device = ss.device("sigmetrics2000")
    memory = ss.device("memory", blocks=device.blocks, latency_ms=0, ms_per_block=0)
    nothing = recording.replay(memory)
    whole = recording.replay(device)
    assert nothing.facts.busy_s == 0
    assert nothing.run_s == pytest.approx(whole.run_s - whole.facts.busy_s, rel=0.02)


def test_the_postmark_of_the_paper(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """At least 2.5 times as fast on the MEMS device as on the Atlas 10K, which takes 5.5 ms."""
    words = ["bench-app", "postmark", "--replay", "--devices", "sigmetrics2000,superdisk,atlas10k"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["devices"]
    mems, superdisk, atlas = found
    assert atlas["run_s"] > 2.5 * mems["run_s"]
    assert superdisk["run_s"] > 1.5 * mems["run_s"]
    assert 0.6 < 1 - mems["stall_s"] / atlas["stall_s"] < 0.8
    assert atlas["access_ms"] == pytest.approx(5.49, rel=0.05)
    assert not any(each["emulated"] for each in found)
    picture = tmp_path / "a.svg"
    assert main([*words, f"--plot={picture}"]) == 0
    said = capsys.readouterr().out
    assert "sigmetrics2000: 3." in said
    assert "Replayed, not run" in said
    text = picture.read_text(encoding="utf-8")
    assert "I/O stall: device" in text
    assert "superdisk" in text


# Runs


@needs_root
@needs_postmark
def test_postmark_runs_and_its_replay_agrees(bench: Bench, tmp_path: Path) -> None:
    # Both begin with the same bytes, and the program does the same: so are the requests. Only the
    # kernel's own timers (write-back, the journal) may move a few blocks of metadata: 5 %, more if
    # the machine is busy, but not each time.
    for _ in range(10):
        said = bench("postmark", "g2,sigmetrics2000", "--set=files=60", "--set=transactions=40")
        files = [tmp_path / f"postmark-{name}.parquet" for name in said]
        g2, other = ({(e["op"], e["lbn"], e["blocks"]) for e in rows(file)} for file in files)
        if len(g2 ^ other) <= 0.05 * len(g2 | other):
            break
    else:
        pytest.fail("more than 5 % of the requests are of one device only, each time")
    for device, each in said.items():
        report = each["report"]
        assert report["files_created"] == report["files_deleted"] >= 60
        assert report["files_read"] + report["files_appended"] == 40
        assert each["emulated"]
        assert each["run_s"] >= each["compute_s"] > 0
        assert each["stall_s"] == pytest.approx(each["run_s"] - each["compute_s"])
        # A file of 4 KiB blocks: the file system writes no less than PostMark.
        recorded = rows(tmp_path / f"postmark-{device}.parquet")
        assert len(recorded) == each["requests"]
        assert sum(each["op"] == "write" for each in recorded) == each["writes"] > 200
    recording = Recording.load(tmp_path / "postmark-g2.parquet")
    predicted = said["sigmetrics2000"]["predicted"]
    assert predicted["recorded_on"] == "g2"
    assert said["g2"]["predicted"]["recorded_on"] == "sigmetrics2000"
    assert predicted["run_s"] == recording.predict(ss.device("sigmetrics2000")).run_s


@needs_root
@needs_postgres
def test_query_4_gives_the_right_answer(bench: Bench, tmp_path: Path) -> None:
    import duckdb  # only here

    said = bench("tpch-q4", "g2", "--set=scale_factor=0.01")
    generator = Path(sys.executable).with_name("tpchgen-cli")
    words = ["csv", "-s", "0.01", "--tables=orders,lineitem", f"--output-dir={tmp_path}"]
    subprocess.run([generator, *words], check=True, capture_output=True)
    orders, lineitem = (str(tmp_path / f"{name}.csv") for name in ("orders", "lineitem"))
    query = (
        "select o_orderpriority, count(*) from read_csv(?) "
        "where o_orderdate >= '1993-07-01' and o_orderdate < '1993-10-01' and o_orderkey in "
        "(select l_orderkey from read_csv(?) where l_commitdate < l_receiptdate) group by all"
    )
    urgent = duckdb.connect().execute(query, [orders, lineitem]).fetchall()
    assert said["g2"]["report"] == dict(urgent)
    assert said["g2"]["reads"] > 500
    # Read-ahead of 24 KiB: no read is longer.
    read = [
        each["blocks"] for each in rows(tmp_path / "tpch-q4-g2.parquet") if each["op"] == "read"
    ]
    assert max(read) <= 48


@needs_root
@needs_postgres
def test_pgbench_makes_each_transaction_durable(bench: Bench) -> None:
    said = bench("pgbench", "g2", "--set=scale=1", "--set=transactions=30", "--set=clients=2")
    assert said["g2"]["report"]["transactions"] == 60
    # Two clients may share a flush, and each needs one.
    assert said["g2"]["flushes"] >= 30
    assert said["g2"]["compute_s"] > 0


@needs_root
@pytest.mark.parametrize("wal", [0, 1])
def test_sqlite_keeps_every_record(bench: Bench, wal: int) -> None:
    words = ("--set=rows=2000", "--set=transactions=20", f"--set=wal={wal}")
    said = bench("sqlite", "g2", *words)
    assert said["g2"]["report"]["records"] == 2020
    assert said["g2"]["report"]["journal"] == ("wal" if wal else "delete")
    assert said["g2"]["flushes"] >= 20


# Refusals


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([*words]) == 2
    out, errors = capsys.readouterr()
    assert out == ""
    return errors.splitlines()[-1]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bench-app postmark --devices g2", "--replay"),
        ("crash-app sqlite", "--file-system raw"),
        ("mount --device g2 FOLDER", "without it `sledsim serve --fuse` gives"),
        ("umount /none", ""),
    ],
)
def test_users_other_than_root_are_offered_what_needs_none(
    line: str,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    command, *words = line.replace("FOLDER", str(tmp_path)).split()
    said = refused(capsys, command, *words)
    assert f"{command} needs root" in said
    assert says in said


@needs_root
@pytest.mark.parametrize(
    ("name", "program", "source"),
    [
        ("postmark", "postmark", "the package postmark"),
        ("pgbench", "postgres", "the package postgresql"),
        ("tpch-q4", "tpchgen-cli", "pip install tpchgen-cli"),
    ],
)
def test_a_missing_program_is_named_with_what_has_it(
    name: str,
    program: str,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    which = shutil.which

    def without(command: str, **how: Any) -> str | None:
        return None if command == program else which(command, **how)

    if name == "tpch-q4" and not POSTGRES:
        pytest.skip("PostgreSQL is not installed")
    monkeypatch.setattr(shutil, "which", without)
    said = refused(capsys, "bench-app", name, "--devices", "g2")
    assert f"{program} is missing" in said
    assert source in said


@needs_root
@needs_postmark
@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("--fs=fat", "file system 'fat'"),
        ("--fs-mib=4000", "has no room"),
        ("--record=/none", "--record /none: must be a folder"),
        ("--options=nonsense", "nonsense"),
        ("--folder=/none", "/none"),
        # An error of the application.
        ("--fs-mib=2 --set=files=600", "postmark: cannot open"),
    ],
)
def test_failed_setups_are_refused_and_cleaned_up(
    words: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ("bench-app", "postmark", "--devices=sigmetrics2000", *words.split())
    assert part in refused(capsys, *line)


@needs_root
@needs_postgres
def test_a_database_that_runs_already_is_left_alone(tmp_path: Path) -> None:
    data = tmp_path / "pgdata"
    data.mkdir()
    (data / "postmaster.pid").write_text("1\n", encoding="ascii")
    running = PgBench({}).server(tmp_path).running()
    with pytest.raises(ss.SledsimError, match="another server runs on this database"), running:
        pass
    assert (data / "postmaster.pid").read_text(encoding="ascii") == "1\n"


@needs_root
@needs_postmark
@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(
    ("number", "amid"), [(signal.SIGINT, "postmark"), (signal.SIGTERM, "mounting")]
)
def test_an_interrupt_cleans_up(number: int, amid: str) -> None:
    def has_begun() -> bool:
        assert process.poll() is None
        if amid == "mounting":
            return bool(set(RUN.glob("mount-*.json")) - before)
        for child in descendants(process.pid):
            with contextlib.suppress(OSError):  # it has ended
                if Path(f"/proc/{child.pid}/comm").read_text("utf-8") == f"{amid}\n":
                    return True
        return False

    before = set(RUN.glob("mount-*.json"))
    words = ["bench-app", "postmark", "--devices", "atlas10k", "--set=files=5000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "sledsim", *words], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert "making" in process.stderr.readline()
    assert "atlas10k" in process.stderr.readline()
    eventually(has_begun)
    for _ in range(3):  # impatiently
        process.send_signal(number)
        time.sleep(0.05)
    _, errors = process.communicate(timeout=LONG_S)
    # The last signal may come when all is cleaned up, and Python no longer handles signals.
    assert process.returncode in (128 + number, -number), errors
