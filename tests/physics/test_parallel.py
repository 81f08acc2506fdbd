"""Equivalence classes, conflicts and tracks, against all blocks of small devices; batches."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from hypothesis import given, settings
from hypothesis import strategies as st
from sledsim.cli import main
from sledsim.cli.parallel import ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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

    def device(self, **keys: Any) -> Any:
        sizes: dict[str, Any] = {
            "tips": self.squares * TIPS,
            "active_tips": self.cells * TIPS,
            "travel_x_um": self.columns * BIT_UM,
            "travel_y_um": (self.rows * ROW_BITS + SERVO_BITS) * BIT_UM,
        }
        return ss.device("cmu2003", **sizes, **keys)


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


def told(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    return json.loads(printed(capsys, *words, *SIMPLE, "--json"))


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


COLUMNS = "time=us:us, device=host, offset=lbn:512B, bytes=n:512B, op=op, linked=more"
BARE: dict[str, Any] = {"command_overhead_ms": 0.0, "bus_ms_per_block": 0.0}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Work in an empty folder."""
    with contextlib.chdir(tmp_path):
        yield tmp_path


def trace(*rows: tuple[int, int, int, int, str, int]) -> Path:
    """Write commands (us, host, lbn, blocks, op, linked) as a trace."""
    lines = ["us,host,lbn,n,op,more", *(",".join(map(str, row)) for row in rows)]
    path = Path("commands.csv")
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def load(path: Path, **keys: Any) -> ss.Load:
    return ss.read_trace(path, columns=COLUMNS, trace_device="all", **keys)


# The calculator ---------------------------------------------------------------------------------


def conflicts_of(device: ss.Sled, lbns: Iterable[int]) -> bool:
    return any(device.conflicting(*pair) for pair in combinations(lbns, 2))


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"micropositioning_cylinders": 2},
        {"conflicts": {"kind": "channel", "channels": 7}, "micropositioning_cylinders": 1},
    ],
)
def test_blocks_of_a_pass_do_not_conflict(keys: dict[str, Any]) -> None:
    device = ss.device("cmu2003", **keys)
    commands: list[tuple[Any, int, int]] = [
        ("read" if number % 3 else "write", 1_000_000 + 1350 * number, 1 + number % 13)
        for number in range(12)
    ]
    batch = device.batch(commands)
    wanted = [lbn for _, first, blocks in commands for lbn in range(first, first + blocks)]
    assert sorted(lbn for one in batch.passes for lbn in one.lbns) == wanted
    assert batch.blocks == len(wanted)
    for one in batch.passes:
        assert len(one.lbns) <= device.parallelism.p
        assert one.step.blocks == len(one.lbns)
        assert not conflicts_of(device, one.lbns)
        assert {device.locate(lbn).row for lbn in one.lbns} == {one.row}
    assert all(a.cylinder <= b.cylinder for a, b in pairwise(batch.passes)), "upwards"
    assert batch.total_s == pytest.approx(batch.seek_s + batch.transfer_s, rel=1e-12)
    # No pass can take in all of the next one of its row: then there would be one less.
    for one, two in combinations(batch.passes, 2):
        both = (*one.lbns, *two.lbns)
        fits = len(both) <= device.parallelism.p and one.row == two.row
        assert keys or not fits or conflicts_of(device, both)


def test_a_class_costs_what_one_block_does() -> None:
    device, start = ss.device("cmu2003"), (10e-6, -20e-6, "up")
    class_ = device.equivalent(4_000_000)
    alone = device.access(class_[0], 1, start=start)
    batch = device.batch([("read", lbn, 1) for lbn in class_[3:13]], start)
    assert (len(batch.passes), batch.total_s, batch.end) == (1, alone.total_s, alone.end)
    assert batch.passes[0].direction == alone.steps[0].direction
    all_ = device.batch([("write", lbn, 1) for lbn in class_])
    assert [len(one.lbns) for one in all_.passes] == [10] * 10
    directions = [one.direction for one in all_.passes]
    assert all(one == -two for one, two in pairwise(directions))


