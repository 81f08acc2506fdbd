"""Crash tests from Python and the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main

from tests.waiting import interrupted_at_work

if TYPE_CHECKING:
    pass

SMALL: dict[str, Any] = {"last_lbn": 200, "queue_depth": 8, "read_fraction": 0.4, "requests": 1000}
SETS = [f"--set={key}={value}" for key, value in SMALL.items()]


def test_a_sled_keeps_what_is_complete() -> None:
    report = ss.crash_test(ss.workload(**SMALL), ss.device("g2"), "sptf", points=300, seed=2)
    assert report.passed
    assert report.violations == []
    document = report.to_dict()
    assert document["points"] == 300
    assert document["promise"] == "completion"
    way = document["under_way"]
    assert way["writes"] == way["lost"] + way["torn"] + way["kept"]
    assert min(way["lost"], way["torn"], way["kept"]) > 50
    assert document["reads"] + document["writes"] <= document["requests"]
    # It has nothing to rebuild.
    assert report.recovery_ms["max"] == 0
    assert repr(report) == "<sledsim crash test of g2: 300 points, 0 violations>"


def test_a_volatile_buffer_keeps_what_was_flushed_and_no_more() -> None:
    load, disk = ss.workload(**SMALL), ss.device("atlas10k")
    assert ss.crash_test(load, disk, points=100).to_dict()["promise"] == "flush"
    report = ss.crash_test(load, disk, points=100, promise="completion", fua=0)
    assert not report.passed
    assert len(report.violations) == 10 < report.to_dict()["violations"]
    violation = report.violations[0]
    assert violation["what"] == "found"
    block = violation["block"]
    assert block["found"] not in block["allowed"]
    versions = {version["token"]: version for version in block["history"]}
    assert block["found"] in versions
    # Something newer was acknowledged before power failed.
    newest = versions[block["allowed"][-1]]
    assert newest["acknowledged_ms"] <= violation["failed_ms"]
    assert f"LBN {block['lbn']}" in violation["text"]


def test_the_same_seed_crashes_the_same() -> None:
    load, disk = ss.workload(**SMALL), ss.device("atlas10k")
    runs = [
        ss.crash_test(load, disk, points=50, promise="completion", seed=seed).to_dict()
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1]
    assert runs[0]["shown"] != runs[2]["shown"]


def test_the_command_reports_violations_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crash", "--device", "g2", "--points", "50", *SETS]) == 0
    said = capsys.readouterr().out
    assert "what is complete survives" in said
    assert said.rstrip().endswith("none")
    wrong = ["crash", "--device", "atlas10k", "--points=50", "--promise=completion", *SETS]
    assert main(wrong) == 1
    said = capsys.readouterr().out
    assert "allowed: [" in said
    assert "more" in said
    assert main([*wrong, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["violations"] > 0
    assert document["passed"] is False
    assert main([*wrong, "--exit-zero"]) == 0
    assert capsys.readouterr().out == said
    assert main([*wrong, "--exit-zero", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == document
    assert main([*wrong, "--exit-zero", "--points=0"]) == 2


@pytest.mark.parametrize("promise", ["completion", "flush", None])
def test_the_text_names_what_was_promised(
    promise: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [] if promise is None else [f"--promise={promise}"]
    main(["crash", "--device=atlas10k", "--points=50", *asked, *SETS])
    said = capsys.readouterr().out
    assert ("as asked for; that of the device itself" in said) == (promise == "completion")
    assert ("promised by completion" in said) == (promise == "completion")
    assert "durable" not in said


def test_the_versions_of_a_block_say_what_promised_them() -> None:
    found = ss.crash_test(ss.workload(**SMALL), "atlas10k", points=50, promise="completion")
    document = found.to_dict()
    assert (document["promise"], document["device_promise"]) == ("completion", "flush")
    versions = [version for one in found.violations for version in one["block"]["history"]]
    promised = [version for version in versions if version["promised_by"] is not None]
    assert len(promised) >= 10
    for version in promised:
        assert version["promised_by"] == "completion"
        assert version["promised_ms"] == version["acknowledged_ms"]


def test_it_can_be_interrupted() -> None:
    words = ("crash", "--device", "g2", "--points", "1000000000")
    assert interrupted_at_work(*words) == (130, "sledsim: interrupted\n")
