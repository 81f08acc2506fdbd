"""Device files from DiskSim parameter files: what is modelled, what is told, what is refused.

Expected capacities are those that drives state, or DiskSim's sums over zones, worked out here;
expected times come from the seek files and from formulas solved by hand.
"""

from __future__ import annotations

import csv
import re
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
import sledsim as ss
from hypothesis import assume, given
from hypothesis import strategies as st
from sledsim import SledsimError
from sledsim.cli import main
from sledsim.disksim import zones as layouts

from tests import disksim_files as files

if TYPE_CHECKING:
    from collections.abc import Callable

DRIVES = Path(__file__).parents[2] / "shared" / "reference" / "drives"
PUBLISHED = ("atlas10k", "atlas_III", "cheetah9LP", "hp_c2247a", "ibm18es")

needs_drives = pytest.mark.skipif(not DRIVES.is_dir(), reason=f"needs {DRIVES}")


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., ss.Imported]:
    """Import a text."""

    def take(text: str, **choice: Any) -> ss.Imported:
        path = tmp_path / "drives.parv"
        path.write_text(text)
        return ss.import_device(path, **choice)

    return take


@pytest.fixture
def values(imported: Callable[..., ss.Imported]) -> Callable[..., dict[str, Any]]:
    """Import a text and return the keys and values of the device file."""
    return lambda text, **choice: tomllib.loads(imported(text, **choice).toml)


def resolved(path: Path, toml: str) -> ss.Device:
    """Return the device that a text describes."""
    path.write_text(toml)
    return ss.device(path)


def ignored(report: dict[str, Any]) -> dict[str, str]:
    """Return what ignoring each parameter changes."""
    return {item["parameter"]: item["changes"] for item in report["ignored"]}


# Published drives


@needs_drives
@pytest.mark.parametrize("ending", ["parv", "diskspecs"])
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_drive(name: str, ending: str, tmp_path: Path) -> None:
    source = DRIVES / f"{name}.{ending}"
    taken = ss.import_device(source)
    document = tomllib.loads(taken.toml)
    (model,) = (path.read_text() for path in DRIVES.glob("*.model") if path.name.startswith(name))
    for key, parameter in (
        ("surfaces", "Number of data surfaces"),
        ("cylinders", "Number of cylinders"),
        ("blocks", "Block count"),
        ("rpm", "Rotation speed (in rpms)"),
        ("head_switch_ms", "Head switch time"),
        ("write_settle_ms", "Add. write settling delay"),
    ):
        found = re.search(rf"{re.escape(parameter)}\s*=\s*([\d.]+)", model)
        assert found is not None
        assert document[key] == float(found[1]), key
    for key, parameter in (
        ("first_cylinder", "First cylinder number"),
        ("last_cylinder", "Last cylinder number"),
        ("blocks_per_track", "Blocks per track"),
        ("reserved_blocks", "Empty space at zone front"),
        ("spares", "Number of spares"),
        ("offset_sectors", "Offset of first block"),
        ("track_skew_sectors", "Skew for track switch"),
        ("cylinder_skew_sectors", "Skew for cylinder switch"),
    ):
        found_all = [float(number) for number in re.findall(rf"{parameter}\s*=\s*([\d.]+)", model)]
        assert [zone[key] for zone in document["zone"]] == found_all, key
    lists = [
        [int(number) for number in re.findall(r"\d+", text)]
        for text in re.findall(r"slips\s*=\s*\[([^]]*)\]", model)
    ]
    assert [zone.get("slips", []) for zone in document["zone"]] == lists

    surplus = document.get("unused_end_blocks", 0)
    assert 0 <= surplus < 0.01 * document["blocks"]
    assert surplus == taken.report["unused_end_blocks"]
    device = resolved(tmp_path / "drive.toml", taken.toml)
    assert device.blocks == document["blocks"] == taken.report["blocks"]
    assert (ending == "parv") == bool(taken.report["skipped"])


@needs_drives
def test_the_zones_of_the_c2247a_come_to_exactly_its_block_count() -> None:
    document = tomllib.loads(ss.import_device(DRIVES / "hp_c2247a.parv").toml)
    assert document["blocks"] == 2_054_864
    assert "unused_end_blocks" not in document


@needs_drives
def test_the_bus_counts_if_there_is_one() -> None:
    alone = tomllib.loads(ss.import_device(DRIVES / "hp_c2247a.diskspecs").toml)
    wired = tomllib.loads(ss.import_device(DRIVES / "hp_c2247a.parv").toml)
    assert alone["bus_ms_per_block"] == 0
    assert wired["bus_ms_per_block"] == 0.1701
    assert wired["bus_write_ms_per_block"] == 0.18686
    same = {"bus_ms_per_block", "bus_write_ms_per_block"}
    assert {k: v for k, v in wired.items() if k not in same} == {
        k: v for k, v in alone.items() if k not in same
    }


@needs_drives
def test_the_atlas_10k_is_the_preset() -> None:
    with (DRIVES / "atlas10k_seek.csv").open() as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    taken = ss.import_device(DRIVES / "atlas10k.parv")
    document = tomllib.loads(taken.toml)
    assert document["seek_table_ms"] == rows
    assert document["seek_falls"] == "smooth"
    preset = ss.device("atlas10k").parameters
    for key in ("surfaces", "cylinders", "rpm", "mapping", "sparing", "blocks"):
        assert document[key] == preset[key]
    for number, zone in enumerate(document["zone"]):
        for key, value in zone.items():
            assert preset.get(f"zone[{number}].{key}", 0) == value, (number, key)


