"""OSDI 2000: expected values of its items, computed independently, and invariants."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import asin, exp, hypot, log, pi, sqrt
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers import Found, judge
from sledsim.papers.osdi2000 import curves, figure9, figure10, figure11, gaps, table2

from tests import paper_items

PUSH_M_S2, HALF_M, SPRINGS, SPEED_M_S, BIT_M = 803.6, 50e-6, 0.75, 0.028, 40e-9
SETTLE_MS = 1e3 / (2 * pi * 739)
RPM, OUTER, INNER = 10_025, 334, 229
"""Of the Atlas 10K: its data sheet's zones, its measured speed."""


def found(name: str) -> Found:
    return paper_items.simulate(f"osdi2000/{name}")


def explained(name: str, key: str) -> Any:
    stated = paper_items.stated(f"osdi2000/{name}")[key]["explained"]
    return pytest.approx(stated["expected"], abs=stated["tolerance"])


def turnaround_ms(place_m: float, reference_m: float = HALF_M) -> float:
    """Twice the speed over the net push, moving outwards above the centre."""
    return 2e3 * SPEED_M_S / (PUSH_M_S2 * (1 + SPRINGS * place_m / reference_m))


def x_seek_ms(start_m: float, end_m: float) -> float:
    """Hong and Brandt's solution for a move from rest to rest, with two inverse sines each."""
    w2 = SPRINGS * PUSH_M_S2 / HALF_M
    centre = PUSH_M_S2 / w2
    switch = (start_m + end_m) / 2 + w2 / (4 * PUSH_M_S2) * (end_m**2 - start_m**2)
    one, two = hypot(start_m - centre, 0), hypot(end_m + centre, 0)
    first = asin(max(-1, min(1, (switch - centre) / one))) - asin((start_m - centre) / one)
    last = asin((end_m + centre) / two) - asin(max(-1, min(1, (switch + centre) / two)))
    return 1e3 * (first + last) / sqrt(w2) + SETTLE_MS


def test_the_claims_expect_closed_forms() -> None:
    turn_s = 60 / RPM
    assert OUTER * 512e-6 / turn_s == explained("claims", "disk_outer_mb_s")
    assert INNER * 512e-6 / turn_s == explained("claims", "disk_inner_mb_s")
    assert x_seek_ms(-HALF_M, HALF_M) == explained("claims", "seek_max_ms")
    assert turnaround_ms(HALF_M) == explained("claims", "turnaround_min_ms")
    assert turnaround_ms(-HALF_M) == explained("claims", "turnaround_max_ms")
    # The published ones follow from a displacement counted in 1000 bits.
    published = {value.key: value.published for value in item("claims").values}
    reference_m = 1000 * BIT_M
    shortest, longest = (turnaround_ms(way * HALF_M, reference_m) for way in (1, -1))
    assert shortest == pytest.approx(published["turnaround_min_ms"], abs=0.0005)
    assert longest == pytest.approx(published["turnaround_max_ms"], abs=0.006)


def item(name: str) -> papers.Item:
    (one,) = papers.find([f"osdi2000/{name}"])
    return one


def test_table_2_expects_revolutions_and_turnarounds() -> None:
    turn_ms = 6e4 / RPM
    passed_ms = 8 / OUTER * turn_ms
    assert turn_ms - passed_ms == explained("table2", "atlas_8_reposition_ms")
    assert turn_ms + passed_ms == explained("table2", "atlas_8_total_ms")
    servo_ms = 1e3 * 10 * BIT_M / SPEED_M_S
    end_m = 40 * BIT_M  # 45 bits above the middle of the row, but for half a servo field
    assert servo_ms + turnaround_ms(end_m) == explained("table2", "mems_8_reposition_ms")


def atlas(**keys: Any) -> ss.Disk:
    disk = ss.device("atlas10k", **keys)
    assert isinstance(disk, ss.Disk)
    return disk


def test_a_disk_comes_round_to_the_same_sectors() -> None:
    """Read, wait and write of n sectors take a revolution and n sectors, whatever n."""
    turn_ms = 6e4 / RPM
    for sectors in (1, 8, 100, OUTER):
        for arm in (False, sectors < OUTER / 2):
            times = table2.disk_ms(atlas(), sectors, arm=arm)
            passed_ms = sectors / OUTER * turn_ms
            assert times["read"] == times["write"] == pytest.approx(passed_ms)
            assert sum(times.values()) == pytest.approx(turn_ms + passed_ms, abs=1e-5)


