"""Wrong input gives an error of one line and exit code 2, and leaves no file."""

from __future__ import annotations

import contextlib
import csv
import functools
import gzip
import itertools
import json
import os
import re
import resource
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.studies import study_files
from sledsim.studies.runner import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PRESETS = Path(__file__).parents[2] / "crates" / "sledsim-core" / "data" / "devices"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Work in an empty folder."""
    with contextlib.chdir(tmp_path):
        yield tmp_path


@pytest.fixture
def refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that is refused; return the text after ``sledsim: error:``."""

    def run(*words: object) -> str:
        before = sorted(folder.rglob("*"))
        assert main([*map(str, words)]) == 2
        said = capfd.readouterr()
        assert said.out == ""
        assert said.err.startswith("sledsim: error: ")
        first, *more = said.err.splitlines()
        assert all(line.startswith("  ") for line in more), "one line and what is missing"
        assert sorted(folder.rglob("*")) == before
        return first.removeprefix("sledsim: error: ").strip()

    return run


WRONG_WORDS = [
    ("rnu", "'rnu'", "did you mean 'run'"),
    ("devices shwo g2", "'shwo'", "'show'"),
    ("run --device g2 --rowz x", "'--rowz'", "'--rows'", "sledsim run --help"),
    ("run --device g2 --row x", "'--row'", "'--rows'"),
    ("run --rate 500", "'--rate'", "--set rate="),
    ("run --device g2 --rows 10000", "--rows 10000", ".parquet or .csv"),
    ("run --device g2 --requests 10000", "'--requests'", "--set requests="),
    ("run --device mcd --parts", "--parts", "--rows FILE", "--perfetto FILE"),
    ("run --device g2 --rows rows.txt", "--rows rows.txt", ".parquet or .csv"),
    ("run --device g2 --series rows.txt", "rows.txt", ".parquet or .csv"),
    ("run g2", "'g2'", "--device g2"),
    ("run zipf", "'zipf'", "--workload zipf"),
    ("run sptf", "'sptf'", "--scheduler sptf"),
    ("run sample:postmark-ext4", "--trace sample:postmark-ext4"),
    ("run --device g2 --set rate 500", "--set rate", "--set rate=500"),
    ("run --device g2 --set rate=500/s", 'rate = "500/s"', "a number", "without a unit"),
    ("run --device g2 --set mean_size_kib=8KiB", "8KiB", "a number", "the key is in KiB"),
    ("run --device g2 --set mean_size=8KiB", "'workload.mean_size'", "'workload.mean_size_kib'"),
    ("run --device g2 --set spring_factor=0.5", "'device.spring_factor'"),
    ("run --device g2 --workload zipf --set alpha=0.9", "'workload.zipf_exponent'"),
    ("run --device g2 --set iodepth=4", "'workload.queue_depth'"),
    ("run --device g2 --trace postmark", "postmark", "sample:postmark-ext4"),
    ("trace info postmark", "postmark", "sample:postmark-ext4"),
    ("run --device g2 a.toml b.toml", "'b.toml'"),
    ("run --device", "--device"),
    ("devices show", "DEVICE"),
    ("run", "--device"),
    ("run --device g22", "'g22'", "g2"),
    ("devices show zzzz", "'zzzz'", "sigmetrics2000", ".toml"),
    ("seek --device sigmetric --start=0,0,up --end=0,0,up", "sigmetrics2000"),
    ("run --device g2 --scheduler fcsf", "'fcsf'", "fcfs"),
    ("run --device g2 --workload randm", "'randm'", "random"),
    ("trace info sample:postmarc", "'sample:postmarc'", "sample:postmark-ext4"),
    ("run --device g2 --workload random --trace x", "--trace and --workload"),
    ("run --device g2 --set rate", "--set rate", "key=value"),
    ("run --device g2 --set raet=5", "--set raet", "'workload.rate'"),
    ("run --device g2 --set device.sping_factor=0", "--set device.sping_factor", "spring_factor"),
    ("run --device g2 --set device.command_overhead_us=5", "command_overhead_ms", "in ms"),
    ("run --device g2 --set address=wrap", "--set address"),
    ("run --device g2 --set rate=fast", "--set rate", "fast", "a number"),
    ("run --device g2 --set device.travel_x_um=100um", "travel_x_um", "100um"),
    ("run --device g2 --set requests=2.5", "requests = 2.5", "an integer"),
    ("run --device g2 --set rate=-1", "rate = -1", "above 0"),
    ("run --device g2 --set rate=nan", "rate = nan"),
    ("run --device g2 --set requests=99999999999999999999", "requests", "99999999999999999999"),
    ("run --device g2 --set requests=0", "requests = 0", "at least 1"),
    ("run --device g2 --set mean_size_kib=0", "mean_size_kib = 0", "0.5"),
    ("run --device g2 --set rate=5 --set queue_depth=2", "rate", "queue_depth"),
    ("run --device g2 --set device.spring_factor=1", "spring_factor = 1", "below 1"),
    ("run --device g2 --set device.kinematics=exact", "kinematics", "piecewise", "disksim"),
    ("run --device g2 --set device.active_tips=1000", "active_tips = 1000", "tips_per_lbn = 64"),
    ("run --device g2 --set device.active_tips=4096", "tips = 6400", "4096"),
    ("run --device g2 --set device.travel_y_um=1", "travel_y_um = 1", "row"),
    ("run --device g2 --set device.travel_x_um=0.01", "travel_x_um = 0.01"),
    ("run --device g2 --set device.tips_per_lbn=32", "tips_per_lbn = 32", "512"),
    ("run --device g2 --set last_lbn=6750000", "last_lbn = 6750000", "6750000 blocks"),
    ("run none.toml", "none.toml: No such file"),
    ("run .", ".: Is a directory"),
    ("run --device g2 --trace none.trace", "none.trace: No such file"),
    ("trace info .", "."),
    ("run --device g2 --rows none/out.parquet", "none/out.parquet", "folder"),
    ("run --device g2 --rows .", ".: is a folder"),
    ("run --device g2 --rows ''", ".parquet or .csv"),
    ("run --device g2 --rows /dev/full", "/dev/full: No space left"),
    ("run --device g2 --plot none/out.png", "--plot none/out.png", "folder"),
    ("run --device g2 --plot ../x.png/..", "--plot"),
    ("run --device g2 --plot out.bmp2", "--plot out.bmp2", ".png"),
    ("run --device g2 --plot out.png --rows out.png", "--rows out.png"),
    ("seek --device g2 --start=-50,0,up --end=0,0,up", "--start", "'-50'", "um"),
    ("seek --device g2 --start=0,0,up --end=5in,0,up", "--end", "'5in'", "um"),
    ("seek --device g2 --start=0,xum,up --end=0,0,up", "--start", "'xum'"),
    ("seek --device g2 --start=nanum,0,up --end=0,0,up", "'nanum'"),
    ("seek --device g2 --start=0,0,upp --end=0,0,up", "'upp'", "up or down"),
    ("seek --device g2 --start=0,0 --end=0,0,up", "'0,0'", "X,Y,up"),
    ("seek --device g2 --start=0,0,up --end=0,-51um,up", "y = -0.000051 m"),
    ("seek --device g2 --start -5um,0,up --end=0,0,up", "--start=-50um"),
    ("seek --device g2 --start=0,0,up", "--end"),
    ("seek --device g2 --start=0,0,up --end=5", "--end", "X,Y,up", "g2"),
    ("seek --device g2 100", "CYLINDERS", "g2 is not a disk"),
    ("seek --device g2 --write --start=0,0,up --end=0,0,up", "--write", "g2 is not a disk"),
    ("seek --device flash", "--device flash", "mems or disk"),
    ("seek --device atlas10k 10042", "cylinders = 10042", "10041"),
    ("seek --device atlas10k 1e3", "CYLINDERS", "'1e3'"),
    ("seek --device atlas10k 5 --start 0 --end 1", "CYLINDERS", "--start"),
    ("seek --device atlas10k 5 --write", "--write", "--start and --end"),
    ("seek --device atlas10k --start 5", "--end", "missing"),
    ("seek --device atlas10k --start 5 --end 0,0,up", "--end", "LBN", "atlas10k"),
    ("seek --device atlas10k --start 5 --end 17938986", "17938986", "17938985"),
    ("parallel 33", "--device"),
    ("parallel --device cmu203", "'cmu203'", "cmu2003"),
    ("parallel --device atlas10k", "atlas10k", "mems"),
    ("parallel 33 --device memory", "memory", "mems"),
    ("parallel x --device cmu2003", "EXTENT", "'x'", "33-38"),
    ("parallel 38-33 --device cmu2003", "EXTENT", "'38-33'", "33-38"),
    ("parallel 33,34 --device cmu2003", "EXTENT", "'33,34'"),
    ("parallel 6750000 --device cmu2003", "6750000", "6749999"),
    ("parallel 0 6749999-6750000 --device cmu2003", "6750000", "6749999"),
    ("parallel 0-1000 --device cmu2003", "1001 blocks", "1000"),
    ("parallel 33 30-35 --device cmu2003", "LBN 33", "once"),
    ("parallel --device cmu2003 --at-s 5", "--at-s", "LBN"),
    ("parallel 33 --device cmu2003 --at-s soon", "--at-s", "'soon'", "seconds"),
    ("parallel 33 --device cmu2003 --at-s nan", "--at-s", "'nan'", "1e9"),
    ("parallel 33 --device cmu2003 --set micropositioning=5", "micropositioning_cylinders"),
    ("parallel 33 --device cmu2003 --set conflicts.kind=chanel", "chanel", "channel"),
]
"""Command lines, each with the words of its message."""