@needs_drives
def test_seeks_that_are_far_off_are_told() -> None:
    """The study of the drives found these blunders of the extraction, and their true times."""
    for name, blunders in (
        ("atlas10k", {1400: 4.2, 4700: 6.6}),
        ("atlas_III", {2100: None}),
        ("ibm18es", {10: 1.73, 3400: 7.4}),
    ):
        risen = ss.import_device(DRIVES / f"{name}.parv").report["risen_seeks"]
        found = {point["cylinders"]: point for point in risen}
        for distance, about in blunders.items():
            point = found[distance]
            if about is not None:
                assert point["taken_ms"] == pytest.approx(about, abs=0.15)
            file, line = point["place"].rsplit(":", 1)
            assert Path(file).name == f"{name}.seek"
            assert Path(file).read_text().splitlines()[int(line) - 1].startswith(f"{distance},")


@needs_drives
def test_reserved_cylinders_are_unused() -> None:
    report = ss.import_device(DRIVES / "cheetah9LP.diskspecs").report
    assert report["unused_cylinders"] == [847, 1644, 2393, 3097, 3758, 4380, 4965]


@needs_drives
def test_what_the_c2247a_loses_is_told_with_its_line() -> None:
    taken = ss.import_device(DRIVES / "hp_c2247a.parv")
    lost = {item["parameter"]: item for item in taken.report["ignored"]}
    assert lost.keys() == {
        "Low (write) water mark",
        "Data preparation overhead",
        "Other reselect overhead",
        "Read disconnect afterread",
        "Read disconnect afterwrite",
        "Write disconnect overhead",
        "Extra write disconnect",
        "Extradisc command overhead",
        "Extradisc disconnect overhead",
        "Extradisc inter-disconnect delay",
        "Extradisc 2nd disconnect overhead",
        "Extradisc seek delta",
    }
    for name, item in lost.items():
        file, line = item["place"].rsplit(":", 1)
        assert Path(file).read_text().splitlines()[int(line) - 1].strip().startswith(name)
        assert re.search(rf"(?m)^#   {re.escape(name)} = {re.escape(item['value'])}$", taken.toml)
    skipped = [block["block"].split()[0] for block in taken.report["skipped"]]
    assert skipped.count("disksim_bus") == 1, "the other bus is the drive's"
    assert "disksim_synthio" in skipped


@needs_drives
def test_the_text_depends_on_nothing_but_the_files(tmp_path: Path) -> None:
    copy = tmp_path / "a copy"
    shutil.copytree(DRIVES, copy)
    for name in PUBLISHED:
        text = ss.import_device(DRIVES / f"{name}.parv").toml
        assert text == ss.import_device(copy / f"{name}.parv").toml
        assert str(DRIVES) not in text
        assert max(map(len, text.splitlines())) <= 130
        body = text.split("\n\n# Parameters")[0].splitlines()
        keyed = [line for line in body if re.match(r"\w+ = [^\[]|\w+ = \[.+\]", line)]
        assert len(keyed) > 50
        assert all(" # " in line for line in keyed)


@needs_drives
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_drives_run(name: str, tmp_path: Path) -> None:
    out = tmp_path / f"{name}.toml"
    taken = ss.import_device(DRIVES / f"{name}.parv", out)
    assert main(["devices", "show", str(out)]) == 0
    device = ss.device(out)
    assert device.blocks == taken.report["blocks"]
    slowest = max(6e4 / device.parameters["rpm"], device.spec["derived"]["full_seek_ms"])
    for kind in ("sequential", "random"):
        load = ss.workload(kind, requests=500, read_fraction=1.0)
        times = ss.simulate(load, device=device).summary["response_time_ms"]
        if kind == "sequential":
            assert times["p50"] < 6e4 / device.parameters["rpm"], "most are read ahead"
        else:
            assert slowest / 4 < times["mean"] < 2 * slowest


@needs_drives
def test_the_atlas_10k_runs_as_the_preset(tmp_path: Path) -> None:
    """Two hands wrote down what the same files say; seeks that fall are taken alike."""
    out = tmp_path / "atlas.toml"
    ss.import_device(DRIVES / "atlas10k.parv", out)
    load = ss.workload("random", requests=3000, queue_depth=2, seed=7)
    for falls in ("keep", "smooth"):
        ours, theirs = (
            ss.simulate(load, device=ss.device(one, seek_falls=falls)).summary
            for one in (out, "atlas10k")
        )
        for key in ("response_time_ms", "service_time_ms", "seek_ms", "simulated_s"):
            assert ours[key] == theirs[key], (falls, key)


# Demerit figures of DiskSim 4.0 on the measured drives in ms: all, reads, writes.
DISKSIM_DEMERITS = {
    "atlas10k": (0.268, 0.385, 0.175),
    "atlas_III": (0.378, 0.472, 0.069),
    "cheetah9LP": (0.108, 0.123, 0.161),
    "hp_c2247a": (0.094, 0.149, 0.124),
    "ibm18es": (0.136, 0.165, 0.061),
}


@needs_drives
def test_imported_drives_are_nearer_to_the_measured_ones_than_disksim(tmp_path: Path) -> None:
    """End to end: bus, overheads, buffer, layout and seeks have to be right for that."""
    total = weighted = 0.0
    for name, (all_ms, reads_ms, writes_ms) in DISKSIM_DEMERITS.items():
        out = tmp_path / f"{name}.toml"
        ss.import_device(DRIVES / f"{name}.parv", out)
        validation = ss.validate(out, DRIVES / f"{name}.measured.trace")
        figures = validation.demerit_ms
        weighted += validation.class_weighted_ms or 0.0
        found = [figures[kind] or 0.0 for kind in ("all", "read", "write")]
        assert found[0] < all_ms
        assert found[1] < reads_ms
        assert found[2] < 1.25 * writes_ms
        total += found[0]
    assert total < 0.55
    assert weighted < 0.70


