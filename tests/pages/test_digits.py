"""No text shows more digits than are known: judged from outside, by the numbers in the text."""

from __future__ import annotations

import html
import json
import math
import re
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim._number_text import given, mean, measured, number, part
from sledsim.cli import main
from sledsim.show import pages as reports

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOST = 4
"""Significant digits of a number that has no interval."""
CELLO = ("--workload=cello", "--set=requests=20000")
OPEN = ("--workload=random", "--set=rate=512.0625", "--set=mean_size_kib=4.7654321")
COMMANDS = (
    ("run", "--device=mems", *CELLO),
    ("run", "--device=g2", *OPEN, "--set=requests=3000"),
    ("run", "--device=g2", "--set=requests=5"),
    ("run", "--device=atlas10k", "--set=rate=400", "--set=requests=3000"),
    ("run", "--device=mcd", "--trace=sample:postmark-ext4"),
    ("run", "--device=g2", "--set=bias=0.71234", "--set=rate=100.5", "--set=requests=3000"),
    ("run", "--device=g2", *OPEN, "--set=on_ms=10.12345", "--set=off_ms=7.654321"),
    ("compare", "--devices=disk,mcd,mems", *CELLO),
    ("compare", "--devices=g1,g2", "--schedulers=fcfs,sptf", *OPEN, "--set=requests=9000"),
    ("sweep", "--device=g2", "--vary=rate=100,900", "--set=requests=3000"),
    ("sweep", "--device=g2", "--vary=rate=100,900", "--set=requests=900", "--replications=3"),
    ("seek", "--device=g2", "--start=-50um,-50um,up", "--end=50um,0,down"),
    ("seek", "--device=atlas10k"),
    ("seek", "--device=atlas10k", "--start=0", "--end=1000000"),
    ("trace", "info", "sample:postmark-ext4"),
    ("trace", "hits", "sample:postmark-ext4"),
    ("faults", "--ecc-tips=2", "--spare-tips=128", "--failed-tips=400", "--trials=300"),
    ("crash", "--device=mwb", "--points=50", "--set=last_lbn=500", "--set=queue_depth=8"),
    ("workloads", "info", "cello", "--set=requests=5000"),
    ("devices", "list"),
)
NUMBER = re.compile(r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\d.])")


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*words: str) -> str:
        assert main([*words]) == 0
        return capsys.readouterr().out

    return run


def numbers(text: str) -> list[str]:
    """Return the numbers in a text; those that are no whole numbers are not counts."""
    return [found.replace(",", "") for found in NUMBER.findall(text)]


def digits(word: str) -> int:
    """Return how many significant digits a decimal number has; none of a whole one."""
    return len(word.partition("e")[0].replace(".", "").lstrip("+-0")) if "." in word else 0


def decimals(word: str) -> int:
    return len(word.partition(".")[2])


def borne(summary: dict[str, Any]) -> int:
    """Return the decimals that the interval of a mean bears: two digits of its half."""
    told = summary["confidence"]["response_time_ms"]
    half = (told["high"] - told["low"]) / 2
    return max(0, 1 - math.floor(math.log10(half)))


