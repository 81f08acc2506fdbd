"""SIGMETRICS 2000: expected values of its items, computed independently."""

from __future__ import annotations

import random
from math import asin, hypot, pi, sqrt
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers import Found

from tests import paper_items

PUSH_M_S2, HALF_M, SPRINGS, SPEED_M_S = 114.8, 50e-6, 0.75, 0.02
SETTLE_MS = 1e3 / (2 * pi * 220)
BIT_M, ROW_BITS, ROWS = 50e-9, 90, 22
SAMPLES = Path(ss.__file__).parent / "data" / "traces"


def found(name: str) -> Found:
    return paper_items.simulate(f"sigmetrics2000/{name}")


def expected(name: str) -> dict[str, dict[str, Any]]:
    values = paper_items.stated(f"sigmetrics2000/{name}")
    return {key: value["explained"] for key, value in values.items() if "explained" in value}


def travel_ms(start_m: float, end_m: float, speed_m_s: float, push_m_s2: float) -> float:
    """Hong and Brandt's solution for two pushes, with two inverse sines each."""
    if start_m > end_m:
        start_m, end_m = -start_m, -end_m
    w2 = SPRINGS * push_m_s2 / HALF_M
    w, centre = sqrt(w2), push_m_s2 / w2
    switch = (start_m + end_m) / 2 + w2 / (4 * push_m_s2) * (end_m**2 - start_m**2)
    one, two = hypot(start_m - centre, speed_m_s / w), hypot(end_m + centre, speed_m_s / w)
    first = asin(max(-1, min(1, (switch - centre) / one))) - asin((start_m - centre) / one)
    last = asin((end_m + centre) / two) - asin(max(-1, min(1, (switch + centre) / two)))
    return 1e3 * (first + last) / w


def turnaround_ms(place_m: float, way: int) -> float:
    return 2e3 * SPEED_M_S / (PUSH_M_S2 * (1 + SPRINGS * way * place_m / HALF_M))


def y_seek_ms(start_m: float, way: int, end_m: float, arrive: int) -> tuple[float, float]:
    """Time of a Y seek and of its turnarounds; none for staying in place."""
    if start_m == end_m:
        turns = 0.0 if arrive == way else turnaround_ms(start_m, way)
        return turns, turns
    ahead = (end_m - start_m) * way > 0
    turns = 0.0 if ahead else turnaround_ms(start_m, way)
    moving = way if ahead else -way
    if moving != arrive:
        turns += turnaround_ms(end_m, moving)
    return travel_ms(start_m, end_m, SPEED_M_S, PUSH_M_S2) + turns, turns


def test_table_2_by_monte_carlo() -> None:
    """Random rows and cylinders, one after the other, in forty lines of Python."""
    chance = random.Random(1)
    start = (0.0, 0.0, 1)
    columns: dict[str, list[float]] = {"seek": [], "x": [], "y": [], "turnaround": []}
    edge = ROWS * ROW_BITS / 2 + 5
    for _ in range(40_000):
        x_m = (chance.randrange(2000) - 1000) * BIT_M
        low = ROW_BITS * chance.randrange(ROWS) - edge
        ends = {1: (low, low + 90), -1: (low + 100, low + 10)}
        x_ms = travel_ms(start[0], x_m, 0, PUSH_M_S2) + SETTLE_MS if x_m != start[0] else 0.0
        ways = {
            way: y_seek_ms(start[1], start[2], begin * BIT_M, way)
            for way, (begin, _) in ends.items()
        }
        seeks = {way: max(x_ms, y_ms) for way, (y_ms, _) in ways.items()}
        way = 1 if seeks[1] < seeks[-1] else -1
        for name, value in zip(
            columns, (seeks[way], x_ms, ways[way][0], ways[way][1]), strict=True
        ):
            columns[name].append(value)
        start = (x_m, ends[way][1] * BIT_M, way)
    explained = expected("table2")
    for name, column in columns.items():
        for statistic, value in (("mean", fmean(column)), ("sd", pstdev(column))):
            stated = explained[f"{name}_{statistic}_ms"]
            assert value == pytest.approx(stated["expected"], abs=stated["tolerance"]), name
    longest = travel_ms(-HALF_M, HALF_M - BIT_M, 0, PUSH_M_S2) + SETTLE_MS
    assert longest == pytest.approx(explained["x_max_ms"]["expected"], abs=0.005)
    stated = explained["turnaround_max_ms"]
    assert max(columns["turnaround"]) == pytest.approx(stated["expected"], abs=stated["tolerance"])


