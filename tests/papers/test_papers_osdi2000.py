"""OSDI 2000: expected values of its items, computed independently, and invariants."""

import json
from math import exp, log
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers.osdi2000 import curves, figure9, figure10, figure11, gaps, parts, table2

from tests.independent.osdi2000 import (
    BIT_M,
    HALF_M,
    OLDER_BITS,
    SETTLE_MS,
    SPEED_M_S,
    SPRINGS,
    turnaround_ms,
    x_seek_ms,
)
from tests.paper_items import Paper

RPM, OUTER, INNER = 10_025, 334, 229
"""Of the Atlas 10K: its data sheet's zones, its measured speed."""
SLED: dict[str, Any] = {"inactive_after_ms": float("inf")}
"""Between requests the sled stays ready."""


PAPER = Paper("osdi2000")
found, number = PAPER.found, PAPER.number


def atlas(**keys: Any) -> ss.Disk:
    disk = ss.device("atlas10k", **keys)
    assert isinstance(disk, ss.Disk)
    return disk


def test_a_disk_comes_round_to_the_same_sectors() -> None:
    """Read, wait and write of n sectors take a revolution and n sectors, whatever n."""
    turn_ms = 6e4 / RPM
    for sectors in (1, 8, 100, OUTER):
        times = table2.disk_ms(atlas(), sectors)
        passed_ms = sectors / OUTER * turn_ms
        assert times["read"] == times["write"] == pytest.approx(passed_ms)
        assert sum(times.values()) == pytest.approx(turn_ms + passed_ms, abs=1e-5)


@pytest.mark.parametrize(("sectors", "rows"), [(8, 1), (334, 17)])
def test_sled_times_are_those_of_the_rows_read_and_written(sectors: int, rows: int) -> None:
    """A row takes 90 bits at access velocity, either way."""
    device = ss.device("osdi2000", **SLED)
    row_ms = 1e3 * 90 * BIT_M / SPEED_M_S
    for in_order in (False, True):
        times = table2.sled_ms(device, sectors, in_order=in_order)
        assert times["read"] == pytest.approx(rows * row_ms)
        assert times["write"] == pytest.approx(rows * row_ms)
        assert times["reposition"] >= turnaround_ms(HALF_M)


def test_the_squares_of_figure_9_tile_their_middle() -> None:
    device = ss.device("osdi2000", **SLED)
    for side_bits, rows, cylinders in ((400, 23, 2000), (500, 27, 2500)):
        across = [figure9.square(device, side_bits, place, place) for place in range(5)]
        columns = [cylinder for covered, _ in across for cylinder in covered]
        heights = [row for _, covered in across for row in covered]
        assert len(set(columns)) == len(columns) == cylinders
        assert sum(columns) == cylinders * 2499 / 2  # around the middle of 0 to 2499
        assert len(set(heights)) == len(heights) == rows
        assert sum(heights) == 13 * rows  # the middle row


def test_turnarounds_are_those_of_stronger_springs() -> None:
    """The published ones follow from a displacement counted in 1000 bits."""
    for end, place_m in {"min": HALF_M, "max": -HALF_M}.items():
        for reading, more in (("", ()), ("authors_code", (OLDER_BITS * BIT_M,))):
            value = number("turnarounds", f"turnaround_{end}_ms", reading)
            assert value == pytest.approx(turnaround_ms(place_m, *more), rel=1e-6)


def test_rates_are_those_of_zones_and_revolutions() -> None:
    for reading, rpm in (("", 10_000), ("measured_rpm", RPM)):
        for key, sectors in (("outer", OUTER), ("inner", INNER)):
            rate = sectors * 512e-6 / (60 / rpm)
            assert number("rates", f"disk_{key}_mb_s", reading) == pytest.approx(rate)


def test_short_seeks_are_those_of_the_equation_of_motion() -> None:
    """From the centre to the edge, outwards; back takes as long."""
    values = found("distances").values["by_place_ms"]
    assert isinstance(values, list)
    half_m = 50 * BIT_M
    for number, got in enumerate(values):
        place_m = number * (HALF_M - half_m) / (len(values) - 1)
        assert got == pytest.approx(x_seek_ms(place_m - half_m, place_m + half_m), rel=1e-6)


def test_table_2_waits_for_revolutions_and_turns() -> None:
    values = found("table2").values
    turn_ms = 6.0
    assert values["atlas_8_reposition_ms"] == pytest.approx(turn_ms * (1 - 8 / OUTER), abs=1e-5)
    assert values["atlas_8_total_ms"] == pytest.approx(turn_ms * (1 + 8 / OUTER), abs=1e-5)
    end_m = 40 * BIT_M  # 45 bits above the middle of the row, but for half a servo field
    assert values["mems_8_reposition_ms"] == pytest.approx(turnaround_ms(end_m), rel=1e-6)
    # A direction for the whole run: the last row first, as if the rows were written by hand.
    run, rows = (
        number("table2", "mems_334_reposition_ms", reading)
        for reading in ("best_run", "row_by_row")
    )
    assert run == pytest.approx(rows)


