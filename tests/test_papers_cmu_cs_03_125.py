"""CMU-CS-03-125: expected values of its items, computed independently."""

from __future__ import annotations

import random
from statistics import fmean
from typing import Any

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import equations, figure2, utilization
from sledsim.papers.cmu_cs_03_125.example import example
from sledsim.papers.cmu_cs_03_125.scans import scan
from sledsim.papers.judge import judge

from tests import paper_items

PAPER = "cmu-cs-03-125"
PUSH_M_S2, HALF_M, SPRINGS, SPEED_M_S, BIT_M = 803.6, 50e-6, 0.75, 0.028, 40e-9
ROWS, SQUARES = 27, 100


def found(name: str) -> Found:
    return paper_items.simulate(f"{PAPER}/{name}")


def stated(name: str, key: str) -> dict[str, Any]:
    return paper_items.stated(f"{PAPER}/{name}")[key]


@pytest.mark.parametrize("name", ["figure2", "table2", "table3", "utilization"])
def test_items_that_are_reproduced(name: str) -> None:
    (item,) = papers.find([f"{PAPER}/{name}"])
    simulated = found(name).values
    assert {value.key for value in item.values} == set(simulated)
    assert {judge(value, simulated[value.key]) for value in item.values} == {"reproduced"}


# Table 1


def test_streaming_from_rows_servo_fields_and_turnarounds() -> None:
    """A track is 27 rows; two servo fields and a turnaround lead to the next."""
    row_s = 90 * BIT_M / SPEED_M_S
    edge_m = (ROWS * 90 + 10) / 2 * BIT_M
    turnaround_s = 2 * SPEED_M_S / (PUSH_M_S2 * (1 + SPRINGS * edge_m / HALF_M))
    track_s = ROWS * row_s + 2 * 10 * BIT_M / SPEED_M_S + turnaround_s
    blocks = ROWS * 10
    rate_mb_s = blocks * 512 / track_s / 1e6
    value = stated("table1", "stream_mb_s")["explained"]
    assert rate_mb_s == pytest.approx(value["expected"], abs=value["tolerance"])
    assert blocks * 512 / (ROWS * row_s) / 2**20 == pytest.approx(38, abs=0.05), "of 2^20 bytes"
    assert found("table1").values["stream_mb_s"] == pytest.approx(rate_mb_s, rel=0.005)


# Figure 2


def test_another_map_is_not_the_figure() -> None:
    (item,) = papers.find([f"{PAPER}/figure2"])
    layout = next(value for value in item.values if value.key == "layout")
    for keys, verdict in (({}, "reproduced"), ({"lbn_map": "ascending"}, "missed")):
        assert judge(layout, figure2.written(example(**keys))) == verdict


def test_the_figure_has_every_block_once() -> None:
    lines = stated("figure2", "layout")["published"]
    assert sorted(int(lbn) for line in lines for lbn in line.replace("|", "").split()) == list(
        range(81)
    )


# Section 3.2


def test_the_printed_equations_by_hand() -> None:
    """Block 2700 is the first of cylinder 1, which the sled reads upwards as track 10 is even.

    The printed parity takes it for odd, and so the class of 2700 does not hold 2700: its block in
    square 0 would be 26 rows on, 2700 + 260. In square 10 it would be another 270 on, and 10, as
    10 % 2500 is 10 and not 0; the one that is there is 270 + 260 from 2700, as the sled returns.
    """
    shape, printed = ss.device("cmu2003").parallelism, equations.PRINTED
    assert printed.place(shape, 2700) == (1, 0)
    assert printed.block(shape, 1, 0, 0) == 2960
    assert printed.block(shape, 1, 0, 10) == 2700 + 270 + 10
    both = equations.READINGS["both"]
    assert (both.block(shape, 1, 0, 0), both.block(shape, 1, 0, 10)) == (2700, 2700 + 270 + 260)
    assert both.equivalent(shape, 2700) == ss.device("cmu2003").equivalent(2700)


