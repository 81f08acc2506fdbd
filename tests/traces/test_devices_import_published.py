"""Device files of published drives: keys, reports, and their errors."""

from __future__ import annotations

import csv
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim.cli import main

from tests.imported_devices import resolved

DRIVES = Path(__file__).parents[3] / "shared" / "reference" / "drives"
PUBLISHED = ("atlas10k", "atlas_III", "cheetah9LP", "hp_c2247a", "ibm18es")

pytestmark = pytest.mark.skipif(not DRIVES.is_dir(), reason=f"needs {DRIVES}")


WHOLE = {
    "surfaces": "Number of data surfaces",
    "cylinders": "Number of cylinders",
    "blocks": "Block count",
    "rpm": "Rotation speed (in rpms)",
    "head_switch_ms": "Head switch time",
    "write_settle_ms": "Add. write settling delay",
}
OF_ZONES = {
    "first_cylinder": "First cylinder number",
    "last_cylinder": "Last cylinder number",
    "blocks_per_track": "Blocks per track",
    "reserved_blocks": "Empty space at zone front",
    "spares": "Number of spares",
    "offset_sectors": "Offset of first block",
    "track_skew_sectors": "Skew for track switch",
    "cylinder_skew_sectors": "Skew for cylinder switch",
}


def taken_as(ending: str) -> dict[str, Any]:
    """Import the HP C2247A from one of its files."""
    return tomllib.loads(ss.disksim.import_device(DRIVES / f"hp_c2247a.{ending}").toml)


@pytest.mark.parametrize("ending", ["parv", "diskspecs"])
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_drive(name: str, ending: str) -> None:
    source = DRIVES / f"{name}.{ending}"
    taken = ss.disksim.import_device(source)
    document = tomllib.loads(taken.toml)
    (model,) = (path.read_text() for path in DRIVES.glob("*.model") if path.name.startswith(name))
    for key, parameter in WHOLE.items():
        found = re.search(rf"{re.escape(parameter)}\s*=\s*([\d.]+)", model)
        assert found is not None
        assert document[key] == float(found[1]), key
    for key, parameter in OF_ZONES.items():
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
    device = resolved(taken.toml)
    assert device.blocks == document["blocks"] == taken.report["blocks"]
    assert (ending == "parv") == bool(taken.report["skipped"])


def test_the_bus_of_the_c2247a_counts_if_there_is_one() -> None:
    """Its zones come to exactly its block count."""
    alone, wired = taken_as("diskspecs"), taken_as("parv")
    assert alone["blocks"] == 2_054_864
    assert "unused_end_blocks" not in alone
    assert alone["bus_ms_per_block"] == 0
    times = {"bus_ms_per_block": 0.1701, "bus_write_ms_per_block": 0.18686}
    assert wired == alone | times


def test_the_atlas_10k_is_the_preset() -> None:
    with (DRIVES / "atlas10k_seek.csv").open() as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    taken = ss.disksim.import_device(DRIVES / "atlas10k.parv")
    document = tomllib.loads(taken.toml)
    assert document["seek_table_ms"] == rows
    assert document["seek_falls"] == "smooth"
    preset = ss.device("atlas10k").parameters
    for key in ("surfaces", "cylinders", "rpm", "mapping", "sparing", "blocks"):
        assert document[key] == preset[key]
    for number, zone in enumerate(document["zone"]):
        for key, value in zone.items():
            assert preset.get(f"zone[{number}].{key}", 0) == value, (number, key)


