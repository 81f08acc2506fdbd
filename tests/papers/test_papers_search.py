"""The search for readings: combinations, their order, and contradictions that must hold."""

import json
from itertools import combinations
from pathlib import Path

import pytest
from sledsim import papers
from sledsim.cli import main
from sledsim.papers import model, recorded, search

from tests import paper_items
from tests.own_paper import SETUP, TABLE, folder

__all__ = ["folder"]  # a fixture

READINGS = """
[readings.third]
what = "Another disk."
setup = { disk = { bus = 4 } }
[readings.offset]
what = "A little more."
setup = { offset = 0.5 }
"""
DATA = """
[values.half]
what = "half"
published = "1.0"
[values.twice]
what = "twice"
published = "2.7"
class = "contradiction"
because = "Twice a half is another number."
contradiction = { arithmetic = "2 * half", numbers = { half = "half" } }
"""
CODE = """
from sledsim.papers import Found, Setup

def simulate(*, quick: bool, setup: Setup) -> Found:
    all_of_them = {mean}
    return Found(
        {{
            "mean": all_of_them,
            "fastest": {{"a": 1.0, "b": 2.0}},
            "curve": (1.0, 2.0, 3.0),
            "half": 1.0,
            "twice": 2.7 if setup["factor"] > 1 and setup.get("offset") else 2.0,
        }}
    )
"""


@pytest.fixture
def item(folder: Path) -> model.Item:
    """Give an item with three readings, of which two set the same key."""
    (folder / "setup.toml").write_text(SETUP + READINGS)
    table = TABLE.replace('["other"]', '["other", "third", "offset"]')
    (folder / "table1.toml").write_text(table + DATA)
    mean = 'setup["factor"] + setup.get("offset", 0) + (setup["disk"]["bus"] == 4) * 0.52'
    (folder / "table1.py").write_text(CODE.format(mean=mean))
    model.papers.cache_clear()
    (found,) = papers.find([])
    return found


def test_readings_that_can_hold_at_once_are_combined(item: model.Item) -> None:
    names = [tuple(reading.name for reading in own) for own in search.together(item)]
    alone = [("other",), ("third",), ("offset",)]
    assert names == [(), *alone, ("other", "offset"), ("third", "offset")]


def test_no_pair_or_triple_is_forgotten() -> None:
    """Those that set the exponent exclude each other, as do the two that set the bus."""
    (item,) = papers.find(["osdi2000/figure11"])
    exponents = ["zipf_0_5", "zipf_1", "zipf_1_authors"]
    others = ("popular_blocks", "slow_bus", "whole_region")
    two = [own for count in range(3) for own in combinations(others, count)]
    by_hand = {frozenset(own) for own in [*two, others]}
    by_hand |= {frozenset((name, *own)) for name in exponents[:2] for own in two}
    by_hand |= {frozenset((exponents[2], *own)) for own in two if "slow_bus" not in own}
    found = [frozenset(reading.name for reading in own) for own in search.together(item)]
    assert set(found) == by_hand
    assert len(found) == len(by_hand)


def test_the_best_combination_comes_first(item: model.Item, tmp_path: Path) -> None:
    rows = search.run(item, tmp_path, workers=1)
    near = [row.nearness["within"]["10"] for row in rows]
    assert near == sorted(near, reverse=True)
    by_name = {row.readings: row.nearness["within"]["10"] for row in rows}
    # The mean is 2.02 for 2.0 under both, a half is always 1.0; twice needs the other two.
    assert (by_name["third", "offset"], by_name["other", "offset"], by_name[()]) == (2, 2, 1)
    assert {row.nearness["numbers"] for row in rows} == {3}
    assert [row.settings for row in rows if row.readings == ("other", "offset")] == [3]


def test_a_contradiction_that_a_combination_gives_is_told(
    item: model.Item, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No single reading gives both numbers; two together do."""
    words = ["papers", "search", item.id, "-o", str(tmp_path), "--workers", "1"]
    assert main(words) == 1
    assert "contradiction of twice: is given by other, offset; 6 comb" in capsys.readouterr().out
    assert main([*words, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    given = [row["readings"] for row in document["tried"] if row["given"]]
    assert given == [["other", "offset"]]
    assert not recorded.items().get(item.id), "it records nothing"


CONTRADICTED = [
    item for item in papers.find([]) if any(value.contradiction for value in item.values)
]


@pytest.mark.parametrize("item", CONTRADICTED, ids=lambda item: item.id)
def test_contradictions_hold_against_all_combinations(item: papers.Item) -> None:
    rows = search.run(item, paper_items.KEPT / "papers")
    assert len(rows) > len(item.readings)
    assert not [row for row in rows if row.given]