@pytest.mark.parametrize(
    ("reading", "spreads"),
    [
        ("", (4, 9)),
        ("authors_code", (7, 15)),
        ("whole_region", (7.5, 15)),
        ("whole_region_authors", (15, 30)),
    ],
)
def test_figure_9_has_the_spreads_of_an_independent_program(
    reading: str, spreads: tuple[float, float]
) -> None:
    """In per cent: settled and unsettled, as computed from the equations of section 2 alone."""
    setup = PAPER.setup("figure9", reading)
    places = [figure9.CENTRE, *figure9.OUTERMOST[setup["outermost"]]]
    found = figure9.grid(setup, places, 4000)
    got = [
        100 * (figure9.outer_ms(means, setup) / means[figure9.CENTRE] - 1)
        for means in found.values()
    ]
    assert got == pytest.approx(spreads, abs=1)


def test_layouts_against_an_independent_program() -> None:
    """The savings in per cent, with settling and without; the organ pipe over its laws."""
    other = {1: {"subregioned": 14.3, "columnar": 12}, 0: {"subregioned": 18.5, "columnar": 5.5}}
    pipes = {1: (3, 12), 0: (2, 6)}
    setup = PAPER.setup("figure11")
    for constants, savings in other.items():
        device = parts.bare_sled(setup, settling_constants=constants)
        times = figure11.layouts_ms(device, 2, setup)
        for name, percent in savings.items():
            got = figure11.gain(times[name], times["simple"])
            assert got == pytest.approx(percent, abs=1.5), (constants, name)
        low, high = pipes[constants]
        assert low < figure11.gain(times["organ pipe"], times["simple"]) < high


def test_an_organ_pipe_of_equal_frequencies_saves_nothing() -> None:
    device = parts.sled(PAPER.setup("figure11"))
    simple_ms = figure11.simple_ms(device, 2)
    assert figure11.pipe_ms(device, 2, 0, 800) == pytest.approx(simple_ms, rel=0.01)


def test_figure_10_is_the_transfer_and_a_seek() -> None:
    """Rows at access velocity, and then bounds from the time that X takes from edge to edge."""
    document = found("figure10")
    zero_ms, longest_ms = (document.series["MEMS"]["ms"][place] for place in (0, -1))
    rows_ms = 1e3 * 90 * BIT_M / SPEED_M_S * (1 + 511 / 20)  # mean over where a row begins
    # Without a move in X: less than the longest Y seek, half the way on average, and one turn.
    assert rows_ms < zero_ms < rows_ms + x_seek_ms(-HALF_M, HALF_M)
    # From edge to edge X is all there is, whatever Y does: the seek, and no more of the rest than
    # without a move.
    assert longest_ms > rows_ms + x_seek_ms(-HALF_M, HALF_M)
    assert longest_ms - zero_ms < x_seek_ms(-HALF_M, HALF_M)


def test_large_reads_of_the_disk() -> None:
    """1.53 tracks: half a revolution and a skew more than the transfer, before the arm moves."""
    disk = parts.disk(PAPER.setup("figure11"), rpm=RPM, buffer={"keep": "nothing"})
    turn_ms, skew_ms = 6e4 / RPM, 63 / OUTER * 6e4 / RPM
    none_ms, far_ms = figure10.disk_ms(disk, [0, 10_041], 4000)
    passed_ms = 512 / OUTER * turn_ms
    assert none_ms == pytest.approx(0.94 + turn_ms / 2 + passed_ms + skew_ms, abs=0.6)
    assert far_ms - none_ms == pytest.approx(10.83 - 0.94, abs=0.04)  # its longest seek, and none


def test_a_second_pass_is_a_turnaround_and_a_row() -> None:
    """And a seek error a servo field on, two turnarounds, and a cylinder aside with settling."""
    pytest.importorskip("pyarrow")
    servo_ms = 1e3 * 10 * BIT_M / SPEED_M_S
    turns = turnaround_ms(HALF_M), turnaround_ms(-HALF_M)
    for name, key in (("errors", "reposition_ms"), ("parity", "verify_reposition_ms")):
        took = number(name, key)
        assert turns[0] < took < servo_ms + turns[1]
    longest_ms: Any = found("seek_errors").values["longest_ms"]
    assert SETTLE_MS < longest_ms["MEMS"] < 0.5 * SETTLE_MS + 2 * turns[1] + 2 * servo_ms


def test_savings_are_what_the_powers_of_the_sled_allow() -> None:
    """Of 100 mW for the sled and 1 for each tip: a quarter of the tips of a block, half at rest."""
    load = ss.workload(requests=2000, read_fraction=1, size="fixed", mean_size_kib=0.5)
    summary = ss.simulate(load, ss.device("g2"), rows=False).summary
    seek_ms, row_ms = (summary[part]["mean"] for part in ("seek_ms", "transfer_ms"))
    saved = 48 * row_ms / (100 * seek_ms + 164 * row_ms)
    sub_sector, spin_down, together = (
        Paper("lin2002").number("savings", key) for key in ("sub_sector", "spin_down", "together")
    )
    assert sub_sector == pytest.approx(100 * saved, rel=0.03)
    assert spin_down <= together + 1e-9 < 50


