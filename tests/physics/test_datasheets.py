"""Disks and sleds from data sheets: what was given comes out of the simulation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main

from tests.physics.made import SHEET, sheet_disk

if TYPE_CHECKING:
    from pathlib import Path

G2: dict[str, Any] = {
    "travel_um": 100,
    "tips": 6400,
    "bit_nm": 40,
    "acceleration_m_s2": 803.6,
    "resonance_hz": 739,
}


def _cylinders(disk: ss.Disk) -> int:
    return disk.zones()[-1].last_cylinder + 1


def test_capacity_seeks_and_zones_are_those_of_the_sheet() -> None:
    disk = sheet_disk()
    assert 22e12 - 4096 < 512 * disk.blocks <= 22e12
    cylinders, zones = _cylinders(disk), disk.zones()
    assert disk.seek_ms(1) == 0.25
    assert disk.seek_ms(cylinders - 1) == 15.0
    # Of n cylinders, 2 (n - d) pairs are d apart.
    curve = disk.seek_curve_ms()
    weights = [cylinders - distance for distance in range(1, cylinders)]
    mean = sum(w * ms for w, ms in zip(weights, curve[1:], strict=True)) / sum(weights)
    assert mean == pytest.approx(7.6, rel=1e-4)
    assert disk.seek_ms(1, "write") == pytest.approx(0.25 + 0.8)
    ends = [zone.last_cylinder + 1 for zone in zones]
    assert [zone.first_cylinder for zone in zones] == [0, *ends[:-1]]
    tracks = [zone.blocks_per_track for zone in zones]
    assert len(zones) == 32
    assert tracks == sorted(tracks, reverse=True)
    assert not any(blocks % 8 for blocks in tracks), "whole sectors"


@pytest.mark.parametrize("cylinders", [32, 33, 63, 200, 1000])
def test_small_disks_have_the_capacity_that_was_given(cylinders: int) -> None:
    rates = {"outer_mb_s": 20, "inner_mb_s": 20}
    seeks = {"seek_track_ms": 1, "seek_average_ms": 5, "seek_full_ms": 10}
    capacity_tb = 2 * 392 * 512e-12 * cylinders
    disk = sheet_disk(capacity_tb=capacity_tb, platters=1, **rates, **seeks)
    assert (disk.blocks, _cylinders(disk)) == (2 * 392 * cylinders, cylinders)


@pytest.mark.parametrize("changed", [{}, {"rpm": 5400, "outer_mb_s": 210}, {"heads": 18}])
def test_files_are_read_at_the_rates_of_the_sheet(changed: dict[str, Any]) -> None:
    disk, sheet = sheet_disk(**changed), SHEET | changed
    reads: dict[str, Any] = {"size": "fixed", "mean_size_kib": 1024, "read_fraction": 1.0}
    for rate, where in (("outer_mb_s", 0), ("inner_mb_s", disk.blocks - 5_000_000)):
        region = {"first_lbn": where, "last_lbn": where + 4_900_000}
        load = ss.workload("sequential", requests=2000, queue_depth=1, **reads, **region)
        found = ss.simulate(load, disk).summary["throughput_mb_s"]
        assert found == pytest.approx(sheet[rate], rel=0.005)


def test_random_reads_take_a_seek_and_half_a_revolution() -> None:
    load = ss.workload("random", requests=20_000, queue_depth=1, read_fraction=1.0)
    service_ms = ss.simulate(load, sheet_disk()).summary["service_time_ms"]["mean"]
    assert service_ms == pytest.approx(7.6 + 0.5 * 60e3 / 7200, rel=0.03)


def test_the_rules_give_the_preset_that_was_made_by_hand() -> None:
    """The file of nearline20t was written before there were rules in code."""
    preset = ss.device("nearline20t")
    assert isinstance(preset, ss.Disk)
    seeks = {"seek_track_ms": 0.23, "seek_average_ms": 7.4, "seek_full_ms": 17.06}
    rates = {"outer_mb_s": 281, "inner_mb_s": 281 * 83 / 175}
    made = sheet_disk(capacity_tb=512 * preset.blocks / 1e12, **rates, **seeks)
    assert made.blocks == preset.blocks
    # A track may differ by a sector of 8 blocks, of 3,800 on average.
    assert _cylinders(made) == pytest.approx(_cylinders(preset), rel=8 / 3800)
    for ours, theirs in zip(made.zones(), preset.zones(), strict=True):
        assert abs(ours.blocks_per_track - theirs.blocks_per_track) <= 8
        assert ours.track_skew_ms == pytest.approx(theirs.track_skew_ms, abs=0.03)


def test_the_file_says_what_was_given_and_what_derived() -> None:
    disk = sheet_disk(head_switch_ms=0.3)
    text = disk.to_toml()
    for mark, keys in (
        ("S", ("rpm", "seek_min_ms", "seek_average_ms", "seek_full_ms", "head_switch_ms")),
        ("D", ("surfaces", "cylinders", "bus_ms_per_block", "unused_end_blocks")),
        ("A", ("write_settle_ms", "command_overhead_ms", "mapping")),
    ):
        for key in keys:
            assert re.search(rf"^{key} = \S+ # \[{mark}\]", text, re.MULTILINE), key
    assert ss.Device.from_toml(text, "disk") == disk


def test_the_numbers_of_g2_give_g2() -> None:
    made, preset = ss.sled(**G2), ss.device("g2")
    assert isinstance(preset, ss.Sled)
    assert made.blocks == preset.blocks
    for end in ((40e-6, 10e-6, "up"), (-3e-6, -20e-6, "down")):
        assert made.seek((0.0, 0.0, "up"), end) == preset.seek((0.0, 0.0, "up"), end)
    text = made.to_toml()
    assert re.search(r"^tips = 6400 # \[S\]$", text, re.MULTILINE)
    assert re.search(r"^servo_bits = 10 # \[A\] as g2: ", text, re.MULTILINE)
    assert ss.sled(**G2, tip_rate_kbit_s=1400).parameters["tip_rate_kbit_s"] == 1400


def test_the_command_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    disk, sled = (
        [f"--{key.replace('_', '-')}={value}" for key, value in sheet.items()]
        for sheet in (SHEET, G2)
    )
    assert main(["devices", "new", "disk", *disk, "-o", str(file)]) == 0
    assert ss.device(file).blocks == sheet_disk().blocks
    capsys.readouterr()
    for words, text in (
        (["disk", *disk], file.read_text(encoding="utf-8")),
        (["sled", *sled], ss.sled(**G2).to_toml()),
    ):
        assert main(["devices", "new", *words]) == 0
        assert capsys.readouterr().out == text
    assert main(["devices", "new", "disk", *disk, "-o", str(tmp_path / "x.txt")]) == 2
    assert "must end in .toml" in capsys.readouterr().err
    assert [found.name for found in tmp_path.iterdir()] == ["mine.toml"]