def rows(text: str) -> dict[str, list[str]]:
    """Return the numbers of each line by the word before the gap."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip()]
    found = {name: numbers(" ".join(cells)) for name, *cells in lines}
    return {name: cells for name, cells in found.items() if cells}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_show_four_digits_at_most(
    words: tuple[str, ...], said: Callable[..., str]
) -> None:
    text = said(*words)
    assert [word for word in numbers(text) if digits(word) > MOST] == [], text


def test_a_run_shows_the_digits_of_its_interval(said: Callable[..., str]) -> None:
    for words in (COMMANDS[0], COMMANDS[1]):
        bears = borne(json.loads(said(*words, "--json"))["summary"])
        text = said(*words)
        shown = rows(text.partition("time in ms")[2].partition("\nmechanism")[0])
        assert len(shown) > 5
        assert decimals(shown["response time"][0]) <= bears
        for name, cells in shown.items():
            assert decimals(cells[0]) <= decimals(shown["response time"][0]), name
            assert all(digits(cell) <= 3 for cell in cells[1:]), name


def test_a_comparison_shows_the_digits_of_its_intervals(said: Callable[..., str]) -> None:
    words = COMMANDS[7]
    document = json.loads(said(*words, "--json"))
    text = said(*words)
    times, *causes = text.split("mean, ms, by cause")
    assert causes
    shown = rows(times.partition("mean, ms")[2].partition("\n\n")[0])
    for line in document["runs"]:
        cells = shown[line["label"]]
        assert decimals(cells[0]) <= borne(line["summary"])
        assert all(digits(cell) <= 3 for cell in cells[2:6]), cells
        for table in causes:
            parts = rows(table)[line["label"]]
            assert parts
            assert max(map(decimals, parts)) <= decimals(cells[0])


def test_a_load_is_described_in_words(said: Callable[..., str]) -> None:
    text = said(*COMMANDS[0])
    assert "sizes from a list with mean 6.58 KiB" in text
    assert "open, 7.23 per s, bursty on all scales up to 32 s (b-model, bias 0.74)" in text


def test_a_sweep_shows_the_digits_of_its_intervals(said: Callable[..., str]) -> None:
    found = rows(said(*COMMANDS[9]))
    for rate in ("100", "900"):
        mean_ms, half = found[rate]
        assert decimals(mean_ms) <= max(0, 1 - math.floor(math.log10(float(half))))


def test_notebooks_and_reports_show_four_digits_at_most(tmp_path: Path) -> None:
    load = ss.workload("random", rate=512.0625, requests=3000)
    run = ss.simulate(load, "g2")
    comparison = ss.compare(load, ["g1", "g2"])
    study = ss.sweep(
        {"device": "g2", "requests": 900}, grid={"rate": [100, 900]}, output=tmp_path / "study"
    )
    for each in (run, comparison, study, ss.device("g2")):
        shown = re.sub(r"<[^>]+>", "  ", each._repr_html_().partition("<details>")[0])
        for plain in (repr(each), html.unescape(shown)):
            assert [word for word in numbers(plain) if digits(word) > MOST] == [], plain
    page = re.sub(r"(?s)<(svg|style|script|table).*?</\1>", "", reports.page(run))
    plain = html.unescape(re.sub(r"<[^>]+>", "  ", page.partition("<body")[2]))
    found = [word for word in numbers(plain) if digits(word) > MOST]
    assert found == [], found


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (mean(17.1475, 1.5175), "17.1"),
        (mean(1234.5, 234.0), "1,230"),
        (mean(1.24302, 0.00052), "1.243"),
        (mean(0.0012345, 0.0000012), "0.0012"),
        (mean(4.9591), "4.96"),
        (mean(0.0), "0"),
        (mean(123_456.0), "123,456"),
        (mean(123_456.0, 1000.0), "123,500"),
        (mean(None), "-"),
        (part(0.006, 1), "0.0"),
        (part(0.0, 1), "0"),
        (part(None, 1), "-"),
        (part(1234.5, -1), "1,230"),
        (measured(1249.059158), "1,250"),
        (measured(253.493), "253"),
        (measured(5.709823), "5.71"),
        (measured(9.5997), "9.60"),
        (measured(9.9961), "10.0"),
        (measured(0.99961), "1.00"),
        (number(9.8124), "9.812"),
        (number(0.99996), "1.000"),
        (part(3.7, -2), "4"),
        (measured(0.712), "0.712"),
        (measured(0.049), "0.049"),
        (measured(0.00058), "0.00058"),
        (measured(999.7), "1,000"),
        (measured(0), "0"),
        (measured(None), "-"),
        (given(6.58294170583), "6.58"),
        (given(17.96361), "18"),
        (given(12_345.6), "12,346"),
        (given(0.00012345), "0.00012"),
        (given(500), "500"),
        (number(19_997.3), "20,000"),
        (number(123_456), "123,456"),
    ],
)
def test_numbers_are_written_with_the_digits_they_bear(written: str, text: str) -> None:
    assert written == text
