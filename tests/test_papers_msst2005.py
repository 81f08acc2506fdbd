"""MSST 2005: expected values of its items, computed independently, and invariants of runs."""

from __future__ import annotations

from collections import OrderedDict
from math import asin, pi, sqrt
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers import judge
from sledsim.papers.msst2005 import prices, runs

from tests import paper_items

if TYPE_CHECKING:
    from pathlib import Path

    from sledsim.papers import Found

PUSH_M_S2, HALF_M, SETTLE_MS = 803.6, 50e-6, 1e3 / (2 * pi * 739)
VERDICTS: dict[str, set[str]] = {
    "table1": {"capacity_gb", "mean_ms", "max_ms", "after_servo_mb_s"},
    "table2": set(),
    "figure4a": set(),
    "figure5a": {"to_64", "best_kib"},
    "figure6a": {"slower"},
    "figure6d": {"ram_first", "all_ms", "over_disk"},
    "policies": {"lru_tpcc", "lru_cello", "lru_hplajw"},
}
"""Explained values, by item; the rest is reproduced."""


def found(name: str) -> Found:
    return paper_items.simulate(f"msst2005/{name}")


def quick(name: str, kind: str, **keys: Any) -> runs.Outcome:
    return runs.outcome(name, kind, quick=True, **keys)


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(name: str) -> None:
    """Nothing is missed, and the values not reproduced are known."""
    (item,) = papers.find([f"msst2005/{name}"])
    verdicts = {}
    for value in item.values:
        others = {
            hypothesis: own[value.key]
            for hypothesis, own in found(name).hypotheses.items()
            if value.key in own
        }
        verdicts[value.key] = judge.judge(value, found(name).values[value.key], others)
    assert "missed" not in verdicts.values(), verdicts
    assert {key for key, own in verdicts.items() if own == "explained"} == VERDICTS[name]


# Table 1


def x_seek_ms(start_m: float, end_m: float, springs: float) -> float:
    """Return the arcs of a bang-bang move from rest to rest, two each, and settling."""
    w2 = springs * PUSH_M_S2 / HALF_M
    far = PUSH_M_S2 / w2
    switch = (start_m + end_m) / 2 + w2 / (4 * PUSH_M_S2) * (end_m**2 - start_m**2)

    def arc(place_m: float) -> float:
        return asin(max(-1.0, min(1.0, place_m)))

    first = arc((switch - far) / (far - start_m)) - arc(-1)
    last = arc(1) - arc((switch + far) / (end_m + far))
    return 1e3 * (first + last) / sqrt(w2) + SETTLE_MS


def test_table_1_expects_the_closed_form() -> None:
    """No stiffness of the springs gives both published seeks: one is too long, or the other."""
    stated = paper_items.stated("msst2005/table1")
    longest = x_seek_ms(-HALF_M, HALF_M, 0.75)
    assert longest == pytest.approx(stated["max_ms"]["explained"]["expected"], abs=2e-4)
    assert found("table1").values["max_ms"] == pytest.approx(longest, rel=1e-6)

    cells = 300
    places = [HALF_M * ((2 * cell + 1) / cells - 1) for cell in range(cells)]

    def mean_ms(springs: float) -> float:
        pairs = [(one, other) for one in places for other in places if one < other]
        seeks = sum(x_seek_ms(one, other, springs) for one, other in pairs)
        return (2 * seeks + cells * SETTLE_MS) / cells**2

    expected = stated["mean_ms"]["explained"]
    assert mean_ms(0.75) == pytest.approx(expected["expected"], abs=expected["tolerance"])
    published = stated["mean_ms"]["published"], stated["max_ms"]["published"]
    for springs in (0.3, 0.5, 0.75, 0.9):
        both = mean_ms(springs), x_seek_ms(-HALF_M, HALF_M, springs)
        assert any(abs(own - paper) > 0.005 for own, paper in zip(both, published, strict=True))


# Loads