def test_large_corrections_of_seeks_are_reported() -> None:
    """The study of the drives found these blunders of the extraction, and their true times."""
    for name, blunders in (
        ("atlas10k", {1400: 4.2, 4700: 6.6}),
        ("atlas_III", {2100: None}),
        ("ibm18es", {10: 1.73, 3400: 7.4}),
    ):
        risen = ss.disksim.import_device(DRIVES / f"{name}.parv").report["risen_seeks"]
        found = {point["cylinders"]: point for point in risen}
        for distance, about in blunders.items():
            point = found[distance]
            if about is not None:
                assert point["taken_ms"] == pytest.approx(about, abs=0.15)
            file, line = point["place"].rsplit(":", 1)
            assert Path(file).name == f"{name}.seek"
            assert Path(file).read_text().splitlines()[int(line) - 1].startswith(f"{distance},")


def test_reserved_cylinders_are_unused() -> None:
    report = ss.disksim.import_device(DRIVES / "cheetah9LP.diskspecs").report
    assert report["unused_cylinders"] == [847, 1644, 2393, 3097, 3758, 4380, 4965]


def test_ignored_parameters_of_the_c2247a_are_listed_with_their_lines() -> None:
    taken = ss.disksim.import_device(DRIVES / "hp_c2247a.parv")
    lost = {item["parameter"]: item for item in taken.report["ignored"]}
    overheads = {name for name in lost if re.search("reselect|[Dd]isconnect|Extradisc", name)}
    assert lost.keys() - overheads == {"Low (write) water mark", "Data preparation overhead"}
    assert len(overheads) == 10
    for name, item in lost.items():
        file, line = item["place"].rsplit(":", 1)
        assert Path(file).read_text().splitlines()[int(line) - 1].strip().startswith(name)
        assert re.search(rf"(?m)^#   {re.escape(name)} = {re.escape(item['value'])}$", taken.toml)
    skipped = [block["block"].split()[0] for block in taken.report["skipped"]]
    assert skipped.count("disksim_bus") == 1, "the other bus is the drive's"
    assert "disksim_synthio" in skipped


def test_the_text_depends_on_nothing_but_the_files(tmp_path: Path) -> None:
    copy = tmp_path / "a copy"
    shutil.copytree(DRIVES, copy)
    for name in PUBLISHED:
        text = ss.disksim.import_device(DRIVES / f"{name}.parv").toml
        assert text == ss.disksim.import_device(copy / f"{name}.parv").toml
        assert str(DRIVES) not in text
        body = text.split("\n\n# Parameters")[0].splitlines()
        keyed = [line for line in body if re.match(r"\w+ = [^\[]|\w+ = \[.+\]", line)]
        assert len(keyed) > 50
        assert all(" # " in line for line in keyed), "each says where it comes from"


def test_the_atlas_10k_runs_as_the_preset(tmp_path: Path) -> None:
    """Two independent transcriptions of the same files agree; falling seeks are taken alike."""
    out = tmp_path / "atlas.toml"
    ss.disksim.import_device(DRIVES / "atlas10k.parv", out)
    load = ss.workload("random", requests=3000, queue_depth=2, seed=7)
    for falls in ("keep", "smooth"):
        devices = [ss.device(one, seek_falls=falls) for one in (out, "atlas10k")]
        ours, theirs = (ss.simulate(load, device=device).summary for device in devices)
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


def test_imported_drives_are_nearer_to_the_measured_ones_than_disksim(tmp_path: Path) -> None:
    """End to end: bus, overheads, buffer, layout and seeks have to be right for that."""
    total = weighted = 0.0
    for name, (all_ms, reads_ms, writes_ms) in DISKSIM_DEMERITS.items():
        out = tmp_path / f"{name}.toml"
        ss.disksim.import_device(DRIVES / f"{name}.parv", out)
        assert main(["devices", "show", str(out)]) == 0
        validation = ss.validate(DRIVES / f"{name}.measured.trace", out)
        figures = validation.demerit_ms
        weighted += validation.class_weighted_ms or 0.0
        found = [figures[kind] or 0.0 for kind in ("all", "read", "write")]
        assert found[0] < all_ms
        assert found[1] < reads_ms
        assert found[2] < 1.25 * writes_ms
        total += found[0]
    assert total < 0.55
    assert weighted < 0.70
