"""The RAID 5 example: its output and invariants."""

import json
import runpy
from pathlib import Path

import pytest

from tests.example_runs import EXAMPLES, is_refused, run_once

SCRIPT = EXAMPLES / "raid5_rebuild.py"


def test_the_numbers_make_sense(tmp_path: Path) -> None:
    picture, numbers = tmp_path / "raid5.png", tmp_path / "raid5.json"
    run_once(SCRIPT, "--quick", "--output", picture, "--json", numbers)
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert list(found) == ["g2", "atlas10k"]
    more = {}
    for name, result in found.items():
        alone, raid5 = (result["small_write_ms"][way] for way in ("alone", "raid5"))
        more[name] = raid5 - alone
        assert 1 < raid5 / alone < 2.2
        took = list(result["rebuild_s"].values())
        assert took == sorted(took)
        phases = result["phases"]
        assert phases["rebuilding"]["mean_ms"] > phases["normal"]["mean_ms"]
        assert all(times["p99_ms"] > times["mean_ms"] for times in phases.values())
        assert result["risk"] == sorted(result["risk"], reverse=True)
    # The disk (10,025 rpm) turns round once, 5.99 ms; the sled turns back. What is more is the wait
    # for the later one of two reads.
    assert 4 < more["atlas10k"] < 8
    assert more["g2"] < 1
    assert found["g2"]["risk"][0] < found["atlas10k"]["risk"][0] / 5


def test_wrong_arguments_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(SCRIPT))["main"]
    wrong = ["--output", "raid5.jpeg"]
    is_refused(main, wrong, "must end in", tmp_path, monkeypatch, capsys)
