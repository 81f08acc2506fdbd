"""The line of progress on a terminal, and what there is instead in a pipe."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sledsim as ss
from sledsim import _progress
from sledsim._progress import Bar, duration, told
from sledsim.traces.parts import split

WORDS = [sys.executable, "-m", "sledsim"]


class Clock:
    """A clock in seconds that a test turns."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_unit_rate_and_time_left() -> None:
    clock = Clock()
    bar = Bar("requests", clock)
    assert bar.line(0, 1_000_000, "", 80) == f"0 of 1,000,000 requests [{'.' * 30}]"
    clock.now_s += 0.1  # too early for a rate
    assert bar.line(1_000, 1_000_000, "", 80).startswith("1,000 of 1,000,000 requests [....")
    clock.now_s = 100.4 + 0.1
    half = bar.line(500_000, 1_000_000, "", 80)
    assert half == f"500,000 of 1,000,000 requests [{'#' * 14}{'.' * 15}] 1 M/s, 0.5 s left"
    clock.now_s = 103.0
    assert bar.line(600, None, "2 failed", 80) == "600 requests 2 failed"  # begins anew
    clock.now_s = 105.0
    assert bar.line(640, None, "2 failed", 80) == "640 requests 20/s, 2 failed"
    runs = Bar("runs", clock)
    assert "[" in runs.line(4, 12, "", 80)
    clock.now_s += 100
    assert runs.line(12, 12, "", 80).endswith("] 0.08/s")  # nothing is left


@pytest.mark.parametrize("width", [1, 10, 30, 40, 50, 60, 70, 80, 200])
def test_a_narrow_terminal_cuts_the_bar_first(width: int) -> None:
    clock = Clock()
    bar = Bar("requests", clock)
    bar.line(0, 1_000_000, "", width)
    clock.now_s += 2
    line = bar.line(412_000, 1_000_000, "", width)
    words = "412,000 of 1,000,000 requests 206 k/s, 2.9 s left"
    assert len(line) < width or not line
    without = re.sub(r" \[[#.]*\]", "", line)
    assert words.startswith(without)
    assert ("[" in line) == (width >= len(words) + 10)
    if "[" in line:
        marks = line.split("[")[1].split("]")[0]
        assert without == words
        assert marks.count("#") == len(marks) * 412 // 1000


def test_durations() -> None:
    told = {0.04: "0.0 s", 9.94: "9.9 s", 9.96: "10 s", 99: "99 s", 100: "2 min", 7200: "2.0 h"}
    assert {seconds: duration(seconds) for seconds in told} == told


COLUMNS = "time=t:us, offset=lba:512B, bytes=n:512B, op=rw, response=us:us"
FEW = {"base": "random", "rate": 500, "requests": 100}


DOORS = [
    ("ss.simulate(FEW, 'g2', progress=p)", "requests"),
    ("ss.simulate('sample:postmark', 'g2', split='volumes', progress=p)", "requests"),
    ("ss.compare(FEW, ['g2', 'g3'], progress=p)", "requests"),
    ("ss.sweep(FEW, grid={'device': ['g1', 'g2']}, progress=p)", "runs"),
    ("ss.validate(ss.read_trace('trace.csv', columns=COLUMNS), 'g2', progress=p)", "requests"),
    ("ss.hit_ratios(FEW, device='g2', progress=p)", "requests"),
    ("ss.crash_test('random', 'g2', points=3, progress=p)", "failures"),
    ("ss.failures.tip_failures(trials=10, progress=p)", "devices"),
    ("ss.trace_info('trace.csv', columns=COLUMNS, progress=p)", "bytes"),
    ("ss.loads.load_info(FEW, device='g2', progress=p)", "requests"),
    ("ss.convert_trace('trace.csv', 'out.parquet', columns=COLUMNS, progress=p)", "bytes"),
    ("ss.generate_trace(FEW, 'out.parquet', device='g2', progress=p)", "requests"),
    ("ss.rows_to_perfetto('rows.parquet', 'out.pftrace', progress=p)", "rows"),
    ("ss.read_trace('sample:postmark').keep(p)", "requests"),
    (
        "split(ss.read_trace('trace.csv', columns=COLUMNS), None, progress=p).__enter__()",
        "requests",
    ),
]
"""What takes ``progress``, and what it counts."""
NO_PROGRESS: list[Any] = [1, 0, "bar", [], np.True_]


def go_through(door: str, progress: Any) -> None:
    eval(door, {"COLUMNS": COLUMNS, "FEW": FEW, "p": progress, "split": split, "ss": ss})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a trace that has measured times, and rows."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{500 * n},{8 * n},8,R,400" for n in range(50)]
    Path("trace.csv").write_text("\n".join(["t,lba,n,rw,us", *lines, ""]), encoding="utf-8")
    ss.simulate(FEW, "g2", rows="rows.parquet")
    return tmp_path


