"""Tables of CMU-CS-03-125: what lies where, and what is written and read."""

import sys

import pyarrow as pa
import pytest
import sledsim as ss
from sledsim.papers.cmu_cs_03_125 import figure6, sample, vertical
from sledsim.papers.cmu_cs_03_125.memstore import memstore

from tests.paper_items import Paper

PAPER = Paper("cmu-cs-03-125")
found = PAPER.found
TRACK, CYLINDER, ROW_S = 270, 2700, 90 * 40e-9 / 0.028
PAGES = {"a1": 1, "a2": 4, "a3": 2, "a4": 2}
"""Section 5.2.6: nine pages of sixty records."""


def test_scans_return_what_was_loaded() -> None:
    """Byte for byte, out of the pages: all of it, and an attribute of a range."""
    data = sample.records(100_003)
    for layout in ("normal", "capsule", "vertical"):
        table = ss.tables.table(data, memstore(PAPER.setup("table5")), layout)
        assert pa.table(table.scan().data).equals(data), layout
        some = pa.table(table.scan(["a3"], 4_321, 5_000).data)
        assert some.equals(data.select(["a3"]).slice(4_321, 5_000)), layout


# Figure 6


def test_capsules_are_where_their_classes_are() -> None:
    """Blocks of all capsules of three cylinders are different ones, and all of them are used."""
    device = ss.device("cmu2003")
    capsules = figure6.capsules(figure6.table(device, 10, split=True))
    assert sorted(lbn for own in capsules for lbn in own) == list(range(3 * CYLINDER))
    tracks = [{lbn // TRACK for lbn in own} for own in capsules]
    crossing = [number for number, own in enumerate(tracks) if len({t // 10 for t in own}) > 1]
    assert crossing == [*range(3 * TRACK, 4 * TRACK), *range(6 * TRACK, 7 * TRACK)]
    whole = [number for number in range(len(capsules)) if number not in set(crossing)]
    for number in whole:
        places = [device.locate(lbn) for lbn in capsules[number]]
        assert len({(place.cylinder, place.row, place.cell) for place in places}) == 1
        assert [place.track for place in places] == [(places[0].track + page) for page in range(3)]
        assert len(figure6.classes(device, capsules[number])) == 1


def test_a_split_table_leaves_nothing_empty() -> None:
    device = ss.device("cmu2003")
    assert figure6.empty(figure6.table(device, 30, split=True), device) == 0


# Writes, padding, other layouts


def test_a_record_of_vertical_is_written_and_read_in_four_places() -> None:
    values = found("updates").values
    assert (values["read_accesses"], values["joins"]) == (4, 3)
    assert values["update_times"] == values["append_times"] == 4


def test_gaps_between_capsules_are_all_used() -> None:
    assert found("padding").values == {"filled_percent": 100, "shared_blocks": 0}


def test_scans_of_a_column_differ_by_the_ways_between_its_tracks() -> None:
    """A track of vertical follows the one before; where none is split, a1 is a cylinder away."""
    padded = PAPER.setup("vertical", "padded")
    series = vertical.simulate(quick=True, setup=padded).series
    tracks = sample.QUICK_RECORDS / 60 / TRACK
    more_ms = 1e3 * (series["capsule_s"]["a1"] - series["vertical_s"]["a1"]) / tracks
    assert 0.1 < more_ms < 0.4, "a seek over a cylinder instead of a turn"
    for name, pages in PAGES.items():
        least = tracks * pages * (27 * ROW_S + 0.2e-3)
        assert series["vertical_s"][name] > least


def test_micropositioning_leaves_scans_as_they_are() -> None:
    values = found("micropositioning").values
    assert values["unchanged"] == pytest.approx([1, 1, 1], abs=1e-4)
    assert values["more_choices"] == 10


def test_a_table_of_random_bytes() -> None:
    """Of the widths and the length asked for, the same each time, and not all alike."""
    data = sample.records(600_001)
    widths = {name: data.schema.field(name).type.byte_width for name in data.schema.names}
    assert widths == sample.WIDTHS
    assert data.num_rows == 600_001
    assert data.equals(sample.records(600_001))
    assert len(set(data["a1"].to_pylist())) > 600_000


def test_missing_pyarrow_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ss.SledsimError, match="need pyarrow: pip install pyarrow"):
        sample.records(1)
