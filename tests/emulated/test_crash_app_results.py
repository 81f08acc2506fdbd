"""Results of failures of power: counts, shares, words, picture, page."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from statistics import mean, median
from typing import TYPE_CHECKING, Any

import pytest
from sledsim.cli import main
from sledsim.plots import style
from sledsim.programs.crashes import (
    GOOD,
    OUTCOMES,
    CutResult,
    Result,
    Setup,
    Verdict,
    picture,
)
from sledsim.programs.crashes.strata import STRATA, Instant
from sledsim.programs.crashes.trial import PHASES, Trial
from sledsim.show import pages

from tests.picture_checks import Seen, lab, nearest

if TYPE_CHECKING:
    from pathlib import Path

FACTS: dict[str, Any] = {"device": "g2-buffered", "promise": "flush", "duration_s": 1.5, "seed": 1}
FACTS |= {"requests": 400, "writes": 300, "blocks_written": 2400, "flushes": 80, "transactions": 40}


def cut(number: int, chance: random.Random, share: float) -> CutResult:
    outcome = chance.choice(list(OUTCOMES))
    facts: dict[str, Any] = dict.fromkeys(("lost", "torn", "recovery_ns"), 0)
    facts |= {"at_ns": 1000 * number, "startup_ns": 500_000, "digest": str(number)}
    facts["acknowledged_unflushed"] = 3 * (chance.random() < share)
    facts["promised_lost"] = int(outcome == "check_failed")
    times: dict[str, float | None] = dict(zip(PHASES, (0.5, 0.0, 3.0 * number, None), strict=True))
    work = dict.fromkeys(("device", "file_system", "program"), False)
    trial = Trial(Verdict(outcome, f"text of {number}"), times, work)
    instant = Instant(1000 * number, chance.choice([*STRATA]))
    return CutResult(number, instant, 5, facts, trial, None)


def result(share: float = 0.5, cuts: int = 60) -> Result:
    chance = random.Random(4)
    setup = Setup("sqlite", "g2-buffered")
    each = [cut(number, chance, share) for number in range(1, cuts + 1)]
    return Result(setup, FACTS, each, "SQLite on ext4, g2-buffered")


def test_counts_and_times_are_those_of_the_cuts() -> None:
    found = result()
    document: dict[str, Any] = json.loads(json.dumps(found.to_dict()))
    each = document["each"]
    for name in OUTCOMES:
        assert document["outcomes"][name] == sum(cut["outcome"] == name for cut in each)
        for stratum, counts in document["outcomes_by_stratum"].items():
            both = [cut for cut in each if (cut["outcome"], cut["stratum"]) == (name, stratum)]
            assert counts[name] == len(both)
    assert document["bad"] == sum(cut["outcome"] not in GOOD for cut in each)
    assert document["promises_broken_by_the_device"] == document["outcomes"]["check_failed"] > 0
    times = [3.0 * number for number in range(1, 61)]
    assert document["back_in_service_ms"]["file_system"] == {
        "mean": pytest.approx(mean(times)),
        "p50": median(times),
        "max": 180.0,
    }
    assert set(document["back_in_service_ms"]["database"].values()) == {None}


@pytest.mark.parametrize(
    ("outcome", "damage", "promised_lost", "code"),
    [
        ("whole", "", 0, 0),
        ("lost_unacknowledged", "", 0, 0),
        *((outcome, "", 0, 1) for outcome in OUTCOMES if outcome not in GOOD),
        ("whole", "a bitmap differs", 0, 1),
        ("whole", "", 2, 1),
    ],
)
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_exit_code_tells_of_one_bad_cut(
    outcome: str,
    damage: str,
    promised_lost: int,
    code: int,
    form: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = cut(1, random.Random(1), 0.0)
    facts = first.facts | {"promised_lost": 0}
    good = replace(first, facts=facts, trial=replace(first.trial, verdict=Verdict("whole")))
    trial = replace(good.trial, verdict=Verdict(outcome), damage=damage)
    other = replace(good, facts=facts | {"promised_lost": promised_lost}, trial=trial)
    cuts = [good, replace(other, number=2)]
    found = Result(Setup("sqlite", "g2-buffered"), FACTS, cuts, "SQLite")
    # The package has a function of the name.
    module = sys.modules["sledsim.programs.crashes.experiment"]
    monkeypatch.setattr(module, "experiment", lambda *_, **__: found)
    words = ["crash-app", "sqlite", *form]
    assert main(words) == code
    assert main([*words, "--exit-zero"]) == 0


@pytest.mark.parametrize("share", [0.0, 0.2, 0.45, 1.0])
def test_a_set_up_that_leaves_nothing_to_lose_is_said_to_show_little(share: float) -> None:
    found = result(share)
    met = sum(cut.facts["acknowledged_unflushed"] > 0 for cut in found.cuts)
    assert found.shares()["any"] == pytest.approx(met / 60)
    assert found.shows_little == (met < 0.3 * 60)
    assert any("shows little" in line for line in found.lines()) == found.shows_little


def test_colours_of_outcomes_are_apart_for_all_eyes() -> None:
    assert list(picture.COLOURS) == list(OUTCOMES)
    colours = list(picture.COLOURS.values())
    distance, one, other, eye = nearest(colours)
    assert distance >= 20, (one, other, eye)  # measured: 25.2
    drawn = (style.CAUSES, style.OPS, style.RUN_TIMES, style.VERDICTS)
    others = [*style.COLOURS, *(colour for each in drawn for colour in each.values())]
    # Measured: 13.2.
    assert min(float(abs(lab(a) - lab(b)).max()) for a in colours for b in others) >= 8


@pytest.mark.parametrize("size", [None, "page", (6.6, 4.6)])
def test_texts_of_the_picture_lie_beside_each_other(size: Any) -> None:
    seen = Seen(picture.draw(result(), size=size))
    assert seen.overlaps() == []
    assert seen.cut_off() == []
    texts = {text.get_text() for text in seen.texts}
    assert {*OUTCOMES.values(), *STRATA.values(), *PHASES.values()} <= texts


def test_the_page_says_what_was_found(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    found = result()
    pages.write(found, str(file), command=["crash-app", "sqlite"])
    text = file.read_text("utf-8")
    assert "sledsim crash-app sqlite" in text
    for line in (*OUTCOMES.values(), *STRATA.values(), "text of", "2,400"):
        assert line in text, line
    assert text.count("<svg") >= 1