def test_mean_turnaround_of_random_rows() -> None:
    """Turning once at a uniform height, outwards or inwards: the integral of 1/(1 + s u).

    A sled that may choose turns less: the item's mean lies below this and above the least.
    """
    s = SPRINGS
    uniform_ms = turnaround_ms(0) * log((1 + s) / (1 - s)) / (2 * s)
    assert turnaround_ms(HALF_M) < number("turnarounds", "turnaround_mean_ms") < uniform_ms


@pytest.mark.parametrize("depth", [1, 64])
def test_closed_loops_keep_littles_law(depth: int) -> None:
    for name in curves.SCHEDULERS:
        run = gaps.closed(ss.device("osdi2000", **SLED), name, 20_000, 2, depth)
        assert run["per_s"] * run["response_ms"] / 1e3 == pytest.approx(depth, rel=0.02)


def test_the_random_load_is_that_of_section_3() -> None:
    """FCFS on g2 at 500 and 1000 a second: 1.236 and 2.30 ms, for sizes 6 % shorter."""
    for rate, mean_ms in ((500, 1.236), (1000, 2.30)):
        load = curves.random_load(rate, 50_000)
        point = curves.measure(load, ss.device("osdi2000", **SLED), "FCFS", replications=3)
        assert mean_ms < point.mean_ms < 1.05 * mean_ms
        summary = ss.simulate(load, ss.device("memory"), rows=False).summary
        assert summary["read_fraction"] == pytest.approx(0.67, abs=0.01)
        blocks = (summary["blocks_read"] + summary["blocks_written"]) / summary["requests"]
        assert blocks == pytest.approx(1 / (1 - exp(-1 / 8)), rel=0.02)


def test_curves_against_an_independent_program() -> None:
    """Mean response times in ms of g2 at 1500 requests a second; ours within 5 %."""
    device = ss.device("osdi2000", **SLED)
    other = {"C-LOOK": 5.50, "SSTF_LBN": 5.07, "SPTF": 4.74}
    for scheduler, mean_ms in other.items():
        load = ss.workload(rate=1500, requests=50_000, size="geometric", warm_up_requests=2500)
        point = curves.measure(load, device, scheduler, replications=4)
        assert point.mean_ms == pytest.approx(mean_ms, rel=0.05), scheduler


def test_a_knee_lies_where_the_curve_says() -> None:
    """Of 1 / (1 - load), the response time of a queue with one exponential server."""
    loads = [step / 100 for step in range(50, 100)]
    points = [curves.Point(1 / (1 - load), 1, None, saturated=False) for load in loads]
    curve = curves.Curve(loads, points)
    assert curve.knee(5) == pytest.approx(0.8)
    assert curve.knee(30) == pytest.approx(1 - 1 / 30, abs=5e-4)  # a step is 0.01
    assert curve.at(0.805) == pytest.approx(1 / 0.195, rel=1e-3)
    assert curve.turns(0.5, 0.99) == 0
    with pytest.raises(ValueError, match="reaches 200"):
        curve.knee(200)
    bent = curves.Curve([1, 2, 3, 4], [points[9], points[8], points[10], points[7]])
    assert bent.turns(1, 4) == 2
    assert bent.turns(2, 3) == 0


def test_steps_between_knees() -> None:
    knees = {"FCFS": 10.0, "C-LOOK": 15.0, "SSTF_LBN": 16.0, "SPTF": 19.0}
    assert curves.steps(knees) == {"from FCFS": 5.0, "widest among the others": 3.0}


def test_an_item_runs_and_says_which_load_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """End to end; and a trace that appears or disappears is not served from stored results."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setenv("SLEDSIM_SHARED", str(folder))
    figure = Paper("osdi2000").item("figure7a")
    monkeypatch.setattr("sledsim.papers.osdi2000.traces.REQUESTS", 8000)

    def run() -> tuple[dict[str, Any], bytes]:
        (result,) = papers.run([figure], tmp_path, quick=True, workers=1)
        written = tmp_path / "quick" / "osdi2000" / "figure7a.json"
        assert json.loads(written.read_text("utf-8"))["how"] == result.document["how"]
        return result.document, written.read_bytes()

    document, first = run()
    assert "This run used a generator" in document["how"]
    load = ss.workload("random", rate=40, requests=8000, seed=7)
    trace = tmp_path / "made.trace"
    ss.generate_trace(load, str(trace), blocks=6_750_000)
    (folder / "hplajw-1992-week.srt").write_bytes(trace.read_bytes())
    document, second = run()
    assert "This run replayed the trace" in document["how"]
    (folder / "hplajw-1992-week.srt").unlink()
    assert run()[1] == first != second
