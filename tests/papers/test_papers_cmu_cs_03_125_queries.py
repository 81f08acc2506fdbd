"""Matrices, free lists, pipelined reads and joins of CMU-CS-03-125, by independent means."""

import sys

import numpy as np
import pyarrow as pa
import pytest
import sledsim as ss
from sledsim.papers.cmu_cs_03_125 import (
    dense_matrices,
    figure6,
    free_list,
    joins,
    pipelined_reads,
    sample,
)
from sledsim.papers.cmu_cs_03_125.example import example
from sledsim.papers.cmu_cs_03_125.figure5 import blocks
from sledsim.papers.cmu_cs_03_125.memstore import memstore

from tests.independent import cmu_cs_03_125 as independent
from tests.paper_items import Paper

PAPER = Paper("cmu-cs-03-125")
found, SETUP = PAPER.found, PAPER.setup("table5")
TRACK, ROWS, ROW_S, TURN_S = 270, 27, 90 * 40e-9 / 0.028, 0.07e-3


# Dense matrices


def test_a_matrix_comes_back_by_rows_and_by_columns() -> None:
    values = dense_matrices.matrix(1000, 10)
    table = dense_matrices.capsules(values, memstore(SETUP))
    column = pa.table(table.scan(["c7"]).data)["c7"].to_numpy()
    assert np.array_equal(column, values[7])
    (row,) = pa.table(table.record(123).data).to_pylist()
    assert list(row.values()) == values[:, 123].tolist()


def test_a_matrix_takes_as_long_as_the_tips_pass_its_rows() -> None:
    """From capsules two tracks of a column, else all 345,600 blocks, or one in each of the rows."""
    own = found("dense_matrices").values["column_order"]
    assert isinstance(own, dict)
    rows = 2 * TRACK * 64
    assert 2 * ROWS * ROW_S < own["capsules"] < 2 * ROWS * ROW_S + 3e-3
    tracks = rows * 10 / TRACK
    assert tracks * ROWS * ROW_S < own["all"] < tracks * (ROWS * ROW_S + 1e-3)
    places = [(row * 640 + 333) * 8 // 512 for row in range(100)]
    assert dense_matrices.column_lbns(100, 333) == places
    assert own["a block a row"] > rows * (ROW_S + 0.2e-3), "a row under the tips, and a command"


# Pipelined reads


def test_each_block_goes_to_its_capsule() -> None:
    """Pages of a capsule are at one place under the tips, in tracks that follow each other."""
    device = memstore(SETUP)
    table = figure6.table(device, 5, split=True)
    own = pipelined_reads.tracks(table, device, 5)[3]
    assert own == [(track * TRACK, TRACK, False) for track in (9, 10, 11)]
    lists = list(pipelined_reads.scattered(device, own))
    assert [lbn for lbn, _, _ in lists] == list(range(9 * TRACK, 12 * TRACK))
    first = {capsule: device.locate(lbn) for lbn, capsule, page in lists if page == 0}
    assert sorted(first) == list(range(TRACK))
    for lbn, capsule, _ in lists:
        place, other = device.locate(lbn), first[capsule]
        assert (place.row, place.cell) == (other.row, other.cell)


def test_reads_ahead_stream_and_reads_in_turn_wait_for_the_host() -> None:
    series = found("pipelined_reads").series
    slow, _, fast = series["mb_s"]["a1 + a2"]
    assert fast == pytest.approx(independent.streaming_mb_s(), rel=0.005)
    track_ms = TRACK * 512 / 1e3 / fast
    waits_ms = TRACK * 512 / 1e3 / slow - track_ms
    assert 0.2 < waits_ms < 1.0, "a command overhead, and a sled that coasts and comes back"
    for batch, single, ahead in series["residue_s"]:
        assert ahead < batch < single


# Joins


def test_joins_are_those_of_a_dictionary() -> None:
    data = joins.two_tables(1)
    tables = [ss.tables.table(part, memstore(SETUP), "capsule") for part in data]
    own = joins.joined(tables[0].lazy(), tables[1].lazy(), "one each")
    partner = {row["a1"]: row["b4"] for row in data[1].select(["a1", "b4"]).to_pylist()}
    rows = data[0].select(["a1", "a3"]).to_pylist()
    right = [(row["a1"], row["a3"], partner[row["a1"]]) for row in rows if row["a1"] in partner]
    assert own.rows() == right
    assert 0.45 < len(right) / len(rows) < 0.55, "half of the keys are in neither"
    assert own.equals(joins.expected(data, "one each"))


def test_a_join_takes_the_time_of_the_tracks_of_its_attributes() -> None:
    """Twenty groups of capsules in both tables, or pages of 115 records."""
    seconds = found("joins").series["seconds"]
    records = 20 * TRACK * 60
    tracks = {"keys": 20, "one each": 16 * (1 + 2) + 4 * (1 + 2), "all": 180}
    for name, count in tracks.items():
        own = seconds["capsule"][name]
        assert count * (ROWS * ROW_S + 0.2e-3) < own < count * (ROWS * ROW_S + 1e-3), name
        pages = records / 115 * 16 / TRACK
        own = seconds["normal"][name]
        assert pages * (ROWS * ROW_S + 0.2e-3) < own < (pages + 2) * (ROWS * ROW_S + 1e-3), name


def test_missing_polars_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ss.SledsimError, match="needs polars: pip install polars"):
        joins.simulate(quick=True, setup=SETUP)


