"""CMU-CS-03-125: expected values of its items, computed independently."""

import random
import sys
from collections.abc import Iterable

import pytest
import sledsim as ss
from sledsim.papers.cmu_cs_03_125 import equations, figure2, interface, utilization
from sledsim.papers.cmu_cs_03_125.example import example
from sledsim.papers.judge import agrees

from tests.independent import cmu_cs_03_125 as independent
from tests.paper_items import Paper

PAPER = Paper("cmu-cs-03-125")
found, number, stated = PAPER.found, PAPER.number, PAPER.stated
SPEED_M_S, BIT_M = 0.028, 40e-9
ROWS, SQUARES = 27, 100


# Table 1, sections 2.1 and 2.2


def test_streaming_from_rows_servo_fields_and_turnarounds() -> None:
    """A track is 27 rows; two servo fields and a turnaround lead to the next."""
    blocks, row_s = ROWS * 10, 90 * BIT_M / SPEED_M_S
    assert blocks * 512 / (ROWS * row_s) / 2**20 == pytest.approx(38, abs=0.05), "of 2^20 bytes"
    simulated = number("table1", "stream_mb_s")
    assert simulated == pytest.approx(independent.streaming_mb_s(), rel=0.005)


def test_a_tip_reads_a_sector_as_long_as_its_bits_last() -> None:
    seek_ms = number("table1", "seek_ms")
    for reading, bits in (("", 64 * 90), ("user_bits", 512 * 8)):
        simulated = number("single_tip", "sector_seeks", reading)
        assert simulated == pytest.approx(bits * BIT_M / SPEED_M_S * 1e3 / seek_ms)


# Figure 2


def test_the_figure_is_that_of_its_map_alone_and_has_every_block_once() -> None:
    layout = next(value for value in PAPER.item("figure2").values if value.key == "layout")
    assert agrees(layout, figure2.written(example()))
    assert not agrees(layout, figure2.written(example(lbn_map="ascending")))
    lines = stated("figure2", "layout")["published"]
    lbns = [int(lbn) for line in lines for lbn in line.replace("|", "").split()]
    assert sorted(lbns) == list(range(81))


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
    assert both.equivalent(shape, [2700]).tolist() == [ss.device("cmu2003").equivalent(2700)]


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
    expected = stated("equations", "g2_percent")["expected"]["value"]
    assert percent == pytest.approx(expected, abs=5e-4)


def geometries(parity: int) -> Iterable[ss.Sled]:
    """Yield small devices with an odd or even number of squares in Y, some micropositioned."""
    chance = random.Random(1)
    for _ in range(20):
        cells, sets = chance.randint(1, 7), 2 * chance.randint(1, 4) - parity
        columns, rows = chance.randint(1, 7), chance.randint(1, 7)
        yield ss.device(
            "cmu2003",
            tips=cells * sets * 64,
            active_tips=cells * 64,
            travel_x_um=columns * BIT_M * 1e6,
            travel_y_um=(rows * 90 + 10) * BIT_M * 1e6,
            micropositioning_cylinders=chance.randint(0, 2),
        )


@pytest.mark.parametrize("parity", [0, 1])
def test_the_two_parities_agree_for_odd_numbers_of_sets_only(parity: int) -> None:
    for device in geometries(parity):
        shape = device.parallelism
        assert shape.N_y % 2 == parity
        columns = range(shape.S_x)
        mistaken = equations.mistaken_percent(device, columns)
        for name, agree in (("both", True), ("remainder", parity == 1)):
            # One row is the same from both ends, and column 0 has no tracks before it.
            visible = not agree and shape.S_y > 1 and (shape.S_x > 1)
            assert (mistaken[name] > 0) == visible, shape


@pytest.mark.parametrize(
    # Nine of ten sets; odd columns.
    ("reading", "percent"),
    [("both", 0), ("parity", 90), ("remainder", 100 * (1 - 1 / ROWS) / 2)],
)
def test_equations_of_the_item(reading: str, percent: float) -> None:
    values = found("equations", reading).values
    assert values["simple_percent"] == 0
    assert values["g2_percent"] == pytest.approx(percent)
    assert values["track_blocks"] == ROWS * 10 - 1


# Utilization


def test_rows_that_requests_pass() -> None:
    """By the rows of the blocks themselves, for every place of a request in two cylinders."""
    device = ss.device("cmu2003")
    row_s = utilization.row_s(device)
    for lbn in range(2 * 2700 - 8):
        places = [device.locate(other) for other in range(lbn, lbn + 8)]
        rows = len({(place.cylinder, place.row) for place in places})
        assert utilization.rows_read(device, lbn, row_s) == rows

    # Two of five aligned places leave a request in its row, three of ten any. At nine of the ten
    # ends of the tracks of a cylinder the next track begins in the same row; of these nine, seven
    # lie within an aligned request.
    for reading, mean in (("", 56 + 40 * 7 / (2700 / 8)), ("unaligned", 52 + 40 * 7 * 9 / 2700)):
        setup = PAPER.setup("table4", reading)
        found = utilization.simulate(quick=True, setup=setup).series["mean_percent"]
        assert found == pytest.approx(mean, abs=1.2)


# Sections 1, 3.3, 3.4 and 5.2.7


def test_a_window_delays_what_links_do_not() -> None:
    series = found("batching").series
    for name, took in series["group_ms"].items():
        assert min(took, key=took.__getitem__) == "linked batch", name
    assert series["whole_percent"]["two hosts"]["0.1 ms"] < 100


def test_another_command_starts_before_or_after_linked_ones() -> None:
    """With and without SCSI."""
    wanted = {"parallelism": 10, "boundaries_last": 269, "linked_between": 0, "linked_passes": 1}
    wanted |= {"mode_sense": 10, "read_capacity": 269, "link_bit": 1, "link_bit_between": 0}
    values = found("interface").values
    assert {key: values[key] for key in wanted} == wanted


def test_a_host_needs_the_corrected_equations() -> None:
    printed, corrected = (found("interface", reading).values for reading in ("", "both"))
    for key in ("host_equivalent", "host_conflicting"):
        assert corrected[key] == 0 != printed[key]
    # Wrong are nine sets of tips of ten in even cylinders, and all but five of 270 rows in odd
    # ones, as for the item of the equations: 94.07 % of 20 classes of 100 blocks.
    assert printed["host_equivalent"] == pytest.approx(0.9407 * 2000, rel=0.05)


def test_the_device_stands_for_a_target_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interface, "over_scsi", lambda *_: pytest.fail("there is no emulator"))
    monkeypatch.setattr(sys, "platform", "elsewhere")
    alone = interface.simulate(quick=True, setup=PAPER.setup("table4"))
    assert alone.values == found("interface").values
    assert alone.note == interface.NO_TARGET


def test_a_hundredfold_is_less_for_the_ways_between_tracks() -> None:
    """A scan of one attribute of a hundred goes on to a track 100 tracks farther each time."""
    values = found("hundredfold").values
    track_ms = ROWS * 90 * BIT_M / SPEED_M_S * 1e3
    all_ms, one_ms = track_ms + 0.2 + 0.07, track_ms + 0.2 + 0.25  # a turn, and a seek
    assert values["bandwidth_times"] == pytest.approx(100 * all_ms / one_ms, rel=0.04)
    assert 10 < number("hundredfold", "specific_times") < 100, (
        "ten blocks a pass, and seeks between cylinders"
    )
