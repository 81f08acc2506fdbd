"""SIGMETRICS 2000: expected values of its items, computed independently."""

from math import sqrt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers.judge import agrees
from sledsim.papers.sigmetrics2000.devices import DEVICES, device, random_load, sled

from tests.independent import sigmetrics2000 as independent
from tests.paper_items import Paper

PUSH_M_S2, HALF_M, SPRINGS, SPEED_M_S = 114.8, 50e-6, 0.75, 0.02
BIT_M, ROW_BITS, ROWS = 50e-9, 90, 22
SAMPLES = Path(ss.__file__).parent / "data" / "traces"


PAPER = Paper("sigmetrics2000")
found, number, item = PAPER.found, PAPER.number, PAPER.item


def test_all_devices_of_all_items_have_one_bus() -> None:
    setup = item("figure12").setup
    buses = {name: device(setup, name).parameters["bus_ms_per_block"] for name in DEVICES.values()}
    assert set(buses) == {"mems", "superdisk", "atlas10k"}
    (bus_ms,) = set(buses.values())
    assert 512 / bus_ms / 1e3 == pytest.approx(160), "MB/s"
    # The other bus does not fit: a mean request of 4 KB between seek and service of Table 2.
    assert 8 * 0.099 > 1.49 - 1.27


def test_a_reading_confines_the_load() -> None:
    setup = PAPER.setup("table2", "outer_fifth")
    one = sled(setup)
    run = ss.simulate(random_load(setup, one, requests=2000), one)
    places = pa.table(run.rows)["lbn"].to_pylist()
    assert 0.99 < max(places) / (one.blocks / 5) < 1


def test_table_2_by_monte_carlo() -> None:
    """Random rows and cylinders, one after the other, in forty lines of Python."""
    values = found("table2").values
    for name, column in independent.random_blocks().items():
        mean = getattr(independent, f"{name}_mean_ms")()
        sd = getattr(independent, f"{name}_sd_ms")()
        # Two samples, of 40,000 and of 30,000; chunks make seeks up to 0.3 % longer.
        assert values[f"{name}_mean_ms"] == pytest.approx(mean, abs=0.01 * sd * 3, rel=0.006), name
        assert values[f"{name}_sd_ms"] == pytest.approx(sd, rel=0.015), name
        assert values[f"{name}_max_ms"] == pytest.approx(max(column), rel=0.006), name


def test_a_warm_up_request_takes_the_sled_to_the_region() -> None:
    """Without one, the first seek of the outer fifth comes from the centre: 1.9 ms."""
    longest_ms = independent.x_seek_ms(-HALF_M, -HALF_M + 399 * BIT_M)
    assert number("table2", "x_max_ms", "outer_fifth") == pytest.approx(longest_ms, rel=0.005)


def test_a_missing_spring_disagrees() -> None:
    """A mistake in the model does not pass as a published value, nor as the expected one."""
    (value,) = (own for own in item("table2").values if own.key == "x_max_ms")
    longest_without_springs = 2e3 * sqrt(2 * HALF_M / PUSH_M_S2) + independent.SETTLE_MS
    assert not agrees(value, longest_without_springs)
    assert value.expected is not None
    assert abs(longest_without_springs - value.expected.value) > 50 * value.expected.tolerance


def test_tips_address_more_than_the_paper_says() -> None:
    assert found("designs").values["addressed_percent"] == pytest.approx(100 * 6400 * 0.01**2)


def test_equations_2_and_4_disagree_by_the_root_of_two_accelerations() -> None:
    """Their indices differ by one: v(1) = a(0) t(1), with t(1) of a(1)."""
    nets = [1 + SPRINGS * place for place in (15 / 16, 13 / 16)]
    values = found("equations").values
    assert values["velocity"] == pytest.approx(sqrt(nets[0] / nets[1]))
    assert values["corrected"] == pytest.approx(1)


def test_springs_make_seeks_more_uniform_as_a_closed_form_has_it() -> None:
    """Without springs an X seek of d takes 2 sqrt(d / a): mean of sqrt(d) over pairs is 8/15."""
    spread = 2e3 * sqrt(2 * HALF_M / PUSH_M_S2) * sqrt(1 / 3 - (8 / 15) ** 2)
    values: Any = found("springs").values["x_sd_ms"]
    assert values["no springs"] == pytest.approx(spread, rel=0.02)
    assert values["springs"] == pytest.approx(independent.x_sd_ms(), rel=0.02)