@pytest.mark.parametrize("line", WRONG_WORDS, ids=[line[0] for line in WRONG_WORDS])
def test_wrong_words(line: tuple[str, ...], refused: Callable[..., str]) -> None:
    words, *named = line
    if "/dev/full" in words and not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    said = refused(*shlex.split(words))
    for name in named:
        assert name in said


def test_a_picture_is_no_trace(folder: Path, refused: Callable[..., str]) -> None:
    (folder / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10")
    for line in ("trace info x.png", "run --device g2 --trace x.png"):
        found = refused(*line.split())
        assert found.startswith("x.png:1: not a trace in any known format: "), found


def test_a_trace_is_no_scenario(folder: Path, refused: Callable[..., str]) -> None:
    for name, content in (("t.csv", b"time,lbn\n1,2\n"), ("t.gz", b"\x1f\x8b\x08\x00")):
        (folder / name).write_bytes(content)
        said = refused("run", name)
        assert name in said
        assert f"--trace {name}" in said


TRACE_CSV = "time_s,lbn,blocks,op\n0.001,5,8,read\n0.002,50,8,write\n"
OVERWRITING = [
    "trace convert t.csv -o {}",
    "trace convert other.csv t.csv -o {}",
    "run --device g2 --trace t.csv --rows {}",
    "run --device g2 --trace t.csv --series {}",
    "validate --device g2 --trace t.csv --rows {}",
]


@pytest.mark.parametrize("line", OVERWRITING)
def test_no_output_takes_the_place_of_an_input(
    line: str, folder: Path, refused: Callable[..., str]
) -> None:
    """Not under its name, nor by a detour, a symbolic link or a hard link."""
    for name in ("t.csv", "other.csv"):
        (folder / name).write_text(TRACE_CSV, encoding="utf-8")
    (folder / "sub").mkdir()
    (folder / "link.csv").symlink_to("t.csv")
    os.link("t.csv", "hard.csv")
    for name in ("t.csv", "sub/../t.csv", str(folder / "t.csv"), "link.csv", "hard.csv"):
        said = refused(*line.format(name).split())
        assert "is read by the same command" in said
        assert (folder / "t.csv").read_text(encoding="utf-8") == TRACE_CSV


def test_rows_as_csv_are_those_of_parquet(folder: Path) -> None:
    load, g2 = ss.workload("random", requests=500, seed=7), ss.device("g2")
    ss.simulate(load, g2, rows="rows.csv")
    ss.simulate(load, g2, rows="rows.parquet")
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    table = pq.read_table(folder / "rows.parquet")
    assert lines[0] == table.column_names
    text = [["" if v is None else str(v) for v in row.values()] for row in table.to_pylist()]
    assert lines[1:] == text
    assert len(text) == 500


DEVICES = {
    "unknown key": ('base = "g2"\nspring_facto = 0\n', ":2", "spring_factor"),
    "unknown table": ('base = "g2"\n[front]\nbase = "g3"\n', ":2", "front"),
    "wrong type": ('base = "g2"\n\ntips = "many"\n', ":3", "an integer"),
    "wrong unit": ('base = "g2"\ntravel_x_mm = 0.1\n', ":2", "'travel_x_um' (in um)"),
    "out of range": ('base = "g2"\nspring_factor = -0.1\n', ":2", "at least 0"),
    "infinite": ('base = "g2"\ntip_rate_kbit_s = inf\n', ":2", "at most 1000000000"),
    "kind": ('base = "g2"\nkind = "tape"\n', ":2", "mems"),
    "no TOML": ("base = g2\n", ":1", "g2"),
    "cut off": ('base = "g2', ":1", ""),
    "twice": ('base = "g2"\ntips = 1\ntips = 2\n', ":3", "tips"),
    "list of tables": ('base = "g2"\n[[x]]\n', ":2", "x"),
    "springs hold the sled": ('base = "g2"\nspring_reference_um = 30\n', ":2", "spring"),
    "nothing": ("", "", "kind"),
}


@pytest.mark.parametrize(("text", "line", "named"), DEVICES.values(), ids=list(DEVICES))
def test_wrong_devices(text: str, line: str, named: str, refused: Callable[..., str]) -> None:
    file = Path("bad.toml")
    file.write_text(text)
    said = refused("devices", "show", file)
    assert said.startswith(f"bad.toml{line}: ")
    assert named in said
    with pytest.raises(ss.SledsimError, match=re.escape(said)):
        ss.device(file)
    Path("study.toml").write_text('[device]\nbase = "bad.toml"\n')
    for words in (["run", "--device", file], ["run", "study.toml"]):
        assert f"bad.toml{line}: " in refused(*words)


@pytest.mark.parametrize(("base", "named"), [("bad.toml", "cycle"), ("g9", "'g9'")])
def test_wrong_bases(base: str, named: str, refused: Callable[..., str]) -> None:
    Path("bad.toml").write_text(f'base = "{base}"\n')
    assert named in refused("devices", "show", "bad.toml")


def test_every_key_of_a_device_is_needed(refused: Callable[..., str]) -> None:
    lines = (PRESETS / "g2.toml").read_text().splitlines(keepends=True)
    keys = [line.split()[0] for line in lines if line[:1].isalpha()]
    assert len(keys) > 30
    for key in keys:
        if key == "title":
            continue
        Path("bad.toml").write_text("".join(line for line in lines if line.split()[:1] != [key]))
        said = refused("devices", "show", "bad.toml")
        assert said.startswith("bad.toml: ")
        assert f"'{key}'" in said


SCENARIOS = {
    "unknown table": ('[device]\nbase = "g2"\n[sheduler]\nname = "fcfs"\n', ":3", "scheduler"),
    "unknown key": ('[device]\nbase = "g2"\n[workload]\nrat = 5\n', ":4", "workload.rate"),
    "scheduler": ('[device]\nbase = "g2"\n[scheduler]\nname = "best"\n', "", "fcfs"),
    "trace without file": ('[device]\nbase = "g2"\n[workload]\nkind = "trace"\n', "", "file"),
    "file without trace": ('[device]\nbase = "g2"\n[workload]\nfile = "x"\n', ":4", "trace"),
    "no device": ("[workload]\nrate = 5\n", "", "device"),
}


@pytest.mark.parametrize(("text", "line", "named"), SCENARIOS.values(), ids=list(SCENARIOS))
def test_wrong_scenarios(text: str, line: str, named: str, refused: Callable[..., str]) -> None:
    Path("bad.toml").write_text(text)
    said = refused("run", "bad.toml")
    assert named in said
    assert said.startswith(f"bad.toml{line}: ") or not line


GOOD = b"0.5 0 100 8 1\n1.25 0 200 8 0\n"
TRACES = {
    "zero blocks": (GOOD + b"2 0 300 0 1\n", 3, "blocks"),
    "time going backwards": (GOOD + b"1.249999 0 300 8 1\n", 3, "before 1.250000 ms"),
    "too few fields": (GOOD + b"2 0 300 8\n", 3, "4 fields"),
    "too many fields": (GOOD + b"2 0 300 8 1 7\n", 3, "6 fields"),
    "negative": (GOOD + b"2 0 -300 8 1\n", 3, "-300"),
    "not a number": (b"# comment\n\n" + GOOD + b"2 0 3x0 8 1\n", 5, "3x0"),
    "words": (b"time device block blocks flags\n", 1, "time"),
    "garbage": (bytes(range(1, 10)) + bytes(range(14, 256)) * 300, 1, ""),
    "zeros": (bytes(100_000), 1, ""),
    "two devices": (GOOD + b"2 7 300 8 1\n", 3, "trace_device"),
    "past the end": (GOOD + b"2 0 6749996 8 1\n", 3, "6750000"),
    "far past the end": (GOOD + b"2 0 9007199254740992 8 1\n", 3, "address"),
    "cut off": (GOOD + b"2 0 30", 3, "fields"),
    "gzip cut off": (gzip.compress(GOOD * 1)[:-4], None, "gzip"),
    "gzip damaged": (gzip.compress(os.urandom(4000))[:-9] + b"12345", None, ""),
    "empty": (b"", 0, "no requests"),
    "nothing but comments": (b"# nothing\n\n# here\n", 0, "no requests"),
    "gzip of nothing": (gzip.compress(b""), 0, "no requests"),
}
ONLY_RUN = {"two devices", "time going backwards", "past the end", "far past the end"}
"""Fine in themselves, but not to be replayed as they are."""


@pytest.mark.parametrize("name", TRACES)
def test_wrong_traces(name: str, refused: Callable[..., str]) -> None:
    text, line, named = TRACES[name]
    file = Path("bad.trace")
    file.write_bytes(text)
    run = ["run", "--device", "g2", "--trace", file, "--rows", "out.parquet"]
    commands = [run, [*run, "--set", "address=scale"], [*run, "--set", "queue_depth=2"]]
    if name in ONLY_RUN:
        commands = [run]
    elif name != "time going backwards":  # trace info tells how many are late
        commands.append(["trace", "info", file])
    for words in commands:
        said = refused(*words)
        assert named in said
        place = {None: "bad.trace:", 0: "bad.trace: "}.get(line, f"bad.trace:{line}: ")
        assert said.startswith(place)


def test_a_trace_that_ends_in_the_middle_is_refused_wherever_it_is_cut(
    refused: Callable[..., str],
) -> None:
    lines = [f"{i}.5 0 {i * 37 % 90000} 8 1\n" for i in range(3000)]
    whole = gzip.compress("".join(lines).encode())
    for end in (len(whole) // 7, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        Path("cut.trace.gz").write_bytes(whole[:end])
        words = ["run", "--device", "g2", "--trace", "cut.trace.gz", "--rows", "out.parquet"]
        said = refused(*words)
        assert said.startswith("cut.trace.gz:")
        line = int(said.split(":")[1])
        assert 1 <= line <= 3001
        assert "cut off" in said


def test_a_file_that_was_there_stays_as_it_was(refused: Callable[..., str]) -> None:
    Path("out.parquet").write_bytes(b"precious")
    Path("bad.trace").write_bytes(GOOD * 2)  # the second half is in the past
    refused("run", "--device", "g2", "--trace", "bad.trace", "--rows", "out.parquet")
    assert Path("out.parquet").read_bytes() == b"precious"


def test_a_folder_that_cannot_be_written() -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    closed = Path("closed")
    closed.mkdir(mode=0o500)
    for option in ("--rows", "--plot"):
        assert main(["run", "--device", "g2", option, "closed/out.png"]) == 2
    assert list(closed.iterdir()) == []


# The Python interface raises SledsimError


def trace_of(text: bytes) -> str:
    """Write a trace."""
    Path("bad.trace").write_bytes(text)
    return "bad.trace"


DISK = ss.device("atlas10k")
assert isinstance(DISK, ss.Disk)


@pytest.mark.parametrize(
    ("do", "named"),
    [
        (lambda: ss.device("g22"), "g2"),
        (lambda: ss.device("g2", spring=0), "argument spring"),  # type: ignore[call-overload]
        (lambda: ss.device("g2", spring_factor="0.5"), "argument spring_factor"),  # type: ignore[call-overload]
        (lambda: ss.device("g2", spring_factor=float("nan")), "spring_factor = nan"),
        (lambda: ss.device("g2", spring_factor=1.0), "below 1"),
        (lambda: ss.device("g2", tips=2**63), "argument tips"),
        (lambda: ss.device("g2").locate(6_750_000), "6750000"),
        (lambda: ss.device("g2").locate(-1), "lbn = -1"),
        (lambda: ss.device("g2").lbn(2500, 0, 0, 0), "2500"),
        (lambda: ss.device("g2").lbn(0, 0, 27, 0), "27"),
        (lambda: ss.device("g2").lbn(0, 0, 0, -1), "cell = -1"),
        (lambda: ss.device("g2").access(6_749_999, 2), "6749999"),
        (lambda: ss.device("g2").access(0, 0), "0 blocks"),
        (lambda: ss.device("g2").access(0, 2**32), "blocks"),
        (lambda: ss.device("g2").access(0, 1, op="erase"), "'erase'"),  # type: ignore[arg-type]
        (lambda: ss.device("g2").access(0, 1, start=(51e-6, 0, 1)), "x = "),
        (lambda: ss.device("g2").seek((0, 0, 0), (0, 0, 1)), "direction = 0"),
        (lambda: ss.device("g2").seek((0, 0, "left"), (0, 0, 1)), "'left'"),
        (lambda: ss.device("g2").seek((float("inf"), 0, 1), (0, 0, 1)), "x = inf"),
        (lambda: DISK.locate(17_938_986), "17938985"),
        (lambda: DISK.locate(-1), "lbn = -1"),
        (lambda: DISK.lbn(10_042, 0, 0), "cylinder 10042"),
        (lambda: DISK.lbn(0, 6, 0), "head 6"),
        (lambda: DISK.lbn(0, 0, 334), "334 sectors"),
        (lambda: DISK.lbn(0, 0, -1), "sector = -1"),
        (lambda: DISK.seek(0, 17_938_986), "17938985"),
        (lambda: DISK.seek(0, 1, op="erase"), "'erase'"),  # type: ignore[arg-type]
        (lambda: DISK.seek_ms(10_042), "10041"),
        (lambda: DISK.seek_ms(1, op="erase"), "'erase'"),  # type: ignore[arg-type]
        (lambda: DISK.access(0, 1), "atlas10k"),  # type: ignore[attr-defined]
        (lambda: ss.workload("random", requests=0), "requests = 0"),
        (lambda: ss.workload("random", rates=5), "argument rates"),  # type: ignore[call-arg]
        (lambda: ss.workload("seq"), "'seq'"),
        (lambda: ss.read_trace("x", address="fold"), "fold"),  # type: ignore[arg-type]
        (lambda: ss.read_trace("sample:x"), "'sample:x'"),
        (lambda: ss.trace_info("none.trace"), "none.trace"),
        (lambda: ss.trace_info(trace_of(b"1 0 5 0 1\n")), "bad.trace:1: "),
        (lambda: ss.simulate(ss.read_trace("none.trace"), ss.device("g2")), "none.trace"),
        (lambda: ss.simulate(ss.read_trace(trace_of(GOOD * 2)), ss.device("g2")), "bad.trace:3: "),
        (lambda: ss.simulate(ss.workload(), ss.device("g2"), "best"), "'best'"),
        (lambda: ss.simulate(ss.workload(last_lbn=10**9), ss.device("g2")), "last_lbn"),
        (
            lambda: ss.simulate(ss.workload(), ss.device("g2"), rows="no/x"),
            "no/x",
        ),
    ],
)
def test_the_interface_raises(do: Callable[[], object], named: str, folder: Path) -> None:
    with pytest.raises(ss.SledsimError, match=re.escape(named)):
        do()
    assert [path for path in folder.iterdir() if path.name != "bad.trace"] == []


def test_an_exception_in_progress_comes_out_and_leaves_no_file(folder: Path) -> None:
    def progress(_done: int, _of: int | None) -> None:
        raise ZeroDivisionError

    load = ss.workload("random", requests=1_000_000_000)
    with pytest.raises(ZeroDivisionError):
        ss.simulate(load, ss.device("g2"), rows=folder / "out.parquet", progress=progress)
    assert list(folder.iterdir()) == []


# Numbers, shapes and files of any kind and size

LONG, DIGITS, BRACKETS = "k" * 20_000, "9" * 5000, "[" * 3000 + "]" * 3000
SHAPES = {
    "an integer": "7",
    "a huge integer": DIGITS,
    "beyond 64 bits": "9" * 400,
    "nan": "nan",
    "inf": "-inf",
    "a truth": "true",
    "a date": "2026-11-26",
    "text": "'x y'",
    "long text": f"'{LONG}'",
    "no text": "''",
    "a list": "[1, 'a']",
    "no list": "[]",
    "nested lists": BRACKETS,
    "some nested lists": "[" * 50 + "]" * 50,
    "a table": "{x = 1}",
    "a list of tables": "[{x = 1}]",
}
"""Values in TOML; hardly any key takes more than one of them."""
OF_NO_KEY = {"a huge integer", "beyond 64 bits", "nested lists", "some nested lists"}
"""What may be refused as TOML."""
OF_STUDIES = [*study_files.KEYS, "plot.x", "grid.rate", "zip.rate", "other"]
OF_POINTS = ["device", "workload", "trace", "load", "scenario", "scheduler", "layout", "background"]
OF_POINTS += ["precision", "device.tips", "device.base", "scheduler.name", "layout.name", "seed"]
OF_POINTS += ["crash.points", "crash.promise", "cache.policy", "requests", "rate", "other"]
OF_SCENARIOS = ["device", "workload", "scheduler", "layout", "background", "other", "device.base"]
OF_SCENARIOS += [f"device.{key}" for key in ss.device("g2").parameters]
OF_SCENARIOS += [f"workload.{key}" for key in ("kind", "file", "rate", "requests", "sizes_kib")]
OF_SCENARIOS += ["scheduler.name", "layout.name", "layout.regions", "scheduler.x"]


def _study(file: Path, experiment: str) -> Sweep:
    found = study_files.read(file)
    chosen = found.get("experiment", experiment)
    often = found.get("replications", 1)
    return Sweep(study_files.design(found, file.parent), replications=often, experiment=chosen)


@pytest.mark.parametrize("door", ["simulate", "crash_test", "hit_ratios", "base", "scenario"])
def test_every_key_takes_its_shape_or_is_named(door: str, folder: Path) -> None:
    file, taken, refused = folder / "x.toml", set(), 0
    at_top = door in {"simulate", "scenario"}
    keys = {"scenario": OF_SCENARIOS, "simulate": OF_STUDIES}.get(door, OF_POINTS)
    for key, (shape, value) in itertools.product(keys, SHAPES.items()):
        inside = {} if key.startswith("device") else {"device": "{base = 'g2'}"}
        given = {key if at_top else f'"{key}"': value}
        lines = [f"{name} = {text}\n" for name, text in (inside | given).items()]
        if door == "simulate" and key != "base":
            lines = [f"{key} = {value}\n", "[base]\n", "device = 'g2'\n"]
        elif door == "simulate":
            lines = [f"base = {value}\n"]
        file.write_text(("" if at_top else "[base]\n") + "".join(lines), encoding="utf-8")
        try:
            ss.scenario(file) if door == "scenario" else _study(
                file, door.replace("base", "simulate")
            )
            taken.add((key, shape))
        except ss.SledsimError as error:
            said, place = str(error), f"{file}:"
            refused += 1
            assert len(said) < 1000, said
            assert "\n" not in said
            parts = [*key.split("."), *(["x"] if "table" in shape else [])]
            parts += ["device"] if key == "base" else []  # which it lacks
            named = re.search(rf"\b({'|'.join(parts)})\b", said.replace(str(file), ""))
            assert named or (shape in OF_NO_KEY and said.startswith(place)), (key, shape, said)
    assert refused > 0.8 * len(keys) * len(SHAPES)
    assert [each for each in taken if each[1] in {*OF_NO_KEY, "a date"}] == []


def within_limits(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that may take 3 GB and a minute."""
    command = [sys.executable, "-m", "sledsim", *words]
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (3 << 30, 3 << 30))
    return subprocess.run(
        command, preexec_fn=limit, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ("rate = {from = 0, to = 9e18, step = 1}", "at most 1,000,000 values"),
        ("rate = {from = 0, to = 1, step = 1e-300}", "at most 1,000,000 values"),
        ("rate = {from = 1, to = 1_000_001, step = 1}", "at most 1,000,000 values"),
        ("rate = {from = 0, to = 1, step = 5e-324}", "finite numbers"),
        ("rate = {from = 0, to = nan, step = 1}", "finite numbers"),
        ("rate = {from = -inf, to = 1, step = 1}", "finite numbers"),
        ("rate = {from = 0, to = 1, step = inf}", "finite numbers"),
        ("rate = {from = 0, to = 1, step = -1}", "step above 0"),
        (f"rate = {{from = 0, to = {'9' * 400}, step = 1}}", "finite numbers"),
        (
            "rate = {from = 1, to = 30000, step = 1}\nseed = {from = 1, to = 30000, step = 1}",
            "30,000 of rate times 30,000 of seed: 900,000,000 runs; must have at most 1,000,000",
        ),
    ],
)
def test_ranges_are_counted_before_they_are_built(keys: str, named: str) -> None:
    Path("x.toml").write_text(f"[base]\ndevice = 'g2'\n[grid]\n{keys}\n", encoding="utf-8")
    done = within_limits("sweep", "x.toml", "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sledsim: error: ")
    assert named in done.stderr


def test_a_large_dry_run_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """A million runs are allowed. Where they are checked, the wrong rates are found."""
    ranges = "rate = {from = -999, to = 0, step = 1}\nseed = {from = 1, to = 1000, step = 1}"
    Path("x.toml").write_text(f"[base]\ndevice = 'g2'\n[grid]\n{ranges}\n", encoding="utf-8")
    assert main(["sweep", "x.toml", "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["points"], told["runs"], told["missing"]) == (1_000_000, 1_000_000, None)
    assert main(["sweep", "x.toml", "--dry-run", "--replications", "2"]) == 2
    assert "times 2 replications: 2,000,000 runs" in capsys.readouterr().err
    assert main(["sweep", "--device", "g2", "--vary", "rate=1,-2", "--dry-run"]) == 2


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("ss.sweep({'device': 'g2'}, grid={'rate': range(10**30)})", "rate: has more than"),
        ("ss.sweep({'device': 'g2'}, grid={'rate': itertools.count(1)})", "rate: has more than"),
        ("ss.sweep({'device': 'g2'}, rows=({'rate': 1} for _ in itertools.count()))", "rows: has"),
        ("ss.sweep({'device': 'g2'}, exclude=5)", "exclude = 5"),
        ("ss.sweep({'device': 'g2', 'rate': 10**5000})", "rate = <int: Exceeds"),
        ("ss.sweep({'device': 'g2'}, replications=10**5000)", "replications = <int: Exceeds"),
        ("x = []; x.append(x); ss.sweep({'device': 'g2', 'rate': x})", "rate = [[...]]"),
        ("ss.sweep({'device': '\\ud800'})", "device = '\\ud800'"),
        ("ss.workload('random', rate=10**5000)", "argument rate: does not fit 64 bits"),
        ("ss.hit_ratios(ss.workload(), sizes_mib=range(10**12))", "sizes_mib: has more than"),
        ("ss.simulate(ss.workload(), 'g2', replications=10**5000)", "replications = <int: Exceeds"),
        ("x = {}; [x := {'a': x} for _ in range(3000)]; ss.device('g2', **x)", "nested at most 30"),
        ("disksim.read('a\\0b')", "embedded null byte"),
        ("ss.sweep({'device': 'g2'}, output='a\\0b')", "embedded null byte"),
    ],
)
def test_python_refuses_what_has_no_end(code: str, named: str) -> None:
    text = "import itertools, sys, sledsim as ss\nfrom sledsim import disksim\n"
    text += f"try:\n    {code}\nexcept ss.SledsimError as error:\n    print(ascii(str(error)))"
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    assert ascii(named)[1:-1] in done.stdout
    assert len(done.stdout) < 1000


ECHOES = [
    f"{LONG}",
    f"run --{LONG}",
    f"run --device {LONG}",
    f"run --device g2 --set {LONG}",
    f"run --device g2 --set {LONG}=5",
    f"run --device g2 --scheduler {LONG}",
    f"run --device g2 --trace {'a/' * 3000}x",
    f"run --device g2 --trace '{'a b ' * 3000}'",
    f"run --device g2 --replications {DIGITS}",
    f"run --device g2 --rows {'n' * 300}.parquet",
    f"run --device g2 --plot {'n' * 300}.png",
    f"run --device g2 --report {'n' * 300}.html",
    f"run --device g2 --trace t.csv --by-volume --folder {'n' * 300}",
    f"sweep {LONG}",
    f"sweep --device g2 --vary {LONG}=1,2",
    f"sweep --device g2 --vary rate={DIGITS}",
    f"sweep --device g2 --set rate={BRACKETS}",
    f"sweep --device g2 --output {'n' * 300}",
    f"sweep --device g2 --workers threads:{DIGITS}",
    f"sweep --device g2 --set requests=50 --show {LONG}",
    f"power-cut {LONG}",
    f"ledger {LONG}",
    f"serve --device g2 --faults {LONG}",
    "devices show long.toml",
    "devices import long.parv",
    "devices show nested.toml",
    "devices import nested.parv",
    "devices import chain0.parv",
    "run long.toml",
]


@pytest.mark.parametrize("line", ECHOES, ids=lambda line: line[:60])
def test_what_is_repeated_is_cut(line: str, folder: Path, refused: Callable[..., str]) -> None:
    texts = {
        "t.csv": TRACE_CSV,
        "long.toml": f"base = 'g2'\n[{LONG}]\n{LONG} = '{LONG}'\n",
        "long.parv": f"{LONG} {LONG} = 5\n",
        "nested.toml": f"base = 'g2'\ntips = {BRACKETS}\n",
        "nested.parv": f"b B {{ x = {BRACKETS} }}\n",
        **{f"chain{n}.parv": f"source chain{n + 1}.parv\n" for n in range(1200)},
    }
    for name, text in texts.items() if "." in line else ():
        (folder / name).write_text(text, encoding="utf-8")
    said = refused(*shlex.split(line))
    assert len(said) < 1000
    assert max(map(len, said.split())) <= 204
    assert ("n" * 60 in said) == ("n" * 60 in line), "it names the file"
    for word in (LONG, DIGITS, "a b " * 3000, "n" * 300):
        assert word[:20] not in said or word not in line or "..." in said


@pytest.mark.parametrize(
    "line",
    [
        "sweep x.toml --dry-run",
        "run x.toml",
        "run --device x.toml",
        "run --device g2 --workload x.toml",
        "devices import x.toml",
        "serve --device g2 --faults x.toml",
    ],
)
@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_input_that_is_no_regular_file_is_refused(line: str, kind: str, folder: Path) -> None:
    """Opening it would wait, or reading it would not end."""
    with socket.socket(socket.AF_UNIX) as bound:
        if kind == "pipe":
            os.mkfifo("x.toml")
        elif kind == "socket":
            bound.bind("x.toml")
        else:
            Path("x.toml").symlink_to("/dev/zero")
        done = within_limits(*line.split())
    assert done.returncode == 2
    assert "x.toml" in done.stderr
    assert "must be a regular file, not a pipe, a socket or a device" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["x.toml"]
