"""The tip failures example: its tables."""

import runpy
from pathlib import Path

import pytest

from tests.example_runs import EXAMPLES, has_no_date, run_once

SCRIPT = EXAMPLES / "tip_failures.py"


def test_the_tables_tell_of_all(tmp_path: Path) -> None:
    file = tmp_path / "tips.svg"
    printed = run_once(SCRIPT, "--quick", "--output", file)
    has_no_date(file)
    schemes = [line.split() for line in printed[1:8]]
    chances = {(row[0], row[1], row[2]): row[4:7] for row in schemes}
    assert chances["0", "0", "tolerance"] == ["100.0%"] * 3
    assert chances["2", "128", "tolerance"][0] == "0.0%"
    assert chances["2", "128", "capacity"] == ["0.0%"] * 3
    # 128 spare tips bear as many failures; each square of 66 that is given up bears its own and
    # 65 more: 272 take 5 of 100.
    assert schemes[-1][-1] == "95.0%"
    rates = {
        words[0]: [float(word) for word in words[1:7]]
        for words in (line.split() for line in printed[-3:-1])
    }
    assert len(set(rates["spare_tips"])) == 1
    elsewhere = rates["elsewhere"]
    assert elsewhere[0] == rates["spare_tips"][0]
    assert elsewhere == sorted(elsewhere, reverse=True)
    assert elsewhere[-1] < 0.8 * elsewhere[0]


def test_another_kind_of_picture_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        runpy.run_path(str(SCRIPT))["main"](["--output", "x.txt"])
    assert exit_.value.code == 2
    assert "must end in" in capsys.readouterr().err