@pytest.mark.parametrize(("sectors", "rows"), [(8, 1), (334, 17)])
def test_sled_times_are_those_of_the_rows_read_and_written(sectors: int, rows: int) -> None:
    """A row takes 90 bits at access velocity, either way."""
    device = ss.device("osdi2000")
    row_ms = 1e3 * 90 * BIT_M / SPEED_M_S
    for in_order in (False, True):
        times = table2.sled_ms(device, sectors, in_order=in_order)
        assert times["read"] == pytest.approx(rows * row_ms)
        assert times["write"] == pytest.approx(rows * row_ms)
        assert times["reposition"] >= times["turnaround"]


def test_figure_9_has_the_eight_spreads_of_an_independent_program() -> None:
    """In per cent: settled and unsettled, as computed from the equations of section 2 alone."""
    squares = {
        (400, 40): (7, 15),
        (400, 50): (4, 9),
        (500, 50): (7.5, 15),
        (500, 40): (15, 30),
    }
    for (side_bits, reference_um), spreads in squares.items():
        got = figure9.spreads(4000, side_bits, reference_um)
        assert tuple(got.values()) == pytest.approx(spreads, abs=1), (side_bits, reference_um)


def test_the_squares_of_figure_9_tile_their_middle() -> None:
    device = ss.device("osdi2000")
    for side_bits, rows, cylinders in ((400, 23, 2000), (500, 27, 2500)):
        across = [figure9.square(device, side_bits, place, place) for place in range(5)]
        columns = [cylinder for covered, _ in across for cylinder in covered]
        heights = [row for _, covered in across for row in covered]
        assert len(set(columns)) == len(columns) == cylinders
        assert sum(columns) == cylinders * 2499 / 2  # around the middle of 0 to 2499
        assert len(set(heights)) == len(heights) == rows
        assert sum(heights) == 13 * rows  # the middle row


def test_layouts_against_an_independent_program() -> None:
    """The savings in per cent, with settling and without; the organ pipe over its laws."""
    other = {1: {"subregioned": 14.3, "columnar": 12}, 0: {"subregioned": 18.5, "columnar": 5.5}}
    pipes = {1: (3, 12), 0: (2, 6)}
    for constants, savings in other.items():
        bare = {"command_overhead_ms": 0, "bus_ms_per_block": 0}
        device = ss.device("osdi2000", settling_constants=constants, **bare)
        times = figure11.layouts_ms(device, figure11.LAW, seeds=2)
        for name, percent in savings.items():
            got = figure11.gain(times[name], times["simple"])
            assert got == pytest.approx(percent, abs=1.5), (constants, name)
        low, high = pipes[constants]
        assert low < figure11.gain(times["organ pipe"], times["simple"]) < high


def test_an_organ_pipe_of_equal_frequencies_saves_nothing() -> None:
    device = ss.device("osdi2000")
    assert figure11.pipe_ms(device, 0, 2) == pytest.approx(figure11.simple_ms(device, 2), rel=0.01)


def test_figure_10_is_the_transfer_and_a_seek() -> None:
    """Rows at access velocity, and then bounds from the time that X takes from edge to edge."""
    values = found("figure10").values
    rows_ms = 1e3 * 90 * BIT_M / SPEED_M_S * (1 + 511 / 20)  # mean over where a row begins
    zero_ms = values["zero_ms"]
    assert isinstance(zero_ms, float)
    # Without a move in X: less than the longest Y seek, half the way on average, and one turn.
    assert rows_ms < zero_ms < rows_ms + x_seek_ms(-HALF_M, HALF_M)
    # From edge to edge X is all there is, whatever Y does: the seek, and no more of the rest than
    # without a move.
    most = values["most_percent"]
    assert isinstance(most, float)
    longest_ms = zero_ms * (1 + most / 100)
    assert longest_ms > rows_ms + x_seek_ms(-HALF_M, HALF_M)
    assert longest_ms - zero_ms < x_seek_ms(-HALF_M, HALF_M)


def test_large_reads_of_the_disk() -> None:
    """1.53 tracks: half a revolution and a skew more than the transfer, before the arm moves."""
    disk = atlas(buffer={"keep": "nothing"}, bus_ms_per_block=0.00512)
    turn_ms, skew_ms = 6e4 / RPM, 63 / OUTER * 6e4 / RPM
    none_ms, far_ms = figure10.disk_ms(disk, [0, 10_041], 4000)
    passed_ms = 512 / OUTER * turn_ms
    assert none_ms == pytest.approx(0.94 + turn_ms / 2 + passed_ms + skew_ms, abs=0.6)
    assert far_ms - none_ms == pytest.approx(10.83 - 0.94, abs=0.04)  # its longest seek, and none
    expected = explained("figure10", "disk_times")
    assert far_ms / none_ms == expected
    assert (none_ms + 9.89) / none_ms == expected


@pytest.mark.parametrize("depth", [1, 64])
def test_closed_loops_keep_littles_law(depth: int) -> None:
    for name in curves.SCHEDULERS:
        run = gaps.closed(ss.device("osdi2000"), name, 20_000, 2, depth)
        assert run["per_s"] * run["response_ms"] / 1e3 == pytest.approx(depth, rel=0.02)


