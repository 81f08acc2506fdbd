"""Crash tests from Python and the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sledsim as ss
from sledsim.cli import main

from tests.waiting import interrupted_at_work

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
    report, again, other = (
        ss.crash_test(load, disk, points=100, promise="completion", fua=0, seed=seed)
        for seed in (1, 1, 2)
    )
    document = report.to_dict()
    assert (document["promise"], document["device_promise"]) == ("completion", "flush")
    assert again.to_dict() == document
    assert other.to_dict()["shown"] != document["shown"]
    assert not report.passed
    assert len(report.violations) == 10 < document["violations"]
    for violation in report.violations:
        assert violation["what"] == "found"
        block = violation["block"]
        assert block["found"] not in block["allowed"]
        versions = {version["token"]: version for version in block["history"]}
        assert block["found"] in versions
        # Something newer was acknowledged before power failed.
        newest = versions[block["allowed"][-1]]
        assert newest["acknowledged_ms"] <= violation["failed_ms"]
        promised = (newest["promised_by"], newest["promised_ms"])
        assert promised == ("completion", newest["acknowledged_ms"])
        assert f"LBN {block['lbn']}" in violation["text"]


def test_the_command_reports_violations_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    def said(code: int, *words: str) -> str:
        assert main(["crash", "--points=50", *SETS, *words]) == code
        return capsys.readouterr().out

    text = said(0, "--device=g2")
    assert "what is complete survives" in text
    assert text.rstrip().endswith("none")
    wrong = ("--device=atlas10k", "--promise=completion")
    text = said(1, *wrong)
    assert "allowed: [" in text
    assert "more" in text
    assert "as asked for; that of the device itself" in text
    assert "promised by completion" in text
    document = json.loads(said(1, *wrong, "--json"))
    assert document["violations"] > 0
    assert document["passed"] is False
    assert said(0, *wrong, "--exit-zero") == text
    assert json.loads(said(0, *wrong, "--exit-zero", "--json")) == document
    assert said(2, *wrong, "--exit-zero", "--points=0") == ""
    for promise in ([], ["--promise=flush"]):
        assert "promised by completion" not in said(0, "--device=atlas10k", *promise)


def test_it_can_be_interrupted() -> None:
    words = ("crash", "--device", "g2", "--points", "1000000000")
    assert interrupted_at_work(*words) == (130, "sledsim: interrupted\n")
