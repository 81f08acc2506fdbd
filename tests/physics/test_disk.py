"""Disks: places, seek curves, moves from block to block, and what data sheets say."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main

from tests.physics.made import SHEET, sheet_disk

if TYPE_CHECKING:
    from pathlib import Path

PRESETS = [name for name in ss.devices() if isinstance(ss.device(name), ss.Disk)]


TINY = """
title = "Two zones"
kind = "disk"
surfaces = 2
cylinders = 7
rpm = 6000
mapping = "ascending"
sparing = "zone_end"
unused_cylinders = [3]
seek = "table"
seek_table_ms = [[1, 1.0], [6, 3.5]]
head_switch_ms = 0.5
write_settle_ms = 0.25
zero_latency_read = false
zero_latency_write = false
command_overhead_ms = 0
bus_ms_per_block = 0
[[zone]]
first_cylinder = 0
last_cylinder = 2
blocks_per_track = 20
track_skew_sectors = 2
cylinder_skew_sectors = 3
spares = 3
slips = [5]
defects = [[7, 119]]
[[zone]]
first_cylinder = 4
last_cylinder = 6
blocks_per_track = 10
track_skew_sectors = 1
cylinder_skew_sectors = 2
reserved_blocks = 4
"""


def zone_of(zones: list[ss.hardware.Zone], cylinder: int) -> ss.hardware.Zone:
    """Find the zone that a cylinder is in."""
    return next(z for z in zones if z.first_cylinder <= cylinder <= z.last_cylinder)


@pytest.mark.parametrize("name", PRESETS)
def test_places_and_blocks_are_one_to_one(name: str) -> None:
    device: Any = ss.device(name)
    zones, surfaces = device.zones(), device.parameters["surfaces"]
    draw = random.Random(name)
    for lbn in [0, device.blocks - 1, *(draw.randrange(device.blocks) for _ in range(2000))]:
        at = device.locate(lbn)
        assert device.lbn(at.cylinder, at.head, at.sector) == lbn
        zone = zone_of(zones, at.cylinder)
        assert at.angle == pytest.approx(at.sector / zone.blocks_per_track, abs=1e-12)
        assert at.head < surfaces
        assert zone.first_lbn <= lbn < zone.first_lbn + zone.blocks


def test_every_sector_holds_a_block_or_none(tmp_path: Path) -> None:
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    device: Any = ss.device(str(file))
    # 120 sectors: 3 are spares, one of them used by the slip; 60, of which 4 are reserved.
    assert [(z.first_lbn, z.blocks) for z in device.zones()] == [(0, 117), (117, 56)]
    held: list[int | None] = []
    for zone in device.zones():
        for cylinder in range(zone.first_cylinder, zone.last_cylinder + 1):
            for head in range(2):
                sectors = range(zone.blocks_per_track)
                held += [device.lbn(cylinder, head, sector) for sector in sectors]
    assert sorted(lbn for lbn in held if lbn is not None) == list(range(173))
    # The slip moves blocks on by one; the defect puts one of them at the very end.
    assert (device.locate(4).sector, device.locate(5).sector) == (4, 6)
    moved = device.locate(6)
    assert (moved.cylinder, moved.head) == (2, 1)
    assert device.lbn(0, 0, 5) is None
    assert device.lbn(0, 0, 7) is None
    # 10 ms a revolution. Block 0 has passed after 0.5 ms; block 19, the first of head 1, lies two
    # sectors in, and the head is changed just in time.
    at = device.locate(19)
    assert (at.head, at.sector) == (1, 2)
    onward = device.seek(0, 19)
    assert (onward.cylinders, onward.seek_s, onward.rotation_s) == (0, 0, 0)
    assert onward.head_switch_s == onward.total_s == 0.5e-3
    # Four cylinders in: 2.5 ms by the table and 0.25 to settle, then round to where the block is.
    far = device.seek(0, 117, "write")
    place = device.locate(117)
    assert (far.cylinders, far.seek_s) == (4, 2.75e-3)
    assert place.cylinder == 4
    off = (0.05 + far.total_s / 10e-3 - place.angle + 0.5) % 1 - 0.5
    assert abs(off) < 1e-6


@pytest.mark.parametrize("name", PRESETS)
def test_a_seek_ends_where_the_media_have_turned_to(name: str) -> None:
    device: Any = ss.device(name)
    zones, revolution_s = device.zones(), device.spec["derived"]["revolution_ms"] / 1e3
    draw = random.Random(name)
    for _ in range(500):
        start, end = (draw.randrange(device.blocks) for _ in range(2))
        op: Any = draw.choice(["read", "write"])
        seek = device.seek(start, end, op)
        here, there = device.locate(start), device.locate(end)
        assert seek.cylinders == abs(here.cylinder - there.cylinder)
        if seek.cylinders:
            assert seek.seek_s == pytest.approx(device.seek_ms(seek.cylinders, op) / 1e3)
        if here.head == there.head:
            assert seek.head_switch_s == 0
        assert 0 <= seek.rotation_s < revolution_s
        # Angles, in revolutions: from the end of one sector to the beginning of the other.
        left = here.angle + 1 / zone_of(zones, here.cylinder).blocks_per_track
        off = (left + seek.total_s / revolution_s - there.angle + 0.5) % 1 - 0.5
        assert abs(off) * revolution_s < 2e-9


def test_the_seek_curve_goes_through_the_points_of_its_table() -> None:
    device: Any = ss.device("atlas10k")
    curve = device.seek_curve_ms()
    assert len(memoryview(curve)) == device.spec["derived"]["cylinders"] == 10_042
    # [S] DiskSim 4.0: single cylinder 1.245 ms, full stroke 10.828, writes 0.487 more.
    assert (curve[1], curve[10_041]) == (1.245, 10.828)
    assert 0 < curve[0] == device.spec["derived"]["seek_zero_ms"] < curve[1]
    for cylinders, ms in device.parameters["seek_table_ms"]:
        assert curve[cylinders] == device.seek_ms(cylinders) == ms
    writes = device.seek_curve_ms("write")
    assert all(w - r == pytest.approx(0.487) for r, w in zip(curve, writes, strict=True))
    # Half way between two points of the table.
    assert device.seek_ms(550) == pytest.approx((3.208 + 3.097) / 2)


@pytest.mark.parametrize("name", PRESETS)
def test_zones_follow_each_other_and_hold_all_blocks(name: str) -> None:
    device: Any = ss.device(name)
    zones, rpm = device.zones(), device.parameters["rpm"]
    cylinders = [zone.last_cylinder + 1 for zone in zones]
    lbns = [zone.first_lbn + zone.blocks for zone in zones]
    assert [zone.first_cylinder for zone in zones] == [0, *cylinders[:-1]]
    assert [zone.first_lbn for zone in zones] == [0, *lbns[:-1]]
    assert lbns[-1] == device.blocks
    seen = 0
    for zone in zones:
        assert zone.media_mb_s == pytest.approx(zone.blocks_per_track * 512e-6 * rpm / 60)
        # The first blocks of the first two tracks come by the skew apart: that of another head, or,
        # of bands of one head, of the next cylinder.
        second_lbn = zone.first_lbn + zone.blocks_per_track
        at = (zone.first_lbn, second_lbn - 1, second_lbn)
        first, last, second = (device.locate(lbn) for lbn in at)
        other_head = first.head == last.head != second.head
        if other_head or first.cylinder == last.cylinder != second.cylinder:
            skew = (zone.track_skew_ms if other_head else zone.cylinder_skew_ms) / 60e3 * rpm
            off = (second.angle - first.angle - skew + 0.5) % 1 - 0.5
            assert abs(off) < 0.6 / zone.blocks_per_track
            seen += 1
    assert seen >= len(zones) / 2


def test_the_zones_of_the_atlas_10k_are_the_published_ones() -> None:
    zones = ss.device("atlas10k").zones()
    assert len(zones) == 24
    assert (zones[0].blocks_per_track, zones[-1].blocks_per_track) == (334, 229)
    # Zone 1: 416 cylinders of 6 tracks, 84 spares; skews of 63 and 113 sectors.
    assert zones[1].blocks == 416 * 6 * 334 - 84
    revolution_ms = 60e3 / 10_025
    assert zones[1].track_skew_ms == pytest.approx(63 / 334 * revolution_ms, abs=1e-6)
    assert zones[1].cylinder_skew_ms == pytest.approx(113 / 334 * revolution_ms, abs=1e-6)
    # Skews cover the switches.
    assert zones[1].cylinder_skew_ms > 1.245
    assert zones[1].track_skew_ms > 0.176


def test_seek_tells_of_disks(capsys: pytest.CaptureFixture[str]) -> None:
    def text(*words: str) -> str:
        assert main(["seek", "--device", "atlas10k", *words]) == 0
        return capsys.readouterr().out

    def document(*words: str) -> Any:
        return json.loads(text(*words, "--json"))

    device: Any = ss.device("atlas10k")
    alone = {"cylinders": 100, "read_ms": 2.011, "write_ms": 2.498}
    assert document("100")["seeks"] == [alone]
    assert "2.011 ms" in text("100")
    some = document()["seeks"]
    assert [line["cylinders"] for line in some] == [1, 10, 100, 1000, 3347, 10_000, 10_041]
    assert all(line["read_ms"] == device.seek_ms(line["cylinders"]) for line in some)
    words = ["--start", "7", "--end", "17938985"]
    ops: list[tuple[list[str], Any]] = [([], "read"), (["--write"], "write")]
    for extra, op in ops:
        told, seek = document(*words, *extra), device.seek(7, 17_938_985, op)
        assert (told["op"], told["total_s"]) == (op, seek.total_s)
        assert told["end"]["cylinder"] == device.locate(17_938_985).cylinder
        assert f"{1e3 * seek.rotation_s:.3f} ms" in text(*words, *extra)
    slower = document("1", "--set", "write_settle_ms=2")
    assert slower["seeks"][0]["write_ms"] == 3.245


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
        region = reads | {"first_lbn": where, "last_lbn": where + 4_900_000}
        load = ss.workload("sequential", requests=2000, queue_depth=1, **region)
        found = ss.simulate(load, disk).summary["throughput_mb_s"]
        assert found == pytest.approx(sheet[rate], rel=0.005)


def test_random_reads_take_a_seek_and_half_a_revolution() -> None:
    load = ss.workload("random", requests=20_000, queue_depth=1, read_fraction=1.0)
    service_ms = ss.simulate(load, sheet_disk()).summary["service_time_ms"]["mean"]
    assert service_ms == pytest.approx(7.6 + 0.5 * 60e3 / 7200, rel=0.03)


def test_the_rules_give_the_preset_that_was_made_by_hand() -> None:
    """The file of nearline20t was written before there were rules in code."""
    preset: Any = ss.device("nearline20t")
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