def test_figure_8_peaks_where_the_closed_form_does() -> None:
    """A track of N bits takes N/r and a turnaround 2 r w/a: the best rate is sqrt(N a/2w)."""
    values: Any = found("figure8").values
    rates = found("figure8").series["rate_kbit_s"]
    for name, times in (("half of Table 1", 0.5), ("Table 1", 1), ("twice Table 1", 2)):
        helped_m_s2 = times * PUSH_M_S2 * (1 + SPRINGS * 0.985)
        best_kbit_s = sqrt(ROWS * ROW_BITS * helped_m_s2 / (2 * BIT_M)) / 1e3
        chosen = rates.index(values["best_kbit_s"][name])
        assert rates[chosen - 1] < best_kbit_s < rates[chosen + 1]


def test_figure_11_has_the_extremes_of_the_closed_form() -> None:
    series = found("figure11").series
    assert series["springs_ms"][0] == pytest.approx(independent.turnaround_ms(-HALF_M, 1))
    assert series["springs_ms"][-1] == pytest.approx(independent.turnaround_ms(HALF_M, 1))
    assert series["none_ms"][0] == pytest.approx(2e3 * SPEED_M_S / PUSH_M_S2)


def test_the_recorded_writes_take_as_long_row_by_row() -> None:
    """The writes of PostMark, each by its seek in X and Y and its rows, without sledsim's model."""
    load = pq.read_table(SAMPLES / "postmark.parquet").to_pylist()
    x_m, y_m, way, total_ms, moved = 0.0, 0.0, 1, 0.0, 0
    writes = [row for row in load if row["op"] == "write"]
    for row in writes:
        track, in_track = divmod(row["lbn"], 20 * ROWS)
        to_x_m = (track // 5 - 1000) * BIT_M
        moved += to_x_m != x_m
        last = min((in_track + row["blocks"] - 1) // 20, ROWS - 1)
        for at in range(in_track // 20, last + 1):
            x_ms = independent.x_seek_ms(x_m, to_x_m)
            # Every second track is read as the sled goes back.
            ends = independent.row_ends_m(ROWS - 1 - at if track % 2 else at)
            seeks = {
                to: max(x_ms, independent.y_seek_ms(y_m, way, ends[to][0], to)[0]) for to in ends
            }
            to = 1 if seeks[1] <= seeks[-1] else -1
            total_ms += seeks[to] + ROW_BITS / 400
            x_m, y_m, way = to_x_m, ends[to][1], to
    mean_ms = total_ms / len(writes)
    assert number("figure13", "mems_access_ms", "recording") == pytest.approx(mean_ms, rel=0.01)
    assert moved / len(writes) == pytest.approx(0.87, abs=0.01)


def test_the_superdisk_misses_once_a_track() -> None:
    values: Any = found("figure14").values
    atlas, superdisk = (
        max(zone.blocks_per_track for zone in ss.device(name).zones())
        for name in ("atlas10k", "superdisk")
    )
    expected = 1 - (1 - values["disk_hits"]) * atlas / superdisk
    assert values["superdisk_hits"] == pytest.approx(expected, abs=0.015)
    in_a_turn = 125e6 / (20_000 / 60) / 512
    assert in_a_turn == pytest.approx(superdisk, rel=0.01)


def test_the_speed_up_of_the_query_is_a_difference_of_buses() -> None:
    """Three times with a slow bus for the disk alone, none with either bus for all."""
    plain, slow, validation = (
        number("figure14", "times_faster", name) for name in ("", "slow_bus", "validation_bus")
    )
    assert max(plain, slow) < 1
    assert validation == pytest.approx(3, abs=0.05)


@pytest.mark.parametrize("name", ["table1", "figure11"])
def test_an_item_runs_and_is_not_missed(name: str, tmp_path: Path) -> None:
    (result,) = papers.run([item(name)], tmp_path, quick=True)
    assert result.verdict == "reproduced"
    written = {file.name for file in (tmp_path / "quick" / "sigmetrics2000").iterdir()}
    assert written == {f"{name}.{end}" for end in ("json", "key", "png", "svg")}
