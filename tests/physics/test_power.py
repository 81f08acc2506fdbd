"""Power from Python and the command line: studies against closed forms."""

import json
from typing import Any

import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.papers import power

BARE: dict[str, Any] = {"command_overhead_ms": 0, "bus_ms_per_block": 0}
ROW_S = 90 / 700e3  # of g2: servo and tip sector at 700 kbit/s


def test_the_scenario_saves_what_its_idle_time_allows(capsys: pytest.CaptureFixture[str]) -> None:
    energies = []
    for policy in ("immediate", "never"):
        words = ["--set", "requests=4000", "--set", f"device.power.policy={policy}"]
        assert main(["run", "power-study", "--json", *words]) == 0
        energies.append(json.loads(capsys.readouterr().out)["summary"]["energy_j"])
    lazy, ready = energies
    assert lazy["idle"] == 0
    # 50 requests a second of about .8 ms leave 96 % idle, of which half the power is saved, less
    # 50 uJ a wake.
    wakes = lazy["startup"] / (0.1 * 0.0005)
    assert 0.9 * 4000 < wakes < 4000
    idle_j = 0.1 * (lazy["inactive"] / 0.05 + wakes * 0.0005)
    assert ready["idle"] == pytest.approx(idle_j, rel=0.01)


def test_sensing_takes_nine_tenths_of_the_power() -> None:
    # 1,280 tips of 1 mW, and 100 mW for the sled; CMU-CS-00-136 section 7 says 90 %.
    assert power.sensing_share(ss.device("g2")) == pytest.approx(1280 / 1380)
    assert power.sensing_share(ss.device("g2")) == pytest.approx(0.90, abs=0.03)


def test_devices_start_in_half_a_millisecond_and_in_25_seconds() -> None:
    assert power.start_up_s("g2", **BARE) == pytest.approx(0.0005, rel=1e-6)
    # Up to a revolution, since another angle is met.
    disk = power.start_up_s("atlas10k", power.DISK_POWER)
    assert disk == pytest.approx(25, abs=0.006)


def test_a_block_again_takes_a_revolution_or_a_turnaround() -> None:
    through: dict[str, Any] = {
        "buffer": {"write_back": "none"},
        "overheads": {"write_miss_after_write_ms": 0.1},
    }
    revolution_ms = 60_000 / 10_025
    disk = power.rewrite_ms(ss.device("atlas10k", **through), 5_000_000)
    assert disk == pytest.approx(revolution_ms, rel=1e-6)
    sled = power.rewrite_ms(ss.device("g2", **BARE), 3_375_000)
    assert 1e3 * ROW_S + 0.0398 < sled < 1e3 * ROW_S + 0.279 + 0.0143


def test_sub_sector_access_saves_its_tips() -> None:
    load = ss.workload("random", rate=50, requests=500)
    savings = {saving.name: saving for saving in power.lin2002(load)}
    assert {name: s.published for name, s in savings.items()} == power.PUBLISHED
    # A read of one block: 100 mW for some .7 ms, and 64 tips for a row; 16 of them are needed.
    small = ss.workload(
        "random", requests=1000, rate=50, read_fraction=1, size="fixed", mean_size_kib=0.5
    )
    spent = power.spending(small, ss.device("g2", power={"policy": "never"}))
    tips_j = 1000 * 0.048 * ROW_S
    assert savings["sub_sector"].computed == pytest.approx(tips_j / spent.service_j, rel=1e-6)
    assert savings["sub_sector"].response == 1
    # Half of the idle power is the most that going inactive saves; random blocks do not meet.
    assert 0.40 < savings["spin_down"].computed < 0.50
    assert abs(savings["merging"].computed) < 0.002
    assert savings["spin_down"].computed <= savings["all"].computed < 0.55


def test_more_bits_make_a_bit_cheaper_down_to_the_price_of_its_tip() -> None:
    device = ss.device("g2", **BARE)
    prices = [power.energy_per_bit_nj(device, kib) for kib in (0.5, 4, 32, 256, 2048)]
    assert prices == sorted(prices, reverse=True)
    # In the end 1,380 mW for the rows of 10 KiB, and turnarounds between them.
    full = 1e9 * 1.380 * ROW_S / (20 * 512 * 8)
    assert full < prices[-1] < 1.05 * full


def test_power_keys_cost_nothing_where_they_change_nothing() -> None:
    load = ss.workload("random", rate=300, requests=2000)
    plain = ss.simulate(load, ss.device("atlas10k")).summary
    kept = ss.simulate(load, ss.device("atlas10k", power=power.DISK_POWER)).summary
    assert plain["response_time_ms"] == kept["response_time_ms"]
    assert plain["energy_j"] is None is plain["request_energy_j"]
    assert 0 < kept["request_energy_j"] < kept["energy_j"]["total"]