@pytest.mark.parametrize("name", runs.LOADS)
def test_quick_loads_are_a_part_of_the_whole(name: str) -> None:
    """Such a part of the requests and of the set; the rate is that of the whole."""
    disk = ss.device("disk")
    whole, part = (
        ss.load_info(runs.load(name, quick=quick), device=disk) for quick in (False, True)
    )
    share = runs.PARTS[name]
    assert part["requests"] == whole["requests"] // share
    by_set = whole["footprint"]["accessed_bytes"] / part["footprint"]["accessed_bytes"]
    assert by_set == pytest.approx(share, rel=0.1)
    rates = [info["requests"] / info["duration_s"] for info in (whole, part)]
    assert rates[1] == pytest.approx(rates[0], rel=0.15)


# Runs


def lines_found(name: str, lines: int, folder: Path) -> tuple[int, int]:
    """Pass a load through an LRU list of lines of 4 KiB: how many it asks for, and has."""
    trace = folder / "load.csv"
    disk = ss.device("disk")
    ss.generate_trace(runs.load(name, quick=True), str(trace), blocks=disk.blocks)
    held: OrderedDict[int, None] = OrderedDict()
    asked = had = 0
    rows = ss.simulate(ss.read_trace(trace), ss.device("memory", blocks=disk.blocks))
    for lbn, blocks in zip(*(_column(rows, name) for name in ("lbn", "blocks")), strict=True):
        for line in range(lbn // 8, (lbn + blocks - 1) // 8 + 1):
            asked += 1
            if line in held:
                had += 1
                held.move_to_end(line)
            else:
                held[line] = None
                if len(held) > lines:
                    held.popitem(last=False)
    return asked, had


def _column(rows: ss.Run, name: str) -> list[int]:
    pa = pytest.importorskip("pyarrow")
    column: list[int] = pa.table(rows.requests)[name].to_pylist()
    return column


@pytest.mark.parametrize("name", ["tpcd", "hplajw"])
def test_ram_finds_what_an_lru_list_has(name: str, tmp_path: Path) -> None:
    """One line by one, without times; with them what is dirty waits, and little is moved."""
    counts = quick(name, "DISK-RAM").counts
    lines = int(runs.MEMS_MIB / runs.PARTS[name] * 256)
    asked, had = lines_found(name, lines, tmp_path)
    assert counts["segments_read"] + counts["segments_written"] == asked
    found = counts["segments_read_found"] + counts["segments_written_found"]
    assert found == pytest.approx(had, rel=0.02, abs=3)


def test_a_disk_cannot_do_tpcc() -> None:
    """The time of 139 pages a second: half a turn, and the least mean seek of its pieces."""
    outcome = quick("tpcc", "DISK")
    assert outcome.saturated
    assert outcome.back_busy > 0.99
    assert not quick("tpcc", "MCD ALL").saturated
    assert not quick("tpcc", "MEMS").saturated


@pytest.mark.parametrize("kind", ["MWB", "DISK-RAM"])
def test_a_write_buffer_without_writes_is_the_disk(kind: str) -> None:
    """To the nanosecond: nothing is written, and a scan returns only to evicted segments."""
    assert quick("tpcd", kind).mean_ms == quick("tpcd", "DISK").mean_ms


@pytest.mark.parametrize("name", ["tpcc", "cello", "hplajw"])
def test_cleaning_in_idle_periods_shortens_waits(name: str) -> None:
    """Cleaning takes writes out of the way of reads, as far as they do not yield by themselves."""
    kind = "MCD NONE"
    plain, clean = (quick(name, kind, **keys) for keys in ({}, runs.CLEANING))
    assert clean.mean_ms < plain.mean_ms
    assert clean.found() == pytest.approx(plain.found(), abs=0.02)
    more = quick(name, kind, mems_mib=2 * runs.MEMS_MIB)
    assert more.found() > plain.found()
    assert more.mean_ms < plain.mean_ms


def test_partial_writes_spare_fetches() -> None:
    """A write of a part of a segment that is not there fetches nothing, unless it is read."""
    none, partial = (quick("cello", f"MCD {label}").counts for label in ("NONE", "PWRITE"))
    assert partial["fetched_blocks"] < 0.8 * none["fetched_blocks"]
    assert partial["destaged_blocks"] < none["destaged_blocks"]


def test_a_disk_that_does_not_read_ahead_is_what_large_segments_help() -> None:
    """Small ones win where the disk reads ahead by itself, and lose by far where it does not."""

    def times(**keys: Any) -> list[float]:
        return [quick("tpcd", "MCD ALL", segment_kib=kib, **keys).mean_ms for kib in (8, 64)]

    ahead, alone = times(), times(back={"buffer": {"read_ahead": "none"}})
    assert ahead[0] < ahead[1]
    assert alone[0] > 1.3 * alone[1]


def test_the_controller_cache_decides_the_speed_of_a_disk() -> None:
    """Writing line by line it is worth least; while it rests, its writes are next to nothing."""

    def of_mwb(**cache: Any) -> float:
        disk, mwb = (
            quick("cello", kind, controller_cache=cache).mean_ms for kind in ("DISK", "MWB")
        )
        return disk / mwb

    assert 1 < of_mwb(**runs.CLEANING) < 1.2
    assert 1.5 < of_mwb() < 7
    assert of_mwb(**runs.LINE_BY_LINE) > 10


def test_the_public_week_of_the_same_system_is_as_published() -> None:
    """Section 8's gain, section 6.1's savings, and RAM before MEMS, as section 6.4 has it."""
    week = runs.of_week()
    if not week:
        pytest.skip("needs ../shared/traces")
    stated = paper_items.stated("msst2005/figure6d")["over_disk"]
    gain = week["DISK"].mean_ms / week["MCD ALL"].mean_ms
    assert gain == pytest.approx(stated["published"], abs=stated["tolerance"])
    assert week["DISK-RAM"].mean_ms < week["MEMS"].mean_ms
    small = runs.of_week(["MCD NONE", "MCD ALL"], segment_kib=8)
    for own in (week, small):
        assert 0.14 < 1 - own["MCD ALL"].mean_ms / own["MCD NONE"].mean_ms < 0.45


@pytest.mark.parametrize(
    ("name", "disk"),
    [*((name, {}) for name in runs.LOADS), ("tpcd", {"buffer": {"read_ahead": "none"}})],
)
def test_sizes_chosen_by_themselves_are_near_the_best(name: str, disk: dict[str, Any]) -> None:
    """Of every load, whether the disk reads ahead or not: none is given, and none is known."""

    def mean_ms(kib: int | str) -> float:
        return quick(name, "MCD ALL", segment_kib=8, fetch_kib=kib, back=disk).mean_ms

    sizes = [8, 16, 32, 64, 128, 256]
    times = {kib: mean_ms(kib) for kib in sizes}
    # A quick run is too short for the trials of the virtual managers.
    assert mean_ms("auto") < 1.2 * min(times.values()), times


# Prices


def test_where_both_are_equally_fast() -> None:
    """A curve that doubles with the ratio crosses 1 where it says, between two of its points."""
    curve = {ratio: ratio / 3 for ratio in (1.0, 2.0, 4.0, 8.0)}
    assert prices.break_even(curve) == pytest.approx(3)
    assert prices.break_even({1.0: 0.5, 10.0: 0.9}) is None
    assert prices.break_even({1.0: 1.5, 10.0: 2.0}) is None


def test_nvram_of_the_same_price_is_as_large() -> None:
    same = prices.ram_ms("hplajw", 1, quick=True)
    assert same == quick("hplajw", "DISK-RAM").mean_ms
    assert prices.ram_ms("hplajw", 2.5, quick=True) > same
    assert prices.ram_ms("hplajw", 0.5, quick=True) < same
    with pytest.raises(ValueError, match=r"ratio = 0: must be positive"):
        prices.ram_ms("hplajw", 0, quick=True)