@pytest.mark.parametrize(("door", "unit"), DOORS)
@pytest.mark.usefixtures("folder")
def test_true_makes_one_bar_and_removes_it(
    door: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    class Seen(Bar):
        def __init__(self, unit: str) -> None:
            super().__init__(unit)
            seen.append(unit)

        def clear(self) -> None:
            super().clear()
            seen.append("removed")

    monkeypatch.setattr(_progress, "Bar", Seen)
    for silent in (None, False, lambda _done, _of: None):
        go_through(door, silent)
    assert seen == []
    go_through(door, True)
    assert seen == [unit, "removed"]


@pytest.mark.parametrize("door", [door for door, _ in DOORS])
def test_what_is_no_progress_is_refused(door: str, folder: Path) -> None:
    before, must = {*folder.iterdir()}, "must be True, False, or what is called with two numbers"
    for given in NO_PROGRESS:
        with pytest.raises(ss.SpecError) as raised:
            go_through(door, given)
        assert str(raised.value) == f"progress = {given!r}: {must}"
        assert raised.value.key == "progress"
    assert {*folder.iterdir()} == before


def test_a_run_draws_its_bar_on_a_stream(capsys: pytest.CaptureFixture[str]) -> None:
    ss.simulate({**FEW, "requests": 1_000_000}, "g2", rows=False, progress=True)
    first, *lines, blank, after = capsys.readouterr().err.split("\r")
    assert lines
    assert all(" of 1,000,000 requests [" in line for line in lines)
    assert (first, blank.strip(), after) == ("", "", "")
    assert len(blank) >= len(lines[-1].rstrip())


@pytest.mark.parametrize("problem", [ss.SledsimError, KeyboardInterrupt])
def test_a_bar_is_removed_after_an_error_or_ctrl_c(
    problem: type[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(problem), told(True, "cars") as beat:  # noqa: PT012
        assert beat is not None
        beat(3, 9)
        raise problem
    line = f"3 of 9 cars [{'#' * 10}{'.' * 20}]"
    assert capsys.readouterr().err == f"\r{line}\r{' ' * len(line)}\r"


def test_a_shorter_line_hides_a_longer_one(capsys: pytest.CaptureFixture[str]) -> None:
    with told(True, "cars") as beat:
        assert beat is not None
        beat(1000, None)
        beat(1, None)
        assert capsys.readouterr().err == "\r1,000 cars\r1 cars    "


@pytest.mark.parametrize("stream", [None, "closed"])
def test_no_stderr_stops_no_run(
    stream: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program without a console has none; nothing goes to stdout instead."""
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed if stream else None)
    with told(True) as beat:
        assert beat is not None
        beat(3, 9)
    assert capsys.readouterr().out == ""


def drawn(words: list[str], width: int) -> str:
    """Run a command whose stderr is a terminal of so many columns; return what it drew."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, width))
    with subprocess.Popen([*WORDS, *words], stdout=subprocess.DEVNULL, stderr=slave) as process:
        os.close(slave)
        text = b""
        with contextlib.suppress(OSError):  # Linux says so at the end of a terminal
            while more := os.read(master, 4096):
                text += more
        assert process.wait(timeout=60) == 0
    os.close(master)
    return text.decode()


def test_the_terminal_of_stderr_has_the_line() -> None:
    words = ["run", "--device", "g2", "--set", "requests=5000000"]
    *lines, last = drawn(words, 60).split("\r")
    assert all(len(line) < 60 for line in lines)
    assert (lines[-1].strip(), last) == ("", "")  # it is cleared
    assert any(re.search(r" of 5,000,000 requests .*/s", line) for line in lines)


def test_papers_tell_each_item_in_a_pipe_and_on_a_terminal(tmp_path: Path) -> None:
    words = ["papers", "run", "osdi2000/access", "osdi2000/density", "--quick"]
    words += ["--workers", "1", "--output"]

    def piped() -> tuple[str, str]:
        command = [*WORDS, *words, str(tmp_path / "piped")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout, done.stderr

    out, told = piped()
    form = r"(\S+) +(\d+) values: (\d+ [a-z ]+(, \d+ [a-z ]+)*) +[\d.]+ s"
    found = [match for line in told.splitlines() if (match := re.fullmatch(form, line))]
    assert [match[1] for match in found] == words[2:4]
    assert told.count("\n") == 2
    for match in found:
        assert int(match[2]) == sum(map(int, re.findall(r"\d+", match[3])))
        assert match[3].strip() in out  # the table says the same
    assert piped() == (out, "")  # all was there
    seen = drawn([*words, str(tmp_path / "terminal")], 200)
    assert re.search(r"1 of 2 items \[#+\.+\] .*osdi2000/access \d+ values: ", seen)
    assert "\n" not in seen
    for file in (tmp_path / "piped").rglob("*.json"):
        other = tmp_path / "terminal" / file.relative_to(tmp_path / "piped")
        if "outcomes" not in file.parts:
            assert file.read_bytes() == other.read_bytes()