def test_figure_8_peaks_where_the_closed_form_does() -> None:
    """A track of N bits takes N/r and a turnaround 2 r w/a: the best rate is sqrt(N a/2w)."""
    values = found("figure8").values
    rates = found("figure8").series["rate_kbit_s"]
    for name, times in (("half of Table 1", 0.5), ("Table 1", 1), ("twice Table 1", 2)):
        helped_m_s2 = times * PUSH_M_S2 * (1 + SPRINGS * 0.985)
        best_kbit_s = sqrt(ROWS * ROW_BITS * helped_m_s2 / (2 * BIT_M)) / 1e3
        chosen = rates.index(values["best_kbit_s"][name])  # type: ignore[index, call-overload]
        assert rates[chosen - 1] < best_kbit_s < rates[chosen + 1]


def test_figure_13_explains_the_access_time_of_the_recorded_writes() -> None:
    """The writes of PostMark, each by its seek in X and Y and its rows, without sledsim's model."""
    load = pq.read_table(SAMPLES / "postmark.parquet").to_pylist()
    x_m, y_m, way, total_ms, moved = 0.0, 0.0, 1, 0.0, 0
    edge = ROWS * ROW_BITS / 2 + 5
    writes = [row for row in load if row["op"] == "write"]
    for row in writes:
        track, in_track = divmod(row["lbn"], 20 * ROWS)
        cylinder = track // 5
        last = min((in_track + row["blocks"] - 1) // 20, ROWS - 1)
        to_x_m = (cylinder - 1000) * BIT_M
        moved += to_x_m != x_m
        for at in range(in_track // 20, last + 1):
            x_ms = travel_ms(x_m, to_x_m, 0, PUSH_M_S2) + SETTLE_MS if to_x_m != x_m else 0.0
            # Every second track is read as the sled goes back.
            low = (ROWS - 1 - at if track % 2 else at) * ROW_BITS - edge
            ends = {1: (low, low + 90), -1: (low + 100, low + 10)}
            seeks = {
                to: max(x_ms, y_seek_ms(y_m, way, begin * BIT_M, to)[0])
                for to, (begin, _) in ends.items()
            }
            to = 1 if seeks[1] <= seeks[-1] else -1
            total_ms += seeks[to] + ROW_BITS / 400
            x_m, y_m, way = to_x_m, ends[to][1] * BIT_M, to
    values = found("figure13").values
    stated = expected("figure13")["mems_access_ms"]
    mean_ms = total_ms / len(writes)
    assert mean_ms == pytest.approx(stated["expected"], abs=stated["tolerance"])
    assert values["mems_access_ms"] == pytest.approx(mean_ms, rel=0.01)
    assert moved / len(writes) == pytest.approx(0.87, abs=0.01)


def test_figure_14_explains_the_hits_of_the_superdisk_by_its_tracks() -> None:
    values = found("figure14").values
    atlas, superdisk = (
        max(zone.blocks_per_track for zone in ss.device(name).zones())
        for name in ("atlas10k", "superdisk")
    )
    misses = 1 - values["disk_hits"]  # type: ignore[operator]
    stated = expected("figure14")["superdisk_hits"]
    assert 1 - misses * atlas / superdisk == pytest.approx(
        stated["expected"], abs=stated["tolerance"]
    )
    in_a_turn = 125e6 / (20_000 / 60) / 512
    assert in_a_turn == pytest.approx(superdisk, rel=0.01)


def test_figure_11_has_the_extremes_of_the_closed_form() -> None:
    series = found("figure11").series
    assert series["springs_ms"][0] == pytest.approx(turnaround_ms(-HALF_M, 1))
    assert series["springs_ms"][-1] == pytest.approx(turnaround_ms(HALF_M, 1))
    assert series["none_ms"][0] == pytest.approx(2e3 * SPEED_M_S / PUSH_M_S2)


def test_a_missing_spring_is_missed() -> None:
    """A mistake in the model does not pass as an explanation."""
    (item,) = papers.find(["sigmetrics2000/table2"])
    by_key = {value.key: value for value in item.values}
    from sledsim.papers.judge import judge  # noqa: PLC0415

    longest_without_springs = 2e3 * sqrt(2 * HALF_M / PUSH_M_S2) + SETTLE_MS
    assert judge(by_key["x_max_ms"], longest_without_springs) == "missed"


@pytest.mark.parametrize("name", ["table1", "figure11"])
def test_an_item_runs_and_is_not_missed(name: str, tmp_path: Path) -> None:
    items = papers.find([f"sigmetrics2000/{name}"])
    (result,) = papers.run(items, tmp_path, quick=True)
    assert result.verdict == "reproduced"
    written = {file.name for file in (tmp_path / "quick" / "sigmetrics2000").iterdir()}
    assert written == {f"{name}.{end}" for end in ("json", "key", "png", "svg")}