# Capacities and places


@pytest.mark.parametrize(
    "text",
    [files.rz26(), files.c3323a(), files.c2249a(), files.st41601n()],
    ids=["rz26", "c3323a", "c2249a", "st41601n"],
)
def test_zones_that_come_to_exactly_the_block_count(
    text: str, values: Callable[..., dict[str, Any]]
) -> None:
    """These drives state, to the block, what their zones, spares and reserved sectors leave."""
    assert "unused_end_blocks" not in values(text)


def test_a_drive_with_gaps_and_a_defect_that_replaces_itself(
    imported: Callable[..., ss.Imported],
) -> None:
    taken = imported(files.cheetah_4lp())
    assert taken.report["unused_cylinders"] == [1344, 2449, 3542, 4407, 5224, 5957]
    assert taken.report["unused_end_blocks"] == 632
    assert tomllib.loads(taken.toml)["sparing_range_cylinders"] == 12
    assert "defects" in taken.report["without_effect"]


SPARINGS = [
    "none",
    "zone_end_tracks",
    "cylinder_end",
    "track_end",
    "cylinder_end_no_slips",
    "cylinder_front",
    "cylinder_front_no_slips",
    "disk_end",
    "range_end",
    "zone_end",
    "zone_end_no_slips",
]


def disksim_capacity(scheme: int, spares: int, empty: int, slips: int) -> int:
    """Return how many of 100 cylinders of 4 tracks of 100 sectors DiskSim gives blocks.

    Ranges have 8 cylinders, the last 4.
    """
    lost = {
        0: slips,
        1: 100 * spares,
        2: 100 * spares,
        3: 400 * spares,
        4: 100 * spares + slips,
        5: 100 * spares,
        6: 100 * spares + slips,
        7: slips,
        8: 13 * spares,
        9: spares,
        10: spares + slips,
    }
    return 40_000 - empty - lost[scheme]


@pytest.mark.parametrize("scheme", range(11))
@pytest.mark.parametrize(("spares", "empty"), [(0, 0), (3, 0), (3, 1234), (3, 970)])
def test_every_sparing_scheme_leaves_what_disksim_says(
    scheme: int, spares: int, empty: int, values: Callable[..., dict[str, Any]]
) -> None:
    slip = 17 if scheme == 1 else 20_001
    slips = "[]" if spares == 0 else f"[ {slip} ]"
    only = files.zone(Number_of_spares=spares, Empty_space_at_zone_front=empty, slips=slips)
    expected = disksim_capacity(scheme, spares, empty, int(spares > 0))
    layout = {"Sparing scheme used": scheme, "Rangesize for sparing": 8}
    document = values(files.disk(zones=[only], layout=layout, blocks=expected))
    assert "unused_end_blocks" not in document
    assert document["sparing"] == SPARINGS[scheme]
    with pytest.raises(SledsimError, match=rf"'Block count' is {expected + 1}: must be at most"):
        values(files.disk(zones=[only], layout=layout, blocks=expected + 1))


def usable_places(scheme: int, spares: int, slips: set[int], span: int, end: int) -> list[int]:
    """Go through all sectors of a zone whose ranges, of ``span`` sectors, have spares."""
    usable = []
    for start in range(0, end, span):
        good = [place for place in range(start, start + span) if place not in slips]
        free = spares if scheme in {4, 6} else max(spares - (span - len(good)), 0)
        kept = max(len(good) - free, 0)
        usable += good[len(good) - kept :] if scheme in {5, 6} else good[:kept]
    return usable


@given(scheme=st.sampled_from([2, 3, 4, 5, 6, 8]), data=st.data())
def test_reserved_sectors_are_counted_without_spares(scheme: int, data: Any) -> None:
    """DiskSim's capacity is what the core makes of the place, counted one by one."""
    tracks, heads, sectors = 6, 2, data.draw(st.integers(2, 7))
    span = sectors * {3: 1, 8: 2 * heads}.get(scheme, heads)
    spares = data.draw(st.integers(1, span - 1))
    end = tracks * heads * sectors
    slips = data.draw(st.sets(st.integers(0, end - 1), max_size=span))
    usable = usable_places(scheme, spares, slips, span, end)
    assume(len(usable) > 1)
    empty = data.draw(st.integers(1, len(usable) - 1))
    zone = files.zone(
        Last_cylinder_number=tracks - 1,
        Blocks_per_track=sectors,
        Number_of_spares=spares,
        Empty_space_at_zone_front=empty,
        Skew_for_track_switch=0,
        Skew_for_cylinder_switch=0,
        slips=f"[ {', '.join(map(str, sorted(slips)))} ]" if slips else "[]",
    )
    layout = {"Sparing scheme used": scheme, "Rangesize for sparing": 2}
    blocks = len(usable) - empty
    text = files.disk(zones=[zone], surfaces=heads, cylinders=tracks, layout=layout, blocks=blocks)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "zone.parv"
        path.write_text(text)
        report = ss.import_device(path).report
    assert (report["blocks"], report["unused_end_blocks"]) == (blocks, 0)


@given(scheme=st.sampled_from([2, 3, 4, 8]), span=st.integers(2, 9), data=st.data())
def test_data_begin_behind_the_reserved_sectors(scheme: int, span: int, data: Any) -> None:
    spares = data.draw(st.integers(1, span - 1))
    usable = usable_places(scheme, spares, set(), span, 30 * span)
    number = data.draw(st.integers(1, len(usable) - 1))
    place = layouts._place_of_usable(number, (), spares, scheme=scheme, span=span)
    assert place == usable[number]