def test_the_random_load_is_that_of_section_3() -> None:
    """FCFS on g2 at 500 and 1000 a second: 1.236 and 2.30 ms, for sizes 6 % shorter."""
    for rate, mean_ms in ((500, 1.236), (1000, 2.30)):
        load = curves.random_load(rate, 50_000)
        point = curves.measure(load, ss.device("osdi2000"), "FCFS", seeds=3)
        assert mean_ms < point.mean_ms < 1.05 * mean_ms
        summary = ss.simulate(load, ss.device("memory"), requests=False).summary
        assert summary["read_fraction"] == pytest.approx(0.67, abs=0.01)
        blocks = (summary["blocks_read"] + summary["blocks_written"]) / summary["requests"]
        assert blocks == pytest.approx(1 / (1 - exp(-1 / 8)), rel=0.02)


def test_curves_against_an_independent_program() -> None:
    """Mean response times in ms of g2 at 1500 requests a second; ours within 5 %."""
    device = ss.device("osdi2000")
    other = {"C-LOOK": 5.50, "SSTF_LBN": 5.07, "SPTF": 4.74}
    for scheduler, mean_ms in other.items():
        load = ss.workload(rate=1500, requests=50_000, size="geometric", warm_up_requests=2500)
        point = curves.measure(load, device, scheduler, seeds=4)
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


def test_verdicts_on_sptf_turns_and_the_longest_seek() -> None:
    (turns,) = [value for value in item("figure6a").values if value.key == "sptf_turns"]
    assert judge.judge(turns, 0) == "explained"
    assert judge.judge(turns, 1) == "reproduced"
    (far,) = [value for value in item("claims").values if value.key == "seek_max_ms"]
    without_settling_ms = x_seek_ms(-HALF_M, HALF_M) - SETTLE_MS
    assert judge.judge(far, without_settling_ms) == "missed"


def test_an_item_runs_and_says_which_load_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """End to end; and a trace that appears or disappears is not served from stored results."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setenv("SLEDSIM_SHARED", str(folder))
    figure = item("figure7a")
    monkeypatch.setattr("sledsim.papers.osdi2000.traces.REQUESTS", 8000)

    def run() -> tuple[dict[str, Any], bytes]:
        (result,) = papers.run([figure], tmp_path, quick=True, workers=1)
        assert result.verdict == "reproduced"
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


def test_a_second_pass_is_a_row_and_a_turnaround() -> None:
    """And a seek error a servo field on, two turnarounds, and a cylinder aside with settling."""
    pytest.importorskip("pyarrow")
    values = found("failures").values
    row_ms, servo_ms = (1e3 * bits * BIT_M / SPEED_M_S for bits in (90, 10))
    turns = turnaround_ms(HALF_M), turnaround_ms(-HALF_M)
    reread, seek_error_ms = values["reread"], values["seek_error_ms"]
    assert isinstance(reread, Mapping)
    assert isinstance(seek_error_ms, float)
    assert row_ms + turns[0] < reread["MEMS"] < row_ms + servo_ms + turns[1]
    assert SETTLE_MS < seek_error_ms < 0.5 * SETTLE_MS + 2 * turns[1] + 2 * servo_ms


def test_savings_expect_what_the_powers_of_the_sled_allow() -> None:
    """Of 100 mW for the sled and 1 for each tip: a quarter of the tips of a block, half at rest."""
    load = ss.workload(requests=2000, read_fraction=1, size="fixed", mean_size_kib=0.5)
    summary = ss.simulate(load, ss.device("g2"), requests=False).summary
    seek_ms, row_ms = (summary[part]["mean"] for part in ("seek_ms", "transfer_ms"))
    saved = 48 * row_ms / (100 * seek_ms + 164 * row_ms)
    assert 100 * saved == explained("power", "sub_sector")
    pytest.importorskip("pyarrow")
    values = found("power").values
    assert values["sub_sector"] == pytest.approx(100 * saved, rel=0.03)
    spin_down, together = values["spin_down"], values["together"]
    assert isinstance(spin_down, float)
    assert isinstance(together, float)
    assert spin_down <= together + 1e-9 < 50


def test_mean_turnaround_of_random_rows() -> None:
    """Turning once at a uniform height, outwards or inwards: the integral of 1/(1 + s u).

    A sled that may choose turns less: the item's mean lies below this and above the least.
    """
    s = SPRINGS
    uniform_ms = turnaround_ms(0) * log((1 + s) / (1 - s)) / (2 * s)
    mean_ms = found("claims").values["turnaround_mean_ms"]
    assert isinstance(mean_ms, float)
    assert turnaround_ms(HALF_M) < mean_ms < uniform_ms
