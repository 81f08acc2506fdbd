"""The command line: documents, files, signals, pipes, terminals."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from sledsim.cli import main

from tests.waiting import LONG_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.commands.conftest import Document, Text

ROOT = Path(__file__).parents[2]
MODULE = [sys.executable, "-m", "sledsim"]
SCRIPT = [str(Path(sysconfig.get_path("scripts")) / "sledsim")]
TRACE = ROOT.parent / "shared" / "traces" / "disksim-ascii-100k.trace"
LONG = ["run", "--device", "g2", "--set", "requests=1000000000"]
"""A run of some minutes, to be stopped."""
FULL = Path("/dev/full")


def sledsim(*words: object, program: list[str] = MODULE, cwd: Path | None = None) -> Any:
    """Run a command that succeeds without a word on stderr."""
    options: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run([*program, *map(str, words)], check=False, cwd=cwd, **options)
    assert (done.returncode, done.stderr) == (0, ""), words
    return done.stdout


@pytest.mark.parametrize("program", [MODULE, SCRIPT], ids=["module", "script"])
def test_the_first_commands_of_a_user(program: list[str]) -> None:
    spec = json.loads(sledsim("devices", "show", "g2", "--json", program=program))
    assert spec["parameters"]["active_tips"]["value"] == 1280
    assert spec["derived"]["blocks"] == 6_750_000

    load = ["--workload", "random", "--set", "rate=500", "--set", "requests=100000"]
    run = json.loads(sledsim("run", "--device", "g2", *load, "--json", program=program))
    assert run["summary"]["requests"] == 100_000
    assert run["summary"]["throughput_iops"] == pytest.approx(500, rel=0.02)

    points = ["--start=-50um,-50um,up", "--end=50um,0um,down"]
    seek = json.loads(sledsim("seek", "--device", "g2", *points, "--json", program=program))
    # Half the stroke in Y takes less than the whole stroke in X, .770 ms with settle.
    assert seek["x_seek_s"] == seek["seek_s"] == pytest.approx(0.770e-3, rel=1e-3)


def test_a_real_trace_with_rows(tmp_path: Path) -> None:
    if not TRACE.is_file():
        pytest.skip(f"{TRACE} is not there")
    words = ["run", "--device", "g2", "--trace", TRACE, "--set", "trace_device=all"]
    words += ["--set", "address=wrap", "--rows", "out.parquet", "--json"]
    run = json.loads(sledsim(*words, cwd=tmp_path))
    rows = pl.read_parquet(tmp_path / "out.parquet")
    assert run["summary"]["requests"] == len(rows) == 100_000
    lines = [line.split() for line in TRACE.read_text().splitlines()]
    # flags 1 is a read; blocks past the end come in again at the beginning
    ops = ["read" if int(line[4], 16) & 1 else "write" for line in lines]
    assert rows["op"].cast(pl.String).to_list() == ops
    blocks = ss.device("g2").blocks
    lbns = [min(int(line[2]) % blocks, blocks - int(line[3])) for line in lines]
    assert rows["lbn"].to_list() == lbns
    assert run["workload"]["wrapped"] == sum(int(line[2]) >= blocks for line in lines)


def test_without_a_command_it_prints_help(text: Text) -> None:
    assert text() == text("--help")
    assert all(name in text() for name in ("run", "devices", "seek", "trace", "Exit codes"))


@pytest.mark.parametrize("command", ["run", "devices", "devices show", "seek", "trace info"])
def test_every_command_has_help_and_takes_json(command: str, text: Text) -> None:
    assert "--json" in text(*command.split(), "--help")


def test_version(text: Text) -> None:
    assert text("--version") == f"sledsim {ss.__version__}\n"
    assert text("--version", "--no-such-option") == text("--no-such-option", "--version")


def test_devices_lists_every_preset(document: Document, text: Text) -> None:
    listed = document("devices")["devices"]
    assert [device["name"] for device in listed] == ss.devices()
    by_name = {device["name"]: device for device in listed}
    assert by_name["g2"]["streaming_mb_s"] == pytest.approx(79.6, abs=0.05)
    assert document("devices", "list") == {"devices": listed}
    lines = text("devices").splitlines()
    names = [line.split()[0] for line in lines[1:] if not line.startswith(" ")]
    assert names == ss.devices()


def test_json_may_stand_before_the_subcommand(text: Text) -> None:
    assert text("devices", "--json", "list") == text("devices", "list", "--json")


def test_show_is_the_spec_of_the_device(document: Document, text: Text, tmp_path: Path) -> None:
    keys = ["--set", "active_tips=640", "--set", "device.idle=coast"]
    shown = document("devices", "show", "g2", *keys)
    spec = ss.device("g2", active_tips=640, idle="coast").spec
    assert shown["derived"] == spec["derived"] != ss.device("g2").spec["derived"]
    idle = shown["parameters"]["idle"]
    assert (idle["value"], idle["origin"]) == ("coast", "--set device.idle")
    file = tmp_path / "mine.toml"
    file.write_text('base = "g2"\ntip_rate_kbit_s = 350 # half as fast\n')
    mine = document("devices", "show", file)
    assert mine["name"] == "mine"
    assert mine["parameters"]["tip_rate_kbit_s"]["source"] == "half as fast"
    out = text("devices", "show", file)
    streaming_mb_s = "39.82"  # half of 79.64
    assert [word for word in ("half as fast", f"{file}:2", streaming_mb_s) if word not in out] == []


def test_seek_reads_units_exactly(document: Document) -> None:
    def seek(start: str, end: str) -> Any:
        return document("seek", "--device", "g2", f"--start={start}", f"--end={end}")

    whole = seek("-50um,-50um,up", "50um,0,down")
    assert whole == seek("-50000nm,-0.05mm,up", "5e-5m,0um,down")
    assert whole == seek("-50µm, -50 μm, up", "+50um,-0.0,down")
    assert whole["start"] == {"x_m": -50e-6, "y_m": -50e-6, "direction": "up"}
    seek_there = ss.device("g2").seek((-50e-6, -50e-6, "up"), (50e-6, 0.0, "down"))
    for name in seek_there.__slots__:
        assert whole[name] == getattr(seek_there, name)
    assert seek("0,0,up", "0,5um,up")["turns"] == 0
    assert seek("12.36um,3nm,down", "12.36um,3nm,down")["seek_s"] == 0


def test_seek_takes_overrides(document: Document, text: Text) -> None:
    words = ["seek", "--device", "g2", "--start=0,0,up", "--end=1um,0,up"]
    settled, unsettled = document(*words), document(*words, "--set", "settling_constants=0")
    assert unsettled["settle_s"] == 0
    assert settled["x_seek_s"] == pytest.approx(settled["settle_s"] + unsettled["x_seek_s"])
    assert f"{1e3 * settled['seek_s']:.4f} ms" in text(*words)


def test_run_is_simulate(document: Document) -> None:
    words = ["--set", "requests=2000", "--set", "rate=800", "--set", "seed=7"]
    run = document("run", "--device", "g1", *words, "--set", "device.idle=coast")
    load = ss.workload("random", requests=2000, rate=800, seed=7)
    assert run == ss.simulate(load, ss.device("g1", idle="coast")).to_dict()


def test_a_scenario_is_overridden_by_options(
    document: Document, text: Text, tmp_path: Path
) -> None:
    (tmp_path / "slow.toml").write_text('base = "g2"\nspring_factor = 0.5\n')
    load = '[workload]\nkind = "random"\nrate = 100\nrequests = 50\n'
    file = tmp_path / "study.toml"
    file.write_text(f'[device]\nbase = "slow.toml"\n{load}')
    for words, device, requests in (
        ([], "slow", 50),
        (["--device", "g3", "--set", "requests=70"], "g3", 70),
    ):
        run = document("run", file, *words)
        assert (run["device"], run["summary"]["requests"]) == (device, requests)
        assert run["workload"]["rate"] == 100
    assert "open, 100 per s" in text("run", file)


def test_run_in_text_tells_what_json_tells(document: Document, text: Text, tmp_path: Path) -> None:
    words = ["run", "--device", "g2", "--set", "requests=3000", "--set", "think_ms=150"]
    summary = document(*words)["summary"]
    out = text(*words, "--rows", tmp_path / "rows.parquet")
    section = out.partition("time in ms")[2].splitlines()
    for name in ("response time", "queue", "seek", "other", "service time"):
        times = summary[f"{name.replace(' ', '_')}_ms"]
        stats = ("mean", "sd", "p50", "p90", "p99", "p99_9", "p99_99", "max")
        shown = next(line.strip() for line in section if line.strip().startswith(f"{name}  "))
        told = [float(word) for word in shown.removeprefix(name).split()]
        assert told == [pytest.approx(times[stat], rel=5e-3, abs=5e-4) for stat in stats], name
    lines = [line.split() for line in out.splitlines() if line.strip()]
    assert "rotation" not in [line[0] for line in lines], "nothing rotates"
    for cause in ("seek", "inactive", "startup", "total"):
        share = summary["energy_j"][cause] / summary["energy_j"]["total"]
        assert any(line[0] == cause and f"{share:.1%}" in " ".join(line) for line in lines)
    assert f"written: {tmp_path / 'rows.parquet'}" in out
    assert len(pl.read_parquet(tmp_path / "rows.parquet")) == 3000


def test_a_saturated_run_is_marked(document: Document, text: Text) -> None:
    words = ["run", "--device", "g2", "--set", "requests=9000", "--set", "max_queue=500", "--set"]
    queue = document(*words, "rate=5000")["summary"]["saturated"]["queue"]
    assert queue <= 501
    assert re.match(rf"SATURATED.*\b{queue} requests", text(*words, "rate=5000"), re.DOTALL)
    assert "SATURATED" not in text(*words, "rate=50")


def test_changes_of_addresses_are_reported(document: Document, text: Text, tmp_path: Path) -> None:
    blocks = ss.device("g2").blocks
    trace = tmp_path / "two.trace"
    trace.write_text(f"0 3 {blocks + 5} 8 1\n1 3 {blocks - 1} 8 0\n2 4 100 8 1\n")
    words = ["run", "--device", "g2", "--trace", trace, "--set", "trace_device=3", "--set"]
    out = text(*words, "address=wrap")
    assert "1 wrapped around at the end of the device, 1 moved down to end within it" in out
    assert "device 3; 1 requests of others left out (seen: 3, 4)" in out
    assert document(*words, "address=wrap")["workload"]["wrapped"] == 1
    assert "changed to spread the trace over the device" in text(*words, "address=scale")
    out = text("run", "--device", "g2", "--trace", "sample:postmark-ext4")
    assert "unchanged" in out
    assert "44,213" in out


def test_a_picture(tmp_path: Path, text: Text) -> None:
    words = ["run", "--device", "g2", "--set", "requests=5000", "--plot"]
    out = text(*words, tmp_path / "a.png", "--rows", tmp_path / "a.parquet")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert out.endswith(f"\n\nwritten: {tmp_path / 'a.parquet'}\n\nwritten: {tmp_path / 'a.png'}\n")
    text(*words, tmp_path / "b.svg")
    assert "<svg" in (tmp_path / "b.svg").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "a.png", "b.svg"]


def test_missing_matplotlib_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["run", "--device", "g2", "--plot", str(tmp_path / "a.png")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "sledsim: error: --plot needs matplotlib: pip install matplotlib\n"


def test_trace_info_and_samples(document: Document, text: Text) -> None:
    samples = document("trace", "list")["samples"]
    names = ("pgbench", "postmark", "postmark-ext4", "sqlite", "tpch-q4")
    assert samples.keys() == {f"sample:{name}" for name in names}
    figures = samples["sample:postmark-ext4"]["figures"]
    info = document("trace", "info", "sample:postmark-ext4")
    assert info["requests"] == figures["requests"]
    assert info["read_fraction"] == pytest.approx(figures["read_share"], abs=1e-4)
    assert info["end_block"] == figures["end_lbn"]
    assert f"{figures['requests']:,}" in text("trace", "info", "sample:postmark-ext4")
    assert "PostMark on ext4" in text("trace")


# Signals, pipes, terminals


@contextlib.contextmanager
def running(*words: object, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a command in the background; it never survives the test."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    process = subprocess.Popen([*MODULE, *map(str, words)], **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def stopped(process: subprocess.Popen[str], number: int) -> str:
    """Send a signal; return stderr once the process has ended."""
    process.send_signal(number)
    out, err = process.communicate(timeout=LONG_S)
    assert out == ""
    return err


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_a_run_and_leaves_no_file(name: str, tmp_path: Path) -> None:
    with running(*LONG, "--rows", "out.parquet", cwd=tmp_path) as process:
        while not (parts := list(tmp_path.iterdir())) or parts[0].stat().st_size < 1_000_000:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        assert [path.suffix for path in parts] == [".part"]
        number = getattr(signal, name)
        said = stopped(process, number)
        assert (process.returncode, said) == (128 + number, "sledsim: interrupted\n")
        assert list(tmp_path.iterdir()) == []


def test_a_signal_interrupts_the_reading_of_a_trace(tmp_path: Path) -> None:
    # A pipe that nothing comes through is a trace of infinite length.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    deaf = ["run", "--device", "g2", "--trace", pipe]
    for words in (["trace", "info", pipe], [*deaf, "--rows", tmp_path / "out.parquet"]):
        with running(*words) as process:
            writer = None
            while writer is None:
                assert process.poll() is None, process.communicate()
                with contextlib.suppress(OSError):  # until it reads
                    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
                time.sleep(0.02)
            said = stopped(process, signal.SIGINT)
            os.close(writer)
            assert (process.returncode, said) == (130, "sledsim: interrupted\n")
    assert list(tmp_path.iterdir()) == [pipe]


def written_to(output: Any, *words: str) -> tuple[int, str]:
    """Run a command; return its exit code and what it says on stderr."""
    options: dict[str, Any] = {"stderr": subprocess.PIPE, "text": True, "timeout": 60}
    done = subprocess.run([*MODULE, *words], stdout=output, check=False, **options)
    return done.returncode, done.stderr


def test_a_closed_pipe_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    for words in (["devices", "show", "g2"], ["--help"], ["devices", "--json"]):
        assert written_to(write, *words) == (0, "")
    os.close(write)


def test_closed_output_is_no_error(tmp_path: Path) -> None:
    words = [*MODULE, "run", "--device", "g2", "--rows", "out.parquet"]
    done = subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", *words], cwd=tmp_path, check=False)
    assert done.returncode == 0
    assert len(pl.read_parquet(tmp_path / "out.parquet")) == 10_000


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with FULL.open("w") as output:
        said = "sledsim: error: cannot write the output: No space left on device\n"
        assert written_to(output, "devices") == (2, said)
    assert main(["run", "--device", "g2", "--rows", str(FULL)]) == 2
    assert "/dev/full: No space left" in capsys.readouterr().err


def test_options_for_traces(document: Document, text: Text, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("5000000 0 10 8 1\n4000000 0 20 8 0\n9000000 0 30 8 1\n")
    words = ["run", "--device", "g2", "--trace", plain, "--format", "mqsim", "--sort"]
    for sort, window in (([], 1000), (["1.5"], 1.5)):
        load = document(*words, *sort)["workload"]
        assert (load["format"], load["format_from"]) == ("mqsim", "trace_format")
        assert (load["sort_ms"], load["sorted"], load["first_time_s"]) == (window, 1, 0.004)
    out = text(*words)
    assert "mqsim (as asked for)" in out
    assert "open, at the times of the trace; 1 sorted that came up to 1 ms late" in out
    log = tmp_path / "x.iolog"
    log.write_text("fio version 2 iolog\na add\na read 0 700\nwait 100\nb write 512 512\n")
    separate = ["run", "--device", "g2", "--trace", log, "--set", "trace_device=separate"]
    out = text(*separate, "--set", "address_offset=1000")
    for said in (
        "fio_iolog (by its content); 2 lines that are no requests",
        "devices a, b, one after the other",
        "from LBN 1,000 on; 1 widened to whole blocks",
    ):
        assert said in out
    drive = tmp_path / "x.validate"
    drive.write_text("R Hit 10 4 663 1000\nW Miss 20 1 9000 0\n")
    out = text("run", "--device", "g2", "--trace", drive)
    assert "1 outstanding, after the think times of the trace" in out


def test_a_scenario_may_name_a_sample(document: Document, tmp_path: Path) -> None:
    scenario = tmp_path / "x.toml"
    load = '[workload]\nkind = "trace"\nrequests = 10\nfile = "sample:postmark-ext4"\n'
    scenario.write_text(f'[device]\nbase = "g2"\n{load}')
    assert document("run", scenario)["workload"]["requests"] == 10


def test_a_trace_from_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "x.trace"
    file.write_bytes(b"0.5 0 100 8 1\n1.25 0 200 8 0\n")
    words = [*MODULE, "run", "--device", "g2", "--trace", "/dev/stdin", "--json"]

    def ran(*more: str, **given: Any) -> Any:
        done = subprocess.run([*words, *more], capture_output=True, timeout=60, check=True, **given)
        return json.loads(done.stdout)

    assert ran(input=file.read_bytes())["summary"]["requests"] == 2
    twice = ("--set", "address=scale")
    assert ran(*twice, input=file.read_bytes())["workload"]["address"] == "scale"
    with file.open("rb") as stdin:  # it is a file
        assert ran(*twice, stdin=stdin)["workload"]["span_blocks"] == 208