def test_units_of_skews(values: Callable[..., dict[str, Any]]) -> None:
    both = [
        files.zone(Last_cylinder_number=49, Skew_for_track_switch=0.25, Skew_units="revolutions"),
        files.zone(
            First_cylinder_number=50, Skew_for_track_switch=25, Skew_for_cylinder_switch=230
        ),
    ]
    both[0] = both[0].replace("Skew for cylinder switch = 20", "Skew for cylinder switch = 0.5")
    first, second = values(files.disk(zones=both))["zone"]
    assert (first["track_skew_revolutions"], first["cylinder_skew_revolutions"]) == (0.25, 0.5)
    assert second["track_skew_sectors"] == 25
    assert second["cylinder_skew_sectors"] == 30, "less two revolutions of 100 sectors"
    turned = files.disk(layout={"Skew units": "revolutions"}).replace(
        "Skew for track switch = 10", "Skew for track switch = 0.1"
    )
    (zone,) = values(turned.replace("cylinder switch = 20", "cylinder switch = 0.2"))["zone"]
    assert zone["track_skew_revolutions"] == 0.1
    assert not any(key.endswith("_skew_sectors") for key in zone)


@pytest.mark.parametrize(
    ("scheme", "name"), [(0, "ascending"), (1, "serpentine_zone"), (2, "serpentine_drive")]
)
def test_mappings(scheme: int, name: str, values: Callable[..., dict[str, Any]]) -> None:
    assert values(files.disk(layout={"LBN-to-PBN mapping scheme": scheme}))["mapping"] == name


# Seeks


def derived(imported: Callable[..., ss.Imported], tmp_path: Path, **seeks: object) -> Any:
    """Return what follows from the mechanics of a small disk of 100 cylinders."""
    taken = imported(files.disk(mechanics=files.spelt(seeks)))
    return resolved(tmp_path / "seeks.toml", taken.toml).spec["derived"]


def assert_mean(times: dict[str, Any], curve: list[float]) -> None:
    """Check the mean over all pairs of 100 cylinders, equal ones included.

    What an access takes that does not seek is for the core to say, from 0 to a shortest seek.
    """
    rest = sum(2 * (100 - distance) * time for distance, time in enumerate(curve, 1)) / 100**2
    mean = times["mean_seek_ms"]
    assert rest * (1 - 1e-6) <= mean <= (rest + curve[0] / 100) * (1 + 1e-6)


def test_linear_seeks(imported: Callable[..., ss.Imported], tmp_path: Path) -> None:
    times = derived(imported, tmp_path)
    line = [1 + 3 * (d - 1) / 32 if d <= 33 else 4 + 4 * (d - 33) / 66 for d in range(1, 100)]
    assert times["full_seek_ms"] == 8
    assert_mean(times, line)


def test_three_point_seeks(imported: Callable[..., ss.Imported], tmp_path: Path) -> None:
    times = derived(imported, tmp_path, Seek_type="curve")
    assert times["full_seek_ms"] == pytest.approx(8)
    # The average is over all moves; a hundredth of the pairs of cylinders is none.
    assert 0.99 * 4 <= times["mean_seek_ms"] <= 0.99 * 4 + 0.01


def test_constant_seeks(imported: Callable[..., ss.Imported], tmp_path: Path) -> None:
    times = derived(imported, tmp_path, Seek_type="constant", Constant_seek_time=3.5)
    assert times["full_seek_ms"] == 3.5
    assert_mean(times, [3.5] * 99)
    text = files.disk(mechanics={"Seek type": "constant", "Constant seek time": 3.5})
    assert tomllib.loads(imported(text).toml)["seek_zero_ms"] == 0


@pytest.mark.parametrize(("kind", "sixth"), [("hpl", -1), ("hpl", 0.5), ("hplplus10", -1)])
def test_seeks_by_hpl_coefficients(
    kind: str, sixth: float, imported: Callable[..., ss.Imported], tmp_path: Path
) -> None:
    first = [0.5 + 0.1 * d for d in range(1, 11)]
    text = files.disk(
        mechanics={
            "Seek type": kind,
            "HPL seek equation values": f"[ 49, 1.0, 0.25, 2.695, 0.001, {sixth} ]",
            "First ten seek times": f"[ {', '.join(map(str, first))} ]",
        }
    )
    curve = [1 + 0.25 * d**0.5 if d < 49 else 2.695 + 0.001 * d for d in range(1, 100)]
    if kind == "hplplus10":
        curve[:10] = first
    elif sixth >= 0:
        curve[0] = sixth
    taken = imported(text)
    times = resolved(tmp_path / "hpl.toml", taken.toml).spec["derived"]
    assert times["full_seek_ms"] == pytest.approx(2.794)
    # From the knee on it is the line that counts: the root is above it there.
    assert "seek_falls" not in tomllib.loads(taken.toml)
    assert_mean(times, curve)


def test_seeks_that_fall_are_risen(imported: Callable[..., ss.Imported], tmp_path: Path) -> None:
    (tmp_path / "a.seek").write_text(
        "Seek distances measured: 5\n1, 1.0\n2, 1.5\n3, 1.25\n4, 1.25\n99, 3\n"
    )
    text = files.disk(mechanics={"Seek type": "extracted", "Full seek curve": "a.seek"})
    taken = imported(text)
    document = tomllib.loads(taken.toml)
    assert document["seek_table_ms"] == [[1, 1], [2, 1.5], [3, 1.25], [4, 1.25], [99, 3]]
    assert document["seek_falls"] == "smooth"
    (point,) = taken.report["risen_seeks"]
    assert (point["cylinders"], point["measured_ms"], point["taken_ms"]) == (2, 1.5, 1.25)
    assert point["place"].endswith("a.seek:3")
    (tmp_path / "a.seek").write_text("Seek distances measured: 2\n1, 1.0\n99, 3\n")
    assert "seek_falls" not in tomllib.loads(imported(text).toml)


