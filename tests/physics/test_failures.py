"""Crashes and faults from Python and the command line."""

from __future__ import annotations

import json
from math import comb
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


def test_losses_are_hypergeometric() -> None:
    # 100 squares of 8 + 2 tips, no spares: a square is lost with 3 of its 10 among the failed.
    study = ss.failures.tip_failures(
        1000, data_tips=8, ecc_tips=2, failed_tips=120, trials=4000, seed=3
    )
    assert (study.squares, study.spare_tips, study.data_share) == (100, 0, 0.8)
    for failed in (2, 3, 30, 120):
        all_ways = comb(1000, failed)
        few = sum(comb(10, dead) * comb(990, failed - dead) for dead in range(min(failed, 2) + 1))
        share = 1 - few / all_ways
        # A device has 100 squares, which are nearly independent.
        error = 5 * (share / (4000 * 100)) ** 0.5
        assert study.lost_share[failed] == pytest.approx(share, abs=error + 1e-12)
    # Any loss: each of the squares has at most two, over all choices.
    ways = [1]
    for _ in range(100):
        ways = [
            sum(comb(10, dead) * ways[n - dead] for dead in range(3) if 0 <= n - dead < len(ways))
            for n in range(min(len(ways) + 2, 31))
        ]
    chance = 1 - ways[30] / comb(1000, 30)
    error = 5 * (chance * (1 - chance) / 4000) ** 0.5
    assert study.loss_probability[30] == pytest.approx(chance, abs=error)
    assert list(study.failed_tips) == list(range(121))


def test_each_spare_tip_bears_one_failure_more() -> None:
    keys: dict[str, Any] = {"data_tips": 8, "ecc_tips": 1, "failed_tips": 60, "trials": 2000}
    few, many = (
        ss.failures.tip_failures(900 + spares, spare_tips=spares, seed=spares, **keys)
        for spares in (0, 20)
    )
    for failed in range(0, 41, 5):
        chance = few.loss_probability[failed]
        error = 5 * (2 * chance * (1 - chance) / 2000) ** 0.5
        assert many.loss_probability[failed + 20] == pytest.approx(chance, abs=error + 1e-9)
    assert many.loss_probability[20] == 0


def test_one_policy_loses_blocks_and_the_other_one_gives_them_up() -> None:
    tolerance, capacity = (
        ss.failures.tip_failures(
            ecc_tips=1, spare_tips=40, failed_tips=300, out_of_spares=policy, trials=200
        )
        for policy in ("tolerance", "capacity")
    )
    assert tolerance.capacity_share[300] == 1.0
    assert tolerance.loss_probability[300] == 1.0
    assert capacity.loss_probability[300] == 0.0
    # A square of 65 is given up for 64 tips and the one that failed.
    spares, given_up = capacity.spare_tips, 0
    for _ in range(300):
        spares, given_up = (spares - 1, given_up) if spares else (64, given_up + 1)
    left = 1 - given_up / capacity.squares
    assert capacity.capacity_share[300] == pytest.approx(left, abs=1e-12)


def test_the_command_tells_what_python_does(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["faults", "--ecc-tips", "2", "--failed-tips", "100", "--trials", "50"]
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    study = ss.failures.tip_failures(ecc_tips=2, failed_tips=100, trials=50)
    assert document == study.to_dict()
    assert document["faults"]["out_of_spares"] == "tolerance"
    assert main(words) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.split()[0] == "100"
    assert f"{study.loss_probability[100]:.1%}" in last


def test_the_scenario_runs_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "tip-failures", "--set", "requests=5000", "--json"]
    assert main(words) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    counts = summary["devices"][0]["counts"]
    # 40 at birth and two a second for 10 s; spare tips are left, so nothing is lost.
    assert 40 + 8 <= counts["tips_failed"] <= 40 + 35
    assert counts["squares_lost"] == summary["errors"] == 0
    assert counts["defects_replaced"] == 1000
    assert counts["retries"] == summary["retries"] > 0
    assert counts["tip_sectors_corrected"] > 1000
    assert summary["retry_ms"]["mean"] > 0
    assert summary["energy_j"]["retry"] > 0
    causes = [value for cause, value in summary["energy_j"].items() if cause != "total"]
    assert summary["energy_j"]["total"] == pytest.approx(sum(causes), rel=1e-12)


def test_faults_work_in_every_position_of_a_device() -> None:
    load = ss.workload("random", rate=100, requests=500)
    errors = {"faults": {"read_error_rate": 0.02, "verify_after_write": True}}
    for name, keys in (
        ("g2", errors),
        ("g2", errors | {"buffer": {"size_kib": 512, "segments": 4, "read_ahead": "track"}}),
        ("mcd", {"front": errors}),
        ("cmu2003", errors | {"batching": {"kind": "window", "window_ms": 1}}),
    ):
        run = ss.simulate(load, ss.device(name, **keys))
        counts = [device["counts"] for device in run.summary["devices"]]
        assert next(one for one in counts if "tips_failed" in one)["retries"] > 0


def test_spare_cylinders_take_blocks_and_background_tasks_take_errors() -> None:
    load = ss.workload("random", rate=100, requests=10)
    sled = ss.device("g2", faults={"remap": "elsewhere", "spare_cylinders": 30})
    assert sled.blocks == ss.device("g2").blocks - 30 * 2700
    faulty = ss.device("g2", faults={"read_error_rate": 0.01})
    run = ss.simulate(load, faulty, background="scan", layout="simple")
    assert run.summary["background"][0]["free_blocks"] > 0


def test_more_ecc_means_fewer_retries() -> None:
    load, found = ss.workload("random", rate=100, requests=3000), []
    for ecc in (0, 1, 2, 4):
        device = ss.device("g2", faults={"ecc_tips": ecc, "read_error_rate": 0.01})
        found.append(ss.simulate(load, device).summary["retries"])
    assert found == sorted(found, reverse=True)
    assert found[0] > 10 * found[3]