# Capsules from a free list


def test_an_empty_device_gives_the_capsules_of_a_table() -> None:
    """Those of a table in one piece, of which no capsule is split, in their order.

    Nine classes of nine blocks hold a capsule each.
    """
    assert len(free_list.allocated(example(), set(), 9)) == 9
    device, count = memstore(SETUP), 3 * TRACK
    table = ss.tables.table(sample.records(60 * count), device, "capsule", split=False)
    own = [sorted(blocks(table, number, 60)) for number in range(count)]
    assert free_list.allocated(device, set(), count) == own


def test_capsules_take_free_blocks_of_a_class_alone() -> None:
    device, count = memstore(SETUP), 1000
    used = free_list.used_blocks(device, count, 50)
    for kind, others in used.items():
        assert len(others) == 5 * 2700, "a half of ten cylinders"
        for capsules in (
            free_list.allocated(device, others, count),
            free_list.spilt(device, others, count),
        ):
            taken = [lbn for own in capsules for lbn in own]
            assert len(set(taken) - others) == len(taken) == 9 * count, kind
    for own in free_list.allocated(device, used["capsules"], count):
        places = [device.locate(lbn) for lbn in own]
        assert len({(place.cylinder, place.row) for place in places}) == 1
    split = free_list.spilt(device, used["capsules"], count)
    end = 2700 * device.locate(split[-1][-1]).cylinder
    taken_before = {lbn for own in split for lbn in own if lbn < end}
    assert taken_before == set(range(end)) - used["capsules"], "nothing is left free"


def test_a_scan_of_scattered_capsules_passes_as_many_rows_as_classes() -> None:
    """A class with half of its blocks has 5 capsules, else 10, and each takes a pass of a1."""
    seconds = found("free_list").series["seconds"]
    rows = 2700 / 10 * ROW_S
    for times in seconds.values():
        assert times[0] > rows
    one, half = (seconds["a1, capsules dropped"][at] for at in (0, 2))
    assert 1.8 < half / one < 2.3
    for name in ("all", "a1"):
        assert seconds[f"{name}, tables dropped"] == pytest.approx(
            [seconds[f"{name}, tables dropped"][0]] * 4, rel=0.01
        )
        assert sorted(seconds[f"{name}, capsules dropped"]) == seconds[f"{name}, capsules dropped"]
