"""The line of progress on a terminal, and what there is instead in a pipe."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pytest
from sledsim.cli.progress import Bar, duration

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [sys.executable, "-m", "sledsim"]


class Clock:
    """A clock that a test turns."""

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


def drawn(words: list[str], width: int) -> str:
    """Run a command whose stderr is a terminal of so many columns; return what it drew."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, width))
    with subprocess.Popen([*WORDS, *words], stdout=subprocess.DEVNULL, stderr=slave) as process:
        os.close(slave)
        text = b""
        try:
            while more := os.read(master, 4096):
                text += more
        except OSError:  # Linux says so at the end of a terminal
            pass
        assert process.wait(timeout=60) == 0
    os.close(master)
    return text.decode()


def test_the_terminal_of_stderr_has_the_line() -> None:
    words = ["run", "--device", "g2", "--set", "requests=5000000"]
    lines = re.split(r"\x1b\[K\r?", drawn(words, 50))
    assert all(len(line.strip("\r")) < 50 for line in lines)
    assert any(re.search(r" of 5,000,000 requests .*/s", line) for line in lines)


def test_papers_tell_each_item_in_a_pipe_and_on_a_terminal(tmp_path: Path) -> None:
    words = ["papers", "run", "osdi2000/access", "osdi2000/density", "--quick"]
    words += ["--workers", "1", "--output"]
    piped = subprocess.run(
        [*WORDS, *words, str(tmp_path / "piped")], capture_output=True, text=True, check=False
    )
    lines = piped.stderr.splitlines()
    form = r"(\S+) +(\d+) values: (\d+ [a-z ]+(, \d+ [a-z ]+)*) +[\d.]+ s"
    found = [re.fullmatch(form, line) for line in lines]
    assert [match and match[1] for match in found] == words[2:4]
    for match in found:
        assert match
        assert int(match[2]) == sum(int(count) for count in re.findall(r"\d+", match[3]))
        assert match[3].strip() in piped.stdout  # the table says the same
    again = subprocess.run(
        [*WORDS, *words, str(tmp_path / "piped")], capture_output=True, text=True, check=False
    )
    assert (again.stdout, again.stderr) == (piped.stdout, "")  # all was there
    seen = drawn([*words, str(tmp_path / "terminal")], 200)
    assert re.search(r"1 of 2 items \[#+\.+\] .*osdi2000/access \d+ values: ", seen)
    assert "\n" not in seen
    for file in (tmp_path / "piped").rglob("*.json"):
        other = tmp_path / "terminal" / file.relative_to(tmp_path / "piped")
        if "outcomes" not in file.parts:
            assert file.read_bytes() == other.read_bytes()
