"""MSST 2005: closed forms, the public trace, and invariants of its runs."""

from typing import Any

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers.characteristics import PUBLISHED, characteristics
from sledsim.papers.msst2005 import buffer, loads, prices, runs

from tests.independent import msst2005 as independent
from tests.paper_items import Paper

PAPER = Paper("msst2005")
CLEANING: dict[str, Any] = {"clean_after_idle_ms": 20, "clean_above": 0.5}
READ_AHEAD = {"buffer": {"read_ahead": "none"}}


def quick(name: str, kind: str, reading: str = "", **keys: Any) -> runs.Outcome:
    return runs.outcome(runs.setup_of(reading), name, kind, quick=True, **keys)


# Table 1


def test_no_springs_give_both_published_seeks() -> None:
    """Ours are those of the closed form; another stiffness makes one too long, or the other."""
    found = PAPER.found("table1").values
    assert found["max_ms"] == pytest.approx(independent.max_x_seek_ms(), rel=1e-6)
    assert found["mean_ms"] == pytest.approx(independent.mean_x_seek_ms(), abs=0.005)
    softer_ms = PAPER.number("table1", "max_ms", "half_the_springs")
    assert softer_ms == pytest.approx(independent.max_x_seek_ms(0.375), rel=1e-6)
    mean_ms, max_ms = (
        float(PAPER.stated("table1", key)["published"]) for key in ("mean_ms", "max_ms")
    )
    for springs in (0.25, 0.375, 0.5, 0.625, 0.75, 0.9):
        both = (
            independent.mean_x_seek_ms(springs, cells=100) - mean_ms,
            independent.max_x_seek_ms(springs) - max_ms,
        )
        assert max(map(abs, both)) > 0.005, springs


def test_every_statement_on_a_range_has_two_ends() -> None:
    keys = {value.key for value in PAPER.item("claims").values}
    for name in ("gain", "ram", "of_mems"):
        assert {f"{name}_least", f"{name}_most"} <= keys


# The set-up


def test_a_reading_changes_what_it_says_and_nothing_else() -> None:
    paper, week = runs.setup_of(), runs.setup_of("week_1992")
    assert week["traces"]["hplajw"]["file"] == loads.WEEK
    assert {key for key in paper if paper[key] != week[key]} == {"traces"}
    (own, cleaning), (kind, plain) = (
        runs.keys_of(runs.setup_of(reading), "cello", "MCD ALL", quick=False)
        for reading in ("cleaning", "")
    )
    assert own == kind == "mcd"
    assert cleaning == plain | CLEANING
    _, alone = runs.keys_of(runs.setup_of("no_read_ahead"), "cello", "MWB", quick=False)
    assert alone["back"] == READ_AHEAD


def test_a_choice_is_the_one_that_takes_least() -> None:
    best = quick("tpcd", "MCD ALL", "best_segments").mean_ms
    choices = runs.setup_of("best_segments")["choices"]
    assert best == min(quick("tpcd", "MCD ALL", **keys).mean_ms for keys in choices)


# Loads


@pytest.mark.parametrize("name", loads.LOADS)
def test_quick_loads_are_a_part_of_the_whole(name: str) -> None:
    """Such a part of the requests and of the set; the rate is that of the whole."""
    disk = ss.device("disk")
    whole, part = (
        ss.loads.load_info(loads.load(runs.setup_of(), name, quick=quick), device=disk)
        for quick in (False, True)
    )
    share = loads.PARTS[name]
    assert part["requests"] == whole["requests"] // share
    by_set = whole["footprint"]["accessed_bytes"] / part["footprint"]["accessed_bytes"]
    assert by_set == pytest.approx(share, rel=0.1)
    rates = [info["requests"] / info["duration_s"] for info in (whole, part)]
    assert rates[1] == pytest.approx(rates[0], rel=0.15)


def test_a_load_in_place_of_another_has_its_columns_of_table_2() -> None:
    """All but what is used again, which the table does not state."""
    setup = runs.setup_of("tpcc_reuse")
    assert setup["workloads"] == {"tpcc": "tpcc_reuse.toml"}
    own = characteristics(loads.load(setup, "tpcc", quick=False))
    for column, published in PUBLISHED["tpcc"].items():
        assert own[column] == pytest.approx(published, rel=0.002, abs=0.05), column
    other = characteristics(loads.load(runs.setup_of(), "tpcc", quick=False))
    assert own["lru_miss_ratio"][256] < 0.7 * other["lru_miss_ratio"][256]


# Runs