# Behaviour

CHOICES: list[tuple[dict[str, object], dict[str, object]]] = [
    ({"Enable caching in buffer": 1}, {"keep": "all"}),
    ({"Enable caching in buffer": 2}, {"keep": "ahead"}),
    ({"Buffer continuous read": 0}, {"read_ahead": "none"}),
    ({"Buffer continuous read": 1}, {"read_ahead": "track"}),
    ({"Buffer continuous read": 2}, {"read_ahead": "cylinder"}),
    ({"Buffer continuous read": 3}, {"read_ahead": "segment"}),
    ({"Buffer continuous read": 4}, {"read_ahead": "tracks"}),
    ({"Buffer continuous read": 4, "Read-ahead over requested": 1}, {"read_ahead": "segment"}),
    (
        {"Read-ahead over requested": 1, "Enable caching in buffer": 1},
        {"read_ahead_over_requested": True, "keep": "all"},
    ),
    (
        {"Read-ahead over requested": -1, "Enable caching in buffer": 1},
        {"read_ahead_over_requested": True, "keep": "ahead"},
    ),
    (
        {"Read-ahead over requested": -1, "Enable caching in buffer": 2},
        {"read_ahead_over_requested": True, "keep": "ahead"},
    ),
    ({"Buffer continuous read": 4, "Read-ahead over requested": -1}, {"read_ahead": "segment"}),
    ({"Fast write level": 0}, {"write_back": "none"}),
    ({"Fast write level": 1}, {"write_back": "appends"}),
    ({"Fast write level": 2}, {"write_back": "all"}),
    ({"Read any free blocks": 1}, {"read_free_blocks": True, "whole_track": False}),
    ({"Immediate buffer read": 1}, {"whole_track": False}),
    ({"Immediate buffer read": 1, "Read any free blocks": 1}, {"whole_track": True}),
    ({"Immediate buffer read": 2}, {"whole_track": True}),
    ({"Set watermark by reqsize": 1}, {"high_water_of": "request"}),
    ({"Set watermark by reqsize": 0}, {"high_water_of": "segment"}),
    ({"Write hit stop prefetch": 0}, {"read_ahead_after_write_hit": True}),
    ({"Write hit stop prefetch": 1}, {"read_ahead_after_write_hit": False}),
    ({"High (read) water mark": 0.625}, {"high_water": 0.625}),
    ({"Minimum read-ahead (blks)": 7}, {"read_ahead_min_blocks": 7}),
    ({"Maximum read-ahead (blks)": 99}, {"read_ahead_max_blocks": 99}),
    ({"Combine seq writes": 0}, {"append_writes": False}),
    ({"Allow read hits on write data": 0}, {"read_written": False}),
    ({"Immed transfer partial hit": 0}, {"partial_hits_at_once": False}),
    ({"Use separate write segment": 1}, {"own_write_segment": True}),
    ({"Maximum number of write segments": 3}, {"write_segments": 3}),
    ({"Stop prefetch in sector": 1}, {"read_ahead_stops_in_sector": True}),
    ({"Read-ahead on idle hit": 1}, {"read_ahead_on_hit": True}),
]


@pytest.mark.parametrize(("given_values", "expected"), CHOICES)
def test_choices_of_the_buffer(
    given_values: dict[str, object],
    expected: dict[str, object],
    values: Callable[..., dict[str, Any]],
) -> None:
    table = values(files.disk(given_values))["buffer"]
    assert {key: table[key] for key in expected} == expected


@pytest.mark.parametrize("way", ["read", "write"])
def test_zero_latency(way: str, imported: Callable[..., ss.Imported]) -> None:
    for number in (0, 1, 2):
        taken = imported(files.disk({f"Immediate buffer {way}": number}))
        assert tomllib.loads(taken.toml)[f"zero_latency_{way}"] is (number >= 1)
        told = way == "write" and number == 2
        assert ("Immediate buffer write" in ignored(taken.report)) is told


def test_without_caching_a_buffer_only_matches_speeds(
    imported: Callable[..., ss.Imported],
) -> None:
    changes = {"Enable caching in buffer": 0, "Fast write level": 2, "High (read) water mark": 0.5}
    taken = imported(files.disk(changes))
    table = tomllib.loads(taken.toml)["buffer"]
    assert table == {
        "segments": 4,
        "segment_blocks": 256,
        "keep": "nothing",
        "high_water": 0.5,
        "high_water_of": "request",
    }
    assert {"Fast write level", "Buffer continuous read"} <= set(taken.report["without_effect"])


def test_a_segment_is_left_for_reads(imported: Callable[..., ss.Imported]) -> None:
    changes = {"Use separate write segment": 1, "Maximum number of write segments": 4}
    changes |= {"Buffer continuous read": 4}
    taken = imported(files.disk(changes))
    assert tomllib.loads(taken.toml)["buffer"]["write_segments"] == 3
    assert set(ignored(taken.report)) == {"Maximum number of write segments"}


def test_overheads_are_scaled(values: Callable[..., dict[str, Any]]) -> None:
    changes = {"Per-request overhead time": 0.1, "Minimum seek delay": 0.6}
    changes |= {"Buffer continuous read": 4}
    document = values(files.disk(changes | {"Time scale for overheads": 3.0}))
    assert document["command_overhead_ms"] == 0.3
    assert document["seek_zero_ms"] == 0.6
    hundredths = [11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22]
    assert list(document["overheads"].values()) == [3 * n / 100 for n in hundredths]