def test_how_many_lbns_the_equations_mistake() -> None:
    """The row that is r-th in its track, of set of tips k, is given as (r or 26 - r) + k."""
    wrong = 0
    for column in range(2):
        for row in range(ROWS):
            for k in range(10):
                true = row if k % 2 == 0 else ROWS - 1 - row
                given = true if column == 0 else ROWS - 1 - true
                wrong += 10 * (given + k != true)
    percent = 100 * wrong / (2 * ROWS * SQUARES)
    value = stated("equations", "g2_percent")["explained"]
    assert percent == pytest.approx(value["expected"], abs=value["tolerance"])


@pytest.mark.parametrize("parity", [0, 1])
def test_the_two_parities_agree_for_odd_numbers_of_sets_only(parity: int) -> None:
    for device in equations.geometries(parity):
        shape = device.parallelism
        assert shape.N_y % 2 == parity
        columns = range(shape.S_x)
        for name, agree in (("both", True), ("remainder", parity == 1)):
            mistaken = equations.mistaken_percent(equations.READINGS[name], device, columns)
            # One row is the same from both ends, and column 0 has no tracks before it.
            visible = not agree and shape.S_y > 1 and (shape.S_x > 1)
            assert (mistaken > 0) == visible, shape


def test_equations_of_the_item() -> None:
    item = found("equations")
    assert item.hypotheses["both"] == {"simple_percent": 0, "g2_percent": 0}
    assert item.hypotheses["parity"]["g2_percent"] == pytest.approx(90), "nine of ten sets"
    odd_columns = 100 * (1 - 1 / ROWS) / 2
    assert item.hypotheses["remainder"]["g2_percent"] == pytest.approx(odd_columns)
    assert item.values["track_blocks"] == ROWS * 10 - 1


# Utilization


def test_rows_that_requests_pass() -> None:
    """By the rows of the blocks themselves, for every place of a request in two cylinders."""
    device = ss.device("cmu2003")
    for lbn in range(2 * 2700 - 8):
        places = [device.locate(other) for other in range(lbn, lbn + 8)]
        rows = len({(place.cylinder, place.row) for place in places})
        assert utilization.rows_read(device, lbn) == rows
    means = {name: one["mean_percent"] for name, one in found("utilization").series.items()}
    # Two of five aligned places leave a request in its row, three of ten any. At nine of the ten
    # ends of the tracks of a cylinder the next track begins in the same row; of these nine, seven
    # lie within an aligned request.
    assert means["aligned"] == pytest.approx(56 + 40 * 7 / (2700 / 8), abs=1.2)
    assert means["anywhere"] == pytest.approx(52 + 40 * 7 * 9 / 2700, abs=1.2)


# Figure 4, Table 4, section 5.1


