"""The sensitivity example: the parameters varied and their effects."""

import json
import math
import re
import runpy
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import sledsim as ss
from matplotlib import style
from shared import write_picture
from sledsim.plots.style import STYLE

from tests.example_runs import EXAMPLES, has_no_date, run_once, texts_are_apart

ROOT = Path(__file__).parents[2]
SCRIPT = EXAMPLES / "sensitivity.py"
PRESETS = ROOT / "crates" / "sledsim-core" / "data" / "devices"
REQUESTS, SEEDS = 2000, 3  # of --quick

# Y takes no time beside X: a request moves in X, settles and transfers. All is in closed form.
X_ALONE = """
base = "g2"
title = "G2 with all the force one could wish for along Y"
acceleration_y_m_s2 = 1e7
"""


class Made(NamedTuple):
    """The results of a run."""

    path: Path
    printed: list[str]
    result: dict[str, Any]

    def rows(self) -> list[dict[str, Any]]:
        """Return numbers and choices."""
        return [*self.result["parameters"], *self.result["choices"]]

    def changes(self, key: str, kind: str = "service") -> dict[Any, float]:
        """Return the changes of a mean time by value of a parameter."""
        (row,) = (row for row in self.rows() if row["parameter"] == key)
        return {each["value"]: each[f"{kind}_change_ms"] for each in row["variants"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("sensitivity")
    files = [folder / "numbers.json", folder / "tornado.svg"]
    words = ["--quick", "--json", files[0], "--output", files[1]]
    *text, json_line, picture_line = run_once(SCRIPT, *words)
    assert [json_line, picture_line] == [f"Written: {file}" for file in files]
    assert {*folder.iterdir()} == {*files}
    return Made(folder, text, json.loads(files[0].read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.fixture(scope="module")
def x_alone(tmp_path_factory: pytest.TempPathFactory, example: dict[str, Any]) -> Made:
    file = tmp_path_factory.mktemp("device") / "x_alone.toml"
    file.write_text(X_ALONE, encoding="utf-8")
    return Made(file, [], example["explore"](str(file), 0.2, REQUESTS, SEEDS))


def test_every_number_is_on_the_chart_or_in_the_list_of_those_not_varied(
    made: Made, x_alone: Made
) -> None:
    left_out: list[str] = []
    for one, device in ((x_alone, ss.device(x_alone.path)), (made, ss.device("sigmetrics2000"))):
        parameters, on_chart = device.parameters, one.result["parameters"]
        left_out = [entry["parameter"] for entry in one.result["not_varied"]]
        assert sorted([row["parameter"] for row in one.rows()] + left_out) == sorted(parameters)
        assert all(entry["reason"] for entry in one.result["not_varied"])
        assert all(row["value"] == parameters[row["parameter"]] for row in one.rows())
        varied = {row["parameter"] for row in on_chart}
        numbers = {
            key
            for key, value in parameters.items()
            if value == "inf" or (isinstance(value, int | float) and not isinstance(value, bool))
        }
        assert varied == numbers - set(left_out)
    assert left_out == ["title", "kind", "micropositioning_cylinders"]


def test_numbers_go_a_share_down_and_up_or_to_the_nearest_allowed(made: Made) -> None:
    refused = {(each["parameter"], each["value"]): each for each in made.result["refused"]}
    for row in made.result["parameters"]:
        key, value = row["parameter"], row["value"]
        taken = {each["value"] for each in row["variants"]}
        for target in () if value in {0, "inf"} else (value * 0.8, value * 1.2):
            if any(math.isclose(target, each) for each in taken):
                continue
            (entry,) = (
                e for (k, at), e in refused.items() if k == key and math.isclose(at, target)
            )
            assert entry["reason"]
            assert entry["instead"] is None or entry["instead"] in taken
    # 6,400 tips of which as many can be active as hold whole blocks and divide them.
    allowed = [count for count in range(64, 6401, 64) if 6400 % count == 0]
    for target in (1024, 1536):
        side = [count for count in allowed if (count < 1280) == (target < 1280) and count != 1280]
        entry = refused["active_tips", target]
        assert entry["instead"] == min(side, key=lambda count: abs(count - target))
        assert "6400 must be a multiple" in entry["reason"]
    # A block of 512 bytes is 4,096 bits at least; 1,280 active tips hold whole blocks.
    fit = [tips for tips in range(1, 129) if tips * 80 >= 4096 and 1280 % tips == 0]
    assert fit == [64, 80, 128]
    assert refused["tips_per_lbn", 76.8]["instead"] == 80
    assert refused["tips_per_lbn", 51.2]["instead"] is None


def test_a_value_that_is_refused_is_listed_with_the_reason(example: dict[str, Any]) -> None:
    result = example["explore"]("sigmetrics2000", 0.5, 20, 2)
    refused = {each["parameter"]: each for each in result["refused"]}
    entry = refused["spring_factor"]
    assert (entry["value"], entry["instead"]) == (1.125, None)
    assert "below 1" in entry["reason"]
    assert list(Made(PRESETS, [], result).changes("spring_factor")) == [0.375]
    assert f"spring_factor = 1.125: {entry['reason']}" in example["tables"](result)
    # Springs that pull with 0.75 of the actuators at 37 um pull harder than these at 50 um.
    entry = refused["spring_reference_um"]
    assert (entry["value"], entry["instead"]) == (25, 38)
    assert 0.75 * 50 / 37 > 1 > 0.75 * 50 / 38


def test_the_numbers_are_those_of_runs_made_here(made: Made) -> None:
    def means_ms(**changed: Any) -> list[float]:
        device = ss.device("sigmetrics2000", **changed)
        loads = [ss.workload(requests=REQUESTS, seed=seed) for seed in (1, 2, 3)]
        runs = [ss.simulate(load, device, rows=False) for load in loads]
        return [run.summary["service_time_ms"]["mean"] for run in runs]

    base = means_ms()
    assert made.result["service_ms"] == pytest.approx(sum(base) / 3, rel=1e-12)
    assert made.result["service_range_ms"] == [min(base), max(base)]
    for key, value in (
        ("kinematics", "disksim"),
        ("reads_both_ways", False),
        ("travel_y_um", 120),
        ("active_tips", 1600),
    ):
        expected = (sum(means_ms(**{key: value})) - sum(base)) / 3
        assert made.changes(key)[value] == pytest.approx(expected, rel=1e-9)


def moves_in_x(device: ss.Device, seed: int) -> int:
    """Count how often the sled has to go to another cylinder."""
    run = ss.simulate(ss.workload(requests=REQUESTS, seed=seed), device)
    rows = pl.DataFrame(run.rows).sort("arrival_ns").select("lbn", "blocks")
    per_cylinder = device.blocks // device.spec["derived"]["cylinders"]
    at, moves = device.blocks // 2 // per_cylinder, 0  # parked at the middle LBN
    for lbn, blocks in rows.iter_rows():
        first, last = lbn // per_cylinder, (lbn + blocks - 1) // per_cylinder
        moves += (first != at) + (last - first)
        at = last
    return moves


def test_settling_costs_a_period_over_2_pi_for_every_move_in_x(x_alone: Made) -> None:
    """With X alone, n / (2 pi f) enters the mean as it is."""
    device = ss.device(x_alone.path)
    moves = sum(moves_in_x(device, seed) for seed in (1, 2, 3)) / (3 * REQUESTS)
    assert 0.99 < moves < 1.05

    def settle_ms(constants: float, hertz: float) -> float:
        return moves * 1e3 * constants / (2 * math.pi * hertz)

    for constants, change in x_alone.changes("settling_constants").items():
        assert change == pytest.approx(settle_ms(constants - 1, 739), rel=2e-3)
    for hertz, change in x_alone.changes("resonance_hz").items():
        assert change == pytest.approx(settle_ms(1, hertz) - settle_ms(1, 739), rel=2e-3)


def test_settling_counts_for_less_where_y_may_take_longer(made: Made) -> None:
    """Where Y takes part, a longer settle costs its length at most, and nothing where Y rules."""
    device = ss.device("sigmetrics2000")
    settle_ms = 1e3 / (2 * math.pi * 220)
    moves = sum(moves_in_x(device, seed) for seed in (1, 2, 3)) / (3 * REQUESTS)
    run = ss.simulate(ss.workload(requests=REQUESTS, seed=1), device)
    rows = pl.DataFrame(run.rows).filter(pl.col("passes") == 1)
    decided_by_x = (rows["x_seek_ns"] >= rows["y_seek_ns"]).mean()
    assert isinstance(decided_by_x, float)
    for constants, change in made.changes("settling_constants").items():
        share = change / (settle_ms * (constants - 1))
        assert decided_by_x - 0.1 < share < moves
    # A resonance 1.25 times as high is as good as 0.8 of the time constants.
    shorter = ss.device("sigmetrics2000", settling_constants=0.8)
    stiffer = ss.device("sigmetrics2000", resonance_hz=275)
    load = ss.workload(requests=REQUESTS)
    first, second = (ss.simulate(load, each).summary for each in (shorter, stiffer))
    assert first["service_time_ms"] == second["service_time_ms"]


def test_moves_in_x_and_rows_scale_with_force_and_tip_rate(x_alone: Made) -> None:
    """All times of a sled with springs go with sqrt(travel / acceleration), springs scaled."""
    load = ss.workload(requests=REQUESTS, seed=1)
    means = ss.simulate(load, ss.device(x_alone.path)).summary
    moving_ms = means["x_seek_ms"]["mean"] - means["settle_ms"]["mean"]
    for acceleration, change in x_alone.changes("acceleration_x_m_s2").items():
        factor = math.sqrt(803.6 / acceleration)
        assert change == pytest.approx((factor - 1) * moving_ms, rel=0.02)
    row_ms, transfer_ms = (80 + 10) / 700, means["transfer_ms"]["mean"]
    assert row_ms < transfer_ms < 2 * row_ms  # 8 blocks in the mean, 20 in a row
    for rate, change in x_alone.changes("tip_rate_kbit_s").items():
        assert change == pytest.approx((700 / rate - 1) * transfer_ms, rel=0.03)


def test_the_interface_adds_what_it_takes(x_alone: Made, made: Made) -> None:
    """A command precedes the service, and what of the blocks is still to cross the bus follows."""
    for result in (x_alone, made):
        overheads = result.changes("command_overhead_ms")
        (base,) = (r["value"] for r in result.rows() if r["parameter"] == "command_overhead_ms")
        assert list(overheads.values()) == [0] * len(overheads)
        for overhead_ms, change in result.changes("command_overhead_ms", "response").items():
            assert change == pytest.approx(overhead_ms - base, rel=1e-9)
        assert set(result.changes("bus_ms_per_block").values()) == {0}
    for bus_ms, change in x_alone.changes("bus_ms_per_block", "response").items():
        share = change / (8 * (bus_ms - 0.00512))  # of 8 blocks, reads are 67 %, the rest overlaps
        assert 0.3 < share < 0.68


def test_parameters_without_effect_change_nothing(x_alone: Made, made: Made) -> None:
    """Nothing idles, and the analytic kinematics has no chunks; power takes no time."""
    for result in (x_alone, made):
        rows = result.rows()
        powers = {key for row in rows if (key := row["parameter"]).startswith("power_")}
        assert len(powers) == 5
        for key in {*powers, "tips_powered", "inactive_after_ms", "startup_ms", "piecewise_chunks"}:
            assert set(result.changes(key).values()) == {0}
            assert set(result.changes(key, "response").values()) == {0}
        # One request after the other: nothing waits. The bus takes a little more or less time
        # behind a shorter or longer last pass.
        for row in rows:
            if row["parameter"] not in {"command_overhead_ms", "bus_ms_per_block"}:
                assert result.changes(row["parameter"], "response") == pytest.approx(
                    result.changes(row["parameter"]), abs=8 * 0.00512
                )


def test_directions_are_those_of_physics(made: Made) -> None:
    for key in ("resonance_hz", "acceleration_x_m_s2", "acceleration_y_m_s2", "active_tips"):
        less, more = made.changes(key).values()
        assert less > 0 > more
    for key in ("settling_constants", "travel_x_um", "tip_sector_bits"):
        less, more = made.changes(key).values()
        assert less < 0 < more
    assert made.changes("reads_both_ways")[False] > 0
    assert made.changes("cylinder_switch")["tip"] < 0
    # Capacity changes with its factors alone.
    geometry = {"bit_cell_nm", "travel_x_um", "travel_y_um", "tips", "tips_per_lbn"}
    geometry |= {"tip_sector_bits", "servo_bits"}
    moved = set()
    for row in made.rows():
        for each in row["variants"]:
            if each["capacity_gb"] != made.result["capacity_gb"]:
                moved.add(row["parameter"])
            ratio = each["capacity_gb"] / made.result["capacity_gb"]
            if row["parameter"] in {"tips", "travel_x_um"}:
                assert ratio == pytest.approx(each["value"] / row["value"])
    assert moved == geometry


def test_the_same_results_give_the_same_text_and_pictures(
    made: Made, example: dict[str, Any], tmp_path: Path
) -> None:
    """In this process, where names hash otherwise than in the run."""
    text = "\n\n".join(example[part](made.result) for part in ("tables", "noise"))
    assert text.splitlines() == made.printed
    for row in made.rows():
        for each in row["variants"]:
            cells = f"{str(each['value']).lower()}  {each['service_change_ms']:+.4f}"
            assert cells in re.sub("  +", "  ", text), row["parameter"]
    has_no_date(made.path / "tornado.svg")
    again = tmp_path / "again.svg"
    write_picture(again, lambda: example["picture"](made.result))
    assert (made.path / "tornado.svg").read_bytes() == again.read_bytes()
    with style.context(["default", STYLE]):
        figure = example["picture"](made.result)
        figure.draw_without_rendering()
    texts_are_apart(figure)


def test_the_same_seeds_take_the_noise_out_and_rows_are_sorted_by_swing(made: Made) -> None:
    low, high = made.result["service_range_ms"]
    assert low < made.result["service_ms"] < high
    for row in made.rows():
        for each in row["variants"]:
            first, last = each["service_change_range_ms"]
            assert first - 1e-12 <= each["service_change_ms"] <= last + 1e-12
            if row["parameter"] in {"resonance_hz", "acceleration_x_m_s2", "kinematics"}:
                assert 0 < last - first < 0.5 * (high - low)
        changes = [0, *made.changes(row["parameter"]).values()]
        assert row["swing_ms"] == max(changes) - min(changes)
    for rows in (made.result["parameters"], made.result["choices"]):
        assert all(upper["swing_ms"] >= lower["swing_ms"] for upper, lower in pairwise(rows))