@pytest.mark.parametrize("name", ["tpcd", "hplajw"])
def test_ram_finds_what_an_lru_list_has(name: str) -> None:
    """One line of 4 KiB by one, without times; with them what is dirty waits, and little moves."""
    counts = quick(name, "DISK-RAM").counts
    lines = int(runs.setup_of()["mems_mib"] / loads.PARTS[name] * 256)
    memory = ss.device("memory", blocks=ss.device("disk").blocks)
    rows = ss.simulate(loads.load(runs.setup_of(), name, quick=True), memory).rows
    order = sorted(range(len(rows)), key=rows["id"].__getitem__)
    lbns, blocks = rows["lbn"], rows["blocks"]
    places = (range(lbns[at] // 8, (lbns[at] + blocks[at] - 1) // 8 + 1) for at in order)
    asked, had = independent.lru_found((line for own in places for line in own), lines)
    assert counts["segments_read"] + counts["segments_written"] == asked
    found = counts["segments_read_found"] + counts["segments_written_found"]
    assert found == pytest.approx(had, rel=0.02, abs=3)


def test_a_disk_cannot_do_tpcc() -> None:
    """The time of 139 pages a second: half a turn, and the least mean seek of its pieces.

    It rests between bursts until its queue has built up.
    """
    outcome = quick("tpcc", "DISK")
    assert outcome.saturated
    assert outcome.back_busy > 0.9
    assert not quick("tpcc", "MCD ALL").saturated
    assert not quick("tpcc", "MEMS").saturated


def test_a_write_buffer_without_writes_is_the_disk() -> None:
    """To the nanosecond: nothing is written."""
    assert quick("tpcd", "MWB").mean_ms == quick("tpcd", "DISK").mean_ms


@pytest.mark.parametrize("name", ["tpcc", "cello", "hplajw"])
def test_cleaning_in_idle_periods_shortens_waits(name: str) -> None:
    """Cleaning takes writes out of the way of reads, as far as they do not yield by themselves."""
    kind = "MCD NONE"
    plain, clean = (quick(name, kind, **keys) for keys in ({}, CLEANING))
    assert clean.mean_ms < plain.mean_ms
    assert clean.found() == pytest.approx(plain.found(), abs=0.02)
    more = quick(name, kind, mems_mib=2 * runs.setup_of()["mems_mib"])
    assert more.found() > plain.found()
    assert more.mean_ms < plain.mean_ms


def test_partial_writes_spare_fetches() -> None:
    """A write of a part of a segment that is not there fetches nothing, unless it is read."""
    none, partial = (quick("cello", f"MCD {label}").counts for label in ("NONE", "PWRITE"))
    assert partial["fetched_blocks"] < 0.8 * none["fetched_blocks"]
    assert partial["destaged_blocks"] < none["destaged_blocks"]


def test_a_disk_that_does_not_read_ahead_is_what_large_segments_help() -> None:
    """Small ones are as good where the disk reads ahead by itself, and lose by far where not."""

    def times(**keys: Any) -> list[float]:
        return [quick("tpcd", "MCD ALL", segment_kib=kib, **keys).mean_ms for kib in (8, 64)]

    ahead, alone = times(), times(back=READ_AHEAD)
    assert alone[0] / alone[1] > 5 * ahead[0] / ahead[1]


def test_the_controller_cache_decides_the_speed_of_a_disk() -> None:
    """Writing line by line it is worth least; while it rests, its writes are next to nothing."""

    def of_mwb(**cache: Any) -> float:
        disk, mwb = (
            quick("cello", kind, controller_cache=cache).mean_ms for kind in ("DISK", "MWB")
        )
        return disk / mwb

    assert 1 < of_mwb(**CLEANING) < 1.2
    assert 1.5 < of_mwb() < 7
    assert of_mwb(exchange_kib=4) > 10


def test_the_public_week_takes_the_place_of_the_generator() -> None:
    """RAM that holds its set before MEMS, as section 6.4 has it; techniques save as in 6.1."""
    if papers.external_file(loads.WEEK) is None:
        assert "week_1992" in loads.note()
        pytest.skip("needs ../shared/traces")
    week = {kind: quick("hplajw", kind, "week_1992") for kind in runs.ARCHITECTURES}
    assert week["DISK-RAM"].mean_ms < week["MEMS"].mean_ms < week["MCD ALL"].mean_ms
    small = {
        label: quick("hplajw", f"MCD {label}", "week_1992", segment_kib=8).mean_ms
        for label in ("NONE", "ALL")
    }
    assert 0.14 < 1 - small["ALL"] / small["NONE"] < 0.45
    assert quick("cello", "DISK", "week_1992") == quick("cello", "DISK")


def test_the_disk_moves_what_is_not_found() -> None:
    """Without a write the disk of DISK reads what was asked for, and no more than twice that."""
    kib = {kind: quick("tpcd", kind).disk_kib for kind in ("DISK", "MWB", "MCD ALL")}
    assert kib["MWB"] == kib["DISK"]
    asked = ss.loads.load_info(
        loads.load(runs.setup_of(), "tpcd", quick=True), device=ss.device("disk")
    )
    mean_kib = asked["sizes"]["all"]["mean_bytes"] / 1024
    assert mean_kib * 0.95 < kib["DISK"] < mean_kib * 1.2
    assert kib["MCD ALL"] < mean_kib  # runs are read whole, and a part of the set is held


def test_immediate_report_does_less_with_fewer_places_in_the_buffer() -> None:
    """Section 6.3, of cello, as far as it helps: 2 MB hold 256 segments of 8 KB, and 16 of 128."""
    found = buffer.savings(runs.setup_of(), quick=True)["IREPORT"]
    assert found[8] > found[128]


def chosen_ms(name: str, kib: int | str, **more: Any) -> float:
    return quick(name, "MCD ALL", segment_kib=8, fetch_kib=kib, **more).mean_ms


def test_sizes_chosen_by_themselves_follow_a_disk_that_does_not_read_ahead() -> None:
    """It asks for large ones, up to 30 times as good as the small ones that are best else."""
    auto, small = (chosen_ms("tpcd", kib, back=READ_AHEAD) for kib in ("auto", 8))
    assert auto < small / 5


@pytest.mark.parametrize("name", ["tpcc", "cello", "hplajw"])
def test_sizes_chosen_by_themselves_are_near_the_best(name: str) -> None:
    """None is given, and none is known. Under tpcd they take a third more: see hybrids.md."""
    times = {kib: chosen_ms(name, kib) for kib in (8, 16, 32, 64, 128, 256)}
    # A quick run is too short for the trials of the virtual managers.
    assert chosen_ms(name, "auto") < 1.2 * min(times.values()), times


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