@pytest.mark.parametrize("scheme", range(5))
@pytest.mark.parametrize("level", range(3))
def test_hits_that_carry_on_are_cheaper_only_where_drives_do_so(
    scheme: int, level: int, imported: Callable[..., ss.Imported]
) -> None:
    """Seven drives: read hits with whole tracks read ahead, write hits that all are buffered."""
    hits = {
        "Read hit over. after read": 0.0625,
        "Read hit over. after write": 0.3125,
        "Write hit over. after read": 0.5,
        "Write hit over. after write": 0.125,
    }
    changes = {"Buffer continuous read": scheme, "Fast write level": level, **hits}
    taken = imported(files.disk(changes))
    table = tomllib.loads(taken.toml)["overheads"]
    found = [table[f"{a}_hit_after_{b}_ms"] for a in ("read", "write") for b in ("read", "write")]
    reads = [0.0625, 0.3125] if scheme == 4 else [0.1875, 0.1875]
    writes = [0.5, 0.5] if level == 1 else [0.5, 0.125]
    assert found == reads + writes
    told = {name for name in ignored(taken.report) if name in hits}
    expected = {"Read hit over. after read"} if scheme != 4 else set()
    assert told == expected | ({"Write hit over. after write"} if level == 1 else set())
    # What is dearer stays as it is: nothing is made cheaper.
    turned = dict(zip(hits, (0.5, 0.25, 0.125, 0.25), strict=True))
    table = tomllib.loads(imported(files.disk(changes | turned)).toml)["overheads"]
    assert (table["read_hit_after_read_ms"], table["read_hit_after_write_ms"]) == (0.5, 0.25)
    assert (table["write_hit_after_read_ms"], table["write_hit_after_write_ms"]) == (0.125, 0.25)


def test_data_that_the_host_has_had_are_dropped(
    imported: Callable[..., ss.Imported], tmp_path: Path
) -> None:
    """Read twice at -1: the second read is a miss, and what was read ahead a hit."""
    lines = ["R Hit 1000 8 0 20000", "R Hit 1000 8 0 20000", "R Hit 1008 8 0 20000"]
    trace = tmp_path / "twice.validate"
    trace.write_text("\n".join(lines) + "\n", encoding="utf-8")
    passes = {}
    for over in (-1, 0):
        out = tmp_path / f"{over}.toml"
        text = files.disk({"Read-ahead over requested": over}, blocks=40_000)
        out.write_text(imported(text).toml)
        run = ss.simulate(ss.read_trace(trace), ss.device(out))
        passes[over] = pa.table(run.requests).sort_by("id")["passes"].to_pylist()
    assert passes == {-1: [1, 1, 0], 0: [1, 0, 0]}


@pytest.mark.parametrize("value", [-2, 2, 0.5])
def test_other_values_of_over_requested_are_refused(
    value: float, imported: Callable[..., ss.Imported]
) -> None:
    with pytest.raises(ss.SledsimError, match=r"'Read-ahead over requested' is .*must be"):
        imported(files.disk({"Read-ahead over requested": value}))


def staying_ms(toml: str) -> float | None:
    value: float | None = tomllib.loads(toml).get("seek_zero_ms")
    return value


@pytest.mark.parametrize("units", ["sectors", "revolutions"])
def test_an_access_that_stays_is_no_longer_than_the_track_skew_covers(
    units: str, imported: Callable[..., ss.Imported], tmp_path: Path
) -> None:
    """The curve leaves 2 ms at distance 0; a revolution takes 10 ms, for 100 sectors."""
    curve = {"Seek type": "hpl", "HPL seek equation values": "[ 100, 2, 0.25, 2, 0.05, -1 ]"}
    turn = 1 if units == "sectors" else 100

    def taken(skews: list[int], changes: dict[str, object] | None = None) -> str:
        zones = [
            files.zone(
                First_cylinder_number=50 * at,
                Last_cylinder_number=50 * at + 49,
                Skew_for_track_switch=skew / turn,
                Skew_for_cylinder_switch=30 / turn,
                Skew_units=units,
            )
            for at, skew in enumerate(skews)
        ]
        return imported(files.disk(changes, mechanics=curve, zones=zones)).toml

    limited = taken([17, 13])
    assert staying_ms(limited) == 1.3
    assert "Skew for track switch; the seek curve leaves 2" in limited
    assert resolved(tmp_path / "a.toml", limited).spec["derived"]["seek_zero_ms"] == 1.3
    assert staying_ms(taken([17, 0])) == 1.7, "a skew of 0 says nothing"
    assert staying_ms(taken([21, 20])) is None
    assert staying_ms(taken([0, 0])) is None
    assert staying_ms(taken([17, 13], {"Minimum seek delay": 1.9})) == 1.9


@pytest.mark.parametrize(
    ("reading", "writing", "expected"),
    [(0.0, 0.0, (0.05, None)), (0.25, 0.0, (0.25, 0.05)), (0.01, 0.07, (0.05, 0.07))],
)
def test_the_slower_of_drive_and_bus_counts(
    reading: float,
    writing: float,
    expected: tuple[float, float | None],
    values: Callable[..., dict[str, Any]],
) -> None:
    bus = {"Read block transfer time": reading, "Write block transfer time": writing}
    wiring = files.system([("disk0", "disksim_disk", "SMALL")], bus)
    document = values(files.disk() + wiring)
    assert (document["bus_ms_per_block"], document.get("bus_write_ms_per_block")) == expected
    held = values(files.disk({"Never disconnect": 1, "Hold bus entire read xfer": 1}))
    assert (held["never_disconnect"], held["hold_bus_reads"]) == (True, True)


