"""Equivalence classes, conflicts and tracks, against the places of all blocks of small devices."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from hypothesis import given, settings
from hypothesis import strategies as st
from sledsim.cli import main
from sledsim.cli.parallel import ranges

if TYPE_CHECKING:
    from collections.abc import Callable

TIPS, BIT_UM, ROW_BITS, SERVO_BITS = 64, 0.04, 90, 10
"""Of G2: tips of a block, width of a bit, bits of a row, of a servo field."""
SLACK_M = 1e-12


@dataclass(frozen=True)
class Shape:
    """A small device: squares in a row, sets of tips, columns and rows of a square."""

    cells: int
    sets: int
    columns: int
    rows: int

    @property
    def squares(self) -> int:
        return self.cells * self.sets

    def device(self, **keys: Any) -> ss.Sled:
        made: ss.Sled = ss.device(
            "cmu2003",
            tips=self.squares * TIPS,
            active_tips=self.cells * TIPS,
            travel_x_um=self.columns * BIT_UM,
            travel_y_um=(self.rows * ROW_BITS + SERVO_BITS) * BIT_UM,
            **keys,
        )
        return made


SHAPES = st.builds(
    Shape, st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)
)
REACHES = st.integers(0, 3)


def places(device: ss.Sled) -> list[ss.hardware.Location]:
    return [device.locate(lbn) for lbn in range(device.blocks)]


def under_tips(at: ss.hardware.Location, x_m: float, row: int, reach: int) -> bool:
    """Whether a tip reaches a block while the sled is at a column and a row."""
    return at.row == row and abs(at.x_m - x_m) <= reach * BIT_UM * 1e-6 + SLACK_M


def together(
    one: ss.hardware.Location,
    other: ss.hardware.Location,
    columns_m: set[float],
    reach: int,
    shared: Callable[[int, int], bool],
) -> bool:
    """Whether tips read two blocks at once at some column of the sled."""
    if set(one.tips) & set(other.tips) or shared(one.tips[0] // TIPS, other.tips[0] // TIPS):
        return False
    return any(
        under_tips(one, x_m, one.row, reach) and under_tips(other, x_m, one.row, reach)
        for x_m in columns_m
    )


# Classes, tracks, parameters


def under(device: ss.Sled, x_m: float, row: int, reach: int) -> list[int]:
    """Return the blocks that tips reach while the sled is at a column and a row."""
    at = places(device)
    return [lbn for lbn, place in enumerate(at) if under_tips(place, x_m, row, reach)]


@settings(max_examples=60)
@given(shape=SHAPES, reach=REACHES, own_map=st.sampled_from(["serpentine", "ascending"]))
def test_a_class_is_what_lies_under_the_tips(shape: Shape, reach: int, own_map: str) -> None:
    device = shape.device(micropositioning_cylinders=reach, lbn_map=own_map)
    at = places(device)
    assert len(at) == shape.squares * shape.columns * shape.rows
    for lbn, place in enumerate(at):
        expected = under(device, place.x_m, place.row, reach)
        assert device.equivalent(lbn) == expected
        columns = [
            column for column in range(shape.columns) if abs(column - place.cylinder) <= reach
        ]
        assert len({at[other].x_m for other in expected}) == len(columns), "clipped at the edges"
        assert len(expected) == len(columns) * shape.squares


@settings(max_examples=40)
@given(shape=SHAPES, own_map=st.sampled_from(["serpentine", "ascending"]))
def test_boundaries_are_those_of_blocks_read_by_one_set_of_tips(shape: Shape, own_map: str) -> None:
    device = shape.device(lbn_map=own_map)
    tracks: dict[tuple[float, int], list[int]] = {}
    for lbn, place in enumerate(places(device)):
        tracks.setdefault((place.x_m, place.tips[0] // (shape.cells * TIPS)), []).append(lbn)
    for track in tracks.values():
        assert track == list(range(track[0], track[-1] + 1))
        assert {device.boundaries(lbn) for lbn in track} == {(track[0], track[-1])}
        assert len(track) == device.parallelism.S_T


@settings(max_examples=40)
@given(shape=SHAPES, reach=REACHES)
def test_parameters_count_what_is_there(shape: Shape, reach: int) -> None:
    device = shape.device(micropositioning_cylinders=reach)
    at, shown = places(device), device.parallelism
    first = at[0]
    same_place = [place for place in at if (place.x_m, place.row) == (first.x_m, first.row)]
    square = [place for place in at if place.tips == first.tips]
    assert int(shown) == shown.p == shown.N_x
    assert shown.p == len({place.tips for place in same_place if place.track == 0})
    assert shown.N == len({place.tips for place in at}) == len(same_place)
    assert shown.S_x == len({place.x_m for place in square})
    assert shown.S_y == len({place.y_m for place in square})
    assert shown.N_y == len({place.track for place in at})
    assert len([place for place in at if place.x_m == first.x_m]) == shown.S_C
    assert reach == shown.M


def test_one_pass_of_a_class_is_one_pass_of_the_sled() -> None:
    """Blocks side by side in a class are read without another pass; others are not."""
    device = Shape(cells=4, sets=3, columns=3, rows=3).device()
    for lbn in range(device.blocks - 1):
        at_once = device.access(lbn, 2).passes == 1
        assert at_once == (lbn + 1 in device.equivalent(lbn))


# Conflicts


def check_conflicts(
    device: ss.Sled,
    reach: int,
    shared: Callable[[int, int], bool] = lambda _one, _other: False,
    at_s: float = 0.0,
) -> None:
    at = places(device)
    columns_m = {place.x_m for place in at}
    for one, other in combinations(range(device.blocks), 2):
        expected = not together(at[one], at[other], columns_m, reach, shared)
        expected |= device.parallelism.p == 1
        assert device.conflicting(one, other, at_s) == expected, (one, other)
        assert device.conflicting(other, one, at_s) == expected, (other, one)
    assert not any(device.conflicting(lbn, lbn, at_s) for lbn in range(device.blocks))


@pytest.mark.parametrize("kind", ["", "none", "channel", "power_bus", "listed"])
@settings(max_examples=40)
@given(shape=SHAPES, reach=REACHES, data=st.data())
def test_conflicts_are_those_of_what_squares_share(
    kind: str, shape: Shape, reach: int, data: Any
) -> None:
    """Only what bears one square at once keeps two of them apart; more is for batches."""
    squares = shape.squares
    resources, at_once, keys = [*range(squares)], 1, {}
    if kind == "channel":
        keys = {"channels": data.draw(st.integers(1, squares))}
        resources = [square % keys["channels"] for square in range(squares)]
    elif kind == "power_bus":
        each = data.draw(st.integers(1, squares))
        at_once = data.draw(st.integers(1, each))
        keys = {"squares_per_bus": each, "at_once": at_once}
        resources = [square // each for square in range(squares)]
    elif kind == "listed":
        number = st.integers(0, squares - 1)
        resources = data.draw(st.lists(number, min_size=squares, max_size=squares))
        at_once = data.draw(st.integers(1, squares))
        keys = {"resources": resources, "at_once": at_once}
    given: dict[str, Any] = {"conflicts": {"kind": kind, **keys}} if kind else {}
    device = shape.device(micropositioning_cylinders=reach, **given)
    check_conflicts(device, reach, lambda a, b: at_once == 1 and resources[a] == resources[b])


def test_tips_follow_the_media_in_the_course_of_a_run() -> None:
    """From 5 s on they reach over one column less, from 10 s on over none, from 20 s over 3."""
    shape = Shape(cells=2, sets=2, columns=5, rows=2)
    later = [[5.0, 1], [10.0, 0], [20.0, 3]]
    device = shape.device(micropositioning_cylinders=2, micropositioning_later=later)
    reaches = [(0, 2), (4.999999999, 2), (5, 1), (9.9, 1), (10, 0), (19, 0), (20, 3), (1e6, 3)]
    for at_s, reach in reaches:
        for lbn, place in enumerate(places(device)):
            expected = under(device, place.x_m, place.row, reach)
            assert device.equivalent(lbn, at_s) == expected, at_s
        check_conflicts(device, reach, at_s=at_s)
    assert device.parallelism.M == 2, "as at the start"


# Refusals


# The command


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["parallel", "--device", "cmu2003", *map(str, words)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


SIMPLE = [
    "--set",
    "tips=576",
    "--set",
    "active_tips=192",
    "--set",
    "travel_x_um=0.12",
    "--set",
    "travel_y_um=11.2",
]
"""The device of Figure 2 of CMU-CS-03-125."""


@given(st.sets(st.integers(0, 60)))
def test_ranges_hold_the_same_numbers(numbers: set[int]) -> None:
    found = ranges(sorted(numbers))
    assert [n for first, last in found for n in range(first, last + 1)] == sorted(numbers)
    assert all(last + 1 < first for (_, last), (first, _) in pairwise(found))


def told(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(printed(capsys, *words, *SIMPLE, "--json"))
    return document


def test_the_command_tells_the_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split(maxsplit=2) for line in printed(capsys, *SIMPLE).splitlines()]
    values = {"p": 3, "N": 9, "S_x": 3, "S_y": 3, "M": 0, "N_x": 3, "N_y": 3, "S_T": 9, "S_C": 27}
    assert {row[0]: int(row[1]) for row in rows} == values
    document = told(capsys)
    assert (document["device"], document["parallelism"]) == ("cmu2003", values)


def test_the_command_tells_the_class_and_the_conflicts_of_figure_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """33, 38 and 52 can be accessed together, as the paper says; 30 is in another row."""
    text = printed(capsys, 33, *SIMPLE)
    assert "\n33-38, 51-53\n" in text
    assert "9 blocks from 33 to 53, at most 3" in text
    assert "9 blocks from 27 to 35" in text
    document = told(capsys, 33)
    assert document["equivalent"] == [*range(33, 39), 51, 52, 53]
    assert document["boundaries"] == [27, 35]
    document = told(capsys, 52, 33, 38, 30)
    assert document["lbns"] == [30, 33, 38, 52]
    assert document["conflicts"] == [[30, 33], [30, 38], [30, 52]]
    lines = printed(capsys, "33-34", 38, 52, 30, *SIMPLE).splitlines()
    pairs = [["30", "33-34, 38, 52"], *([lbn, "30"] for lbn in ("33", "34", "38", "52"))]
    assert [line.split(maxsplit=1) for line in lines[1:6]] == pairs
    assert lines[-1] == "4 of 10 pairs conflict; at most 3 blocks at once"


def test_the_command_tells_a_later_time(capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["--set=micropositioning_cylinders=1", "--set=micropositioning_later=[[5, 0]]"]
    for at_s, blocks in ((0, 27), (4.9, 27), (5, 9)):
        document = told(capsys, 33, *keys, "--at-s", at_s)
        assert (document["at_s"], len(document["equivalent"])) == (at_s, blocks)
        pairs = told(capsys, 33, 7, 1, *keys, "--at-s", at_s)["conflicts"]
        assert [7, 33] in pairs, "another row"
        assert ([1, 33] in pairs) == (at_s >= 5)