class Blocks:
    """A device as sets of unread blocks, by cylinder and row.

    A few lines of their own: LBNs lie as in Figure 2, and a pass reads one row of a cylinder.
    """

    def __init__(self, columns: int, at_once: int, reach: int, *, turns: bool = True) -> None:
        self.columns, self.at_once, self.reach, self.turns = columns, at_once, reach, turns
        self.track = ROWS * at_once
        self.cylinder = ROWS * SQUARES
        self.left = {(x, y): set(range(SQUARES)) for x in range(columns) for y in range(ROWS)}
        self.unread = columns * self.cylinder
        self.free = self.requests = 0

    def place(self, lbn: int) -> tuple[int, int, int]:
        """Cylinder, row, square."""
        x, inside = divmod(lbn, self.cylinder)
        track, offset = divmod(inside, self.track)
        row, cell = divmod(offset, self.at_once)
        downwards = (lbn // self.track) % 2
        return x, (ROWS - 1 - row if downwards else row), track * self.at_once + cell

    def request(self, lbn: int) -> None:
        """Read 8 blocks pass by pass, and others for free."""
        self.requests += 1
        passes: list[tuple[int, int, int, set[int]]] = []
        for block in range(lbn, lbn + 8):
            x, y, square = self.place(block)
            track = block // self.track
            last = passes[-1] if passes else None
            if last and last[:2] == (x, y) and (self.turns or last[2] == track):
                last[3].add(square)
            else:
                passes.append((x, y, track, {square}))
        for x, y, _, squares in passes:
            self.unread -= len(self.left[x, y] & squares)
            self.left[x, y] -= squares
            used = set(squares)
            nearest = sorted(
                range(max(0, x - self.reach), min(self.columns, x + self.reach + 1)),
                key=lambda column: (abs(column - x), column),
            )
            for column in nearest:
                may = sorted(self.left[column, y] - used)[: self.at_once - len(used)]
                self.left[column, y].difference_update(may)
                used.update(may)
                self.free += len(may)
                self.unread -= len(may)


def by_hand(seed: int, columns: int, at_once: int, reach: int, **keys: bool) -> dict[str, float]:
    """Scan such a device; say after how many requests 95 % and all of it had been read."""
    blocks, chance = Blocks(columns, at_once, reach, **keys), random.Random(seed)
    whole = blocks.unread
    most: dict[str, float] = {}
    while blocks.unread:
        blocks.request(8 * chance.randrange(whole // 8))
        if not most and blocks.unread <= whole // 20:
            most = {"most": blocks.requests, "free": blocks.free / blocks.requests}
    return most | {"all": blocks.requests}


def simulated(seed: int, columns: int, at_once: int, reach: int) -> dict[str, float]:
    """Scan it with sledsim."""
    device = ss.device(
        "cmu2003",
        active_tips=64 * at_once,
        travel_x_um=0.04 * columns,
        micropositioning_cylinders=reach,
    )
    load = ss.workload(
        requests=10**7, size="fixed", mean_size_kib=4, blocking=8, read_fraction=1, seed=seed
    )
    task = {"task": "scan", "ends_run": True}
    run = ss.simulate(load, device, background=task, requests=False)
    (facts,) = run.summary["background"]
    percent = facts["percent"]
    free = percent["free_blocks"][95] / percent["requests"][95]
    return {"most": percent["requests"][95], "free": free, "all": percent["requests"][100]}


def mean(results: list[dict[str, float]]) -> dict[str, float]:
    return {key: fmean(result[key] for result in results) for key in results[0]}


@pytest.mark.parametrize(("at_once", "reach"), [(10, 0), (20, 0), (10, 5), (20, 5)])
def test_scans_are_those_of_a_few_lines(at_once: int, reach: int) -> None:
    """Means over seeds on 12 cylinders; the last block is luck, by 6 to 20 % of a scan."""
    ours = mean([simulated(seed, 12, at_once, reach) for seed in range(60)])
    own = mean([by_hand(seed, 12, at_once, reach) for seed in range(6)])
    assert ours["free"] == pytest.approx(own["free"], rel=0.02)
    assert ours["most"] == pytest.approx(own["most"], rel=0.02)
    assert ours["all"] == pytest.approx(own["all"], rel=0.2)


def test_what_requests_across_the_ends_of_tracks_are_worth() -> None:
    """With a pass of their own for the next track, as its text says, requests leave more free."""
    with_turns = mean([by_hand(seed, 40, 10, 0) for seed in range(2)])
    without = mean([by_hand(seed, 40, 10, 0, turns=False) for seed in range(2)])
    assert with_turns["free"] == pytest.approx(6.33, abs=0.1)
    assert without["free"] == pytest.approx(6.55, abs=0.1)


def test_the_scan_of_the_whole_device() -> None:
    """95 % take as many requests as in a few lines, times the cylinders; see Table 4."""
    whole = scan("p20_m0", seed=3, requests=500_000)
    assert len(whole.minutes) >= 96, "95 % are done"
    assert len(whole.minutes) < 101, "given up before the end"
    by_request = 60 * whole.minutes[95] / whole.requests[95]
    assert by_request == pytest.approx(0.103, rel=1e-4)
    own = mean([by_hand(seed, 30, 20, 0) for seed in range(2)])
    assert whole.requests[95] == pytest.approx(own["most"] * 2500 / 30, rel=0.025)
    assert whole.free_per_request(95) == pytest.approx(own["free"], rel=0.03)