NUMBERED = (
    [("disk", name) for name, value in files.DISK.items() if isinstance(value, (int, float))]
    + [("queue", name) for name in files.QUEUE]
    + [("mechanics", name) for name, value in files.MECHANICS.items() if not isinstance(value, str)]
    + [("layout", name) for name in files.LAYOUT]
    + [("bus", name) for name in files.BUS]
)


HARMLESS = {
    "Print stats",
    "Avg sectors per cylinder",
    "Calc sector by sector",
    "Read directly to buffer",
    "Rangesize for sparing",
    "Scheduler: Cylinder mapping strategy",
    "Scheduler: Maximum concat size",
    "Scheduler: Sequential stream diff maximum",
    "Scheduler: Timeout time/weight",
    "Scheduler: Timeout scheduling",
    "Scheduler: Priority scheduling",
    "Bus: type",
    "Bus: Arbitration type",
    "Bus: Print stats",
}
"""What changes no time, whatever its value."""


@pytest.mark.parametrize(("where", "name"), NUMBERED)
def test_no_parameter_is_dropped_without_a_word(
    where: str, name: str, imported: Callable[..., ss.Imported]
) -> None:
    """Another value changes the device file, or the parameter is told of with its new value."""
    defaults: dict[str, files.Values] = {
        "disk": files.DISK,
        "queue": files.QUEUE,
        "mechanics": files.MECHANICS,
        "layout": files.LAYOUT,
        "bus": files.BUS,
    }
    old = defaults[where][name]
    assert isinstance(old, (int, float))
    new = (1 - old if old in {0, 1} else old - 1) if isinstance(old, int) else old + 0.125

    def take(value: float) -> ss.Imported:
        changed: dict[str, Any] = {name: value}
        others: dict[str, Any] = {} if where in {"disk", "bus"} else {where: changed}
        text = files.disk(changed if where == "disk" else None, **others)
        bus = changed if where == "bus" else None
        return imported(text + files.system([("disk0", "disksim_disk", "SMALL")], bus))

    before, after = take(old), take(new)
    keys = tomllib.loads(before.toml) != tomllib.loads(after.toml)
    prefix = {"queue": "Scheduler: ", "bus": "Bus: "}.get(where, "")
    told = f"{prefix}{name}" in {*ignored(after.report), *after.report["without_effect"]}
    assert keys != told
    if told:
        assert re.search(rf"(?m)^#   {re.escape(prefix + name)} = {new}$", after.toml)
        assert prefix + name in before.report["without_effect"], "at its usual value"
        lossless = prefix + name in after.report["without_effect"]
        assert lossless is (prefix + name in HARMLESS)


# MEMS devices

GENERATIONS: dict[str, dict[str, object]] = {
    "g1": {
        "Command overhead": 0.3,
        "Bit cell length": 50,
        "Simultaneously active tips": 640,
        "Bidirectional access": 0,
        "Sled acceleration X": 688.8,
        "Sled acceleration Y": 688.8,
        "Sled access speed": 400000,
        "Settling time constants": 2.0,
    },
    "g2": {},
    "g3": {
        "Command overhead": 0.1,
        "Bit cell length": 30,
        "Simultaneously active tips": 3200,
        "Sled acceleration X": 1033.2,
        "Sled acceleration Y": 1033.2,
        "Sled access speed": 1000000,
        "Sled resonant frequency": 1108,
    },
}


@pytest.mark.parametrize("name", GENERATIONS)
def test_the_published_mems_devices_are_the_presets(
    name: str, imported: Callable[..., ss.Imported], tmp_path: Path
) -> None:
    out = tmp_path / "mems.toml"
    text = files.mems(GENERATIONS[name], f"mems.{name}")
    wiring = files.system([("mems0", "memsmodel_mems", f"mems.{name}")])
    imported(text + wiring, output=out)
    device, preset = ss.device(out), ss.device(name, kinematics="disksim")
    own, known = device.parameters, preset.parameters
    assert {key for key in own if own[key] != known.get(key)} == {
        "title",
        "buffer.size_kib",
        "buffer.segments",
        "buffer.read_ahead",
    }
    assert own["buffer.size_kib"] == 10 * 128 / 2
    assert known.keys() - {"base"} <= own.keys()
    assert device.blocks == preset.blocks
    # On blocks at random the buffer never hits, and nothing else tells them apart.
    load = ss.workload("random", requests=2000, queue_depth=4, seed=5)
    ours, theirs = (ss.simulate(load, device=one).summary for one in (device, preset))
    for key in ("response_time_ms", "service_time_ms", "seek_ms", "simulated_s"):
        assert ours[key] == theirs[key], key


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"Layout policy": 6}, {"lbn_map": "ascending"}),
        ({"Seek function": 1}, {"kinematics": "analytic"}),
        ({"Sled movement X": 80000}, {"travel_x_um": 80, "spring_reference_um": 50}),
        (
            {"Sled movement X": 80000, "Sled movement Y": 60000},
            {"travel_x_um": 80, "spring_reference_um": 40},
        ),
        ({"Sled movement Y": 60500}, {"travel_y_um": 60.5}),
        ({"Sled active power": 70.0}, {"power_active_mw": 70, "power_idle_mw": 70}),
        ({"Prefetch depth": 16}, {"buffer": {"size_kib": 640, "segments": 10, "read_ahead": 16}}),
    ],
)
def test_values_of_mems_devices(
    changes: dict[str, object], expected: dict[str, object], values: Callable[..., dict[str, Any]]
) -> None:
    document = values(files.mems(changes))
    assert {key: document[key] for key in expected} == expected


def test_a_mems_device_without_segments_has_no_buffer(
    values: Callable[..., dict[str, Any]],
) -> None:
    assert "buffer" not in values(files.mems({"Number of buffer segments": 0}))