def test_micropositioning_may_change() -> None:
    """A block of the next cylinder goes with the first as long as tips reach it."""
    device = ss.device("cmu2003", micropositioning_cylinders=1)
    first = 2700 * 9
    row = device.locate(first).row
    beside = (lbn for lbn in range(2700 * 11, 2700 * 12) if device.locate(lbn).row == row)
    other = next(lbn for lbn in beside if not device.conflicting(lbn, first))
    pair: list[tuple[Any, int, int]] = [("read", first, 1), ("read", other, 1)]
    (only,) = device.batch(pair).passes
    assert only.cylinder == 10, "between them"
    later = ss.device("cmu2003", micropositioning_cylinders=1, micropositioning_later=[[2.0, 0]])
    assert [len(later.batch(pair, at_s=at).passes) for at in (0.0, 1.9, 2.0)] == [1, 1, 2]


# Runs -------------------------------------------------------------------------------------------


def test_a_linked_trace_is_served_in_one_pass() -> None:
    device = ss.device("cmu2003", **BARE)
    class_ = device.equivalent(2_000_000)[::10]
    rows = [(0, 3, lbn, 1, "rw"[i % 2], int(i < 9)) for i, lbn in enumerate(class_)]
    run = ss.simulate(load(trace(*rows)), device)
    each = pl.DataFrame(run.rows)
    assert each["completion_ns"].n_unique() == 1
    assert each["passes"].to_list() == [1] * 10
    alone = device.access(class_[0], 1).total_s
    assert each["completion_ns"][0] == pytest.approx(1e9 * alone, abs=1)


def test_a_closed_replay_takes_a_batch_as_one_request() -> None:
    device = ss.device("cmu2003", **BARE)
    rows = []
    for number, first in enumerate((100_000, 5_000_000, 3_000_000)):
        class_ = device.equivalent(first)[::10]
        rows += [(number, 0, lbn, 1, "r", int(i < 9)) for i, lbn in enumerate(class_)]
        rows.append((number, 1, first // 2, 8, "r", 0))
    path = trace(*rows)
    each = pl.DataFrame(ss.simulate(load(path, queue_depth=1, think_ms=2), device).rows)
    each = each.sort("id")
    for number in range(3):
        batch = each[11 * number : 11 * number + 10]
        single = each[11 * number + 10]
        assert batch["arrival_ns"].n_unique() == batch["completion_ns"].n_unique() == 1
        assert single["arrival_ns"][0] == batch["completion_ns"][0] + 2_000_000
        if number:
            before = each[11 * number - 1]["completion_ns"][0]
            assert batch["arrival_ns"][0] == before + 2_000_000
    # Two at a time: the batch and the single one overlap.
    two = pl.DataFrame(ss.simulate(load(path, queue_depth=2), device).rows).sort("id")
    assert two["arrival_ns"][10] == 0


def test_tasks_respect_conflicts_of_requests_in_several_passes() -> None:
    """A row of ten blocks over five channels takes two passes, with five tips to spare in none.

    Eight blocks over six channels: 0, 1, 2 and 4, then 3, 5, 6 and 7. Channels 3 and 5 are free in
    the first pass: the task has those two blocks before the request; then it has 2 and 4 for two
    others.
    """
    for blocks, channels, expected in ((10, 5, (10, 0)), (8, 6, (6, 4))):
        shared = ss.device("cmu2003", conflicts={"kind": "channel", "channels": channels})
        run = ss.simulate(load(trace((0, 0, 0, blocks, "r", 0))), shared, background="scan")
        assert pl.DataFrame(run.rows)["passes"].to_list() == [2]
        scan = run.summary["background"][0]
        assert (scan["foreground_blocks"], scan["free_blocks"]) == expected


# Traces -----------------------------------------------------------------------------------------


def test_links_are_written_to_formats_that_hold_them() -> None:
    path = last = trace((0, 0, 0, 1, "r", 1), (1, 4, 50, 1, "w", 0), (2, 0, 99, 1, "r", 0))
    for name in ("one.csv", "two.parquet", "three.csv.gz"):
        columns = COLUMNS if last is path else None
        report = ss.convert_trace([last], name, columns=columns)
        assert report["lost_fields"] == {}
        last = Path(name)
    text = Path("one.csv").read_text(encoding="ascii").splitlines()
    assert [line.rsplit(",", 1)[1] for line in text] == ["linked", "1", "", ""]
    assert pl.read_parquet("two.parquet")["linked"].to_list() == [True, False, False]
    loads = [load(path), ss.read_trace(last, trace_device="all")]
    one, two = (ss.simulate(each, "cmu2003").rows for each in loads)
    assert one == two
    report = ss.convert_trace([path], "plain.trace", columns=COLUMNS)
    assert report["lost_fields"] == {"links": 1}