@pytest.mark.parametrize(
    "name", [name for name in files.MEMS if name not in {"Number of sleds", "Layout policy"}]
)
def test_no_parameter_of_a_mems_device_is_dropped(
    name: str, imported: Callable[..., ss.Imported]
) -> None:
    old = files.MEMS[name]
    assert isinstance(old, (int, float))
    halved = old / 2 if isinstance(old, float) else old // 2 if old > 1 else 1 - old
    # Blocks must come to 512 bytes, and tips to whole blocks.
    together = {
        "Tip sectors per lbn": {"Tip sectors per lbn": 128, "Tip sector length": 40},
        "Tip sector length": {"Tip sectors per lbn": 128, "Tip sector length": 40},
        "Number of usable tips": {"Number of usable tips": 12800},
    }
    changes = together.get(name, {name: halved})
    before = imported(files.mems())
    after = imported(files.mems(changes))
    keys = tomllib.loads(before.toml) != tomllib.loads(after.toml)
    told = name in {*ignored(after.report), *after.report["without_effect"]}
    assert keys or told


def test_what_hongs_formula_loses_is_told(imported: Callable[..., ss.Imported]) -> None:
    assert (
        "half as stiff"
        in ignored(imported(files.mems({"Seek function": 1})).report)["Seek function"]
    )


# Which device


def test_equal_devices_are_one_and_different_ones_are_chosen(
    values: Callable[..., dict[str, Any]],
) -> None:
    fast = files.disk({"Bulk sector transfer time": 0.01}, name="FAST")
    wiring = files.system(
        [(name, "disksim_disk", "SMALL") for name in ("d0", "d1")]
        + [("d2", "disksim_disk", "FAST")]
    )
    text = files.disk() + fast + wiring
    with pytest.raises(SledsimError, match=r"choose one .*: d0 \(SMALL\), d1 \(SMALL\), d2 \(FA"):
        values(text)
    with pytest.raises(SledsimError, match="has no device 'd3': it has d0"):
        values(text, device="d3")
    for name, time in (("d0", 0.05), ("d1", 0.05), ("SMALL", 0.05), ("d2", 0.01), ("FAST", 0.01)):
        assert values(text, device=name)["bus_ms_per_block"] == time
    same = files.system(
        [(name, "disksim_disk", "SMALL") for name in ("d0", "d1")],
        {"Read block transfer time": 0.07},
    )
    wired = values(files.disk() + fast + same)
    assert (wired["title"], wired["bus_ms_per_block"]) == ("SMALL", 0.07)
    alone = values(files.disk() + fast + same, device="FAST")
    assert (alone["title"], alone["bus_ms_per_block"]) == ("FAST", 0.01), "it hangs on no bus"


def test_drives_on_buses_of_their_own(values: Callable[..., dict[str, Any]]) -> None:
    """Two controllers, each with a bus and a drive, as for the traces of HP."""
    bus = files.block("disksim_bus B", {**files.BUS, "Read block transfer time": 0.07})
    wired = ", ".join(
        f"disksim_ctlr c{n} [ disksim_bus b{n} [ disksim_disk d{n} [] ] ]" for n in (0, 1)
    )
    text = f"""
        {files.disk()}
        {bus}
        B QUICK {{ Read block transfer time = 0.06 }}
        disksim_iodriver D {{ type = 1 }}
        disksim_ctlr C {{ type = 1 }}
        instantiate [ d0 .. d1 ] as SMALL
        instantiate [ c0 .. c1 ] as C
        instantiate [ host ] as D
        topology disksim_iodriver host [ {wired} ]
    """
    same = values(text + "instantiate [ b0 .. b1 ] as B")
    assert same["bus_ms_per_block"] == 0.07
    different = text + "instantiate [ b0 ] as B instantiate [ b1 ] as QUICK"
    with pytest.raises(SledsimError, match="different devices"):
        values(different)
    assert values(different, device="d0")["bus_ms_per_block"] == 0.07
    assert values(different, device="d1")["bus_ms_per_block"] == 0.06


def test_a_block_may_extend_another(imported: Callable[..., ss.Imported]) -> None:
    taken = imported(
        files.disk() + "SMALL SLOW { Bulk sector transfer time = 0.5 }\n", device="SLOW"
    )
    document = tomllib.loads(taken.toml)
    assert (document["title"], document["bus_ms_per_block"], document["rpm"]) == ("SLOW", 0.5, 6000)
    assert taken.report["skipped"] == []


def test_names_that_toml_could_stumble_over(values: Callable[..., dict[str, Any]]) -> None:
    name = 'a\\b\x7f\u00e9\x01"'.replace('"', "")
    assert values(files.disk(name=name))["title"] == name


def test_parameters_that_disksim_does_not_have_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "more.parv"
    path.write_text(files.disk({"Shingled tracks": 4}))
    out = tmp_path / "more.toml"
    assert main(["devices", "import", str(path), "-o", str(out)]) == 0
    said = capsys.readouterr().err
    assert "Shingled tracks = 4: unknown: in DiskSim 4.0 a disksim_disk has no parameter" in said
    assert "Shingled tracks = 4" in out.read_text()


def test_a_cylinder_that_is_not_counted_is_added(tmp_path: Path) -> None:
    """The published HP C2490A has zones up to cylinder 2629, and says it has 2629 cylinders."""
    path = tmp_path / "short.parv"
    path.write_text(files.disk(cylinders=99))
    imported = ss.import_device(path)
    assert "cylinders = 100 " in imported.toml
    (line,) = [
        line for line in imported.report["ignored"] if line["parameter"] == "Number of cylinders"
    ]
    assert line["changes"] == "there are 100, as the last zone says"
