"""Refusals of the import of DiskSim parameter files, with their lines; and the command."""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
from pathlib import Path

import pytest
import sledsim as ss
from hypothesis import assume, given
from hypothesis import strategies as st
from sledsim import SledsimError
from sledsim.cli import main

from tests import disksim_files as files

# Refusals

ZONES = [files.zone(Last_cylinder_number=49), files.zone(First_cylinder_number=50)]


def zoned(**second: object) -> str:
    """Return a disk of two zones, the second with changes."""
    whole: dict[str, object] = {"First_cylinder_number": 50, **second}
    return files.disk(zones=[ZONES[0], files.zone(**whole)], blocks=39_000)


WRONG = [
    (zoned(First_cylinder_number=49), "First cylinder number = 49", "overlaps the zone at"),
    (zoned(First_cylinder_number=52), "First cylinder number = 52", "cylinders 50 to 51 are in no"),
    (zoned(Last_cylinder_number=97), "Last cylinder number = 97", "cylinders 98 to 99 are in no"),
    (zoned(Last_cylinder_number=101), "Last cylinder number = 101", "must be below the 'Number"),
    (zoned(Last_cylinder_number=40), "Last cylinder number = 40", "must be at least the first, 50"),
    (files.disk(zones=ZONES[::-1]), "First cylinder number = 50", "cylinders 0 to 49 are in no"),
    (files.disk(zones=[]), "Zones = [", "'Zones' is empty"),
    (files.disk(blocks=40_001), "Block count = 40001", "must be at most 40000, which the zones"),
    (zoned(slips="[ 3,\n20000 ]"), "20000 ]", "must be below 20000, the end of the zone"),
    (zoned(slips="[ 3,\n3 ]"), "3 ]", "must not be slipped twice"),
    (zoned(defects="[ 1,\n 2, 3 ]"), "defects = [ 1", "has 3 values: must be pairs"),
    (zoned(defects="[ 1, 2,\n1, 3 ]"), "1, 3 ]", "the bad place 1 is in a defect before, at"),
    (zoned(defects="[ 1, 9,\n2, 9 ]"), "2, 9 ]", "the spare 9 is in a defect before, at"),
    (zoned(defects="[ 1, 9,\n9, 10 ]"), "1, 9,", "the spare 9 is bad itself, at"),
    (zoned(slips="[ 7 ]", defects="[ 7, 9 ]"), "defects = [ 7", "is among the slips"),
    (zoned(defects="[ 7, 9 ]"), "defects = [ 7", "must end in a spare that replaces nothing else"),
    (zoned(Skew_for_track_switch=-1), "Skew for track switch = -1", "must be at least 0"),
    (zoned(Skew_units="degrees"), "Skew units = degrees", "must be 'sectors' or 'revolutions'"),
    (zoned(Skew_for_track_swich=1), "Skew for track swich = 1", "did you mean 'Skew for track sw"),
    (zoned(Empty_space_at_zone_front=20000), "Empty space at zone front = 20000", "leave blocks"),
    (
        files.disk(layout={"LBN-to-PBN mapping scheme": 3}),
        "LBN-to-PBN mapping scheme = 3",
        "must be one of 0, 1, 2",
    ),
    (files.disk(layout={"Sparing scheme used": 11}), "Sparing scheme used = 11", "8, 9, 10"),
    (
        files.disk(mechanics={"Access time type": "averageRotation"}),
        "Access time type = averageRotation",
        "'averageRotation': must be 'trackSwitchPlusRotation'",
    ),
    (files.disk(mechanics={"Seek type": "quick"}), "Seek type = quick", "must be one of 'extract"),
    (files.disk(mechanics={"Average seek time": 9}), "Average seek time = 9", "from 1, a single"),
    (
        files.disk(mechanics={"Seek type": "curve", "Average seek time": 7.9}),
        "Average seek time = 7.9",
        "must be",
    ),
    (
        files.disk(mechanics={"Seek type": "extracted", "Full seek curve": "none.seek"}),
        "Full seek curve = none.seek",
        "there is no file",
    ),
    (
        files.disk(mechanics={"Seek type": "hpl"}),
        "dm_mech_g1 {",
        "lacks 'HPL seek equation values'",
    ),
    (
        files.disk(mechanics={"Seek type": "hpl", "HPL seek equation values": "[ 1, 2 ]"}),
        "HPL seek equation values = [ 1",
        "has 2 values: must be 6",
    ),
    (files.disk().replace("dm_mech_g1", "dm_mech_g9"), "dm_mech_g9 {", "must be a dm_mech_g1"),
    (files.disk().replace("dm_layout_g1 ", "dm_layout_g4 "), "dm_layout_g4 {", "be a dm_layout_g1"),
    (
        files.disk().replace("dm_layout_g1 ", "dm_layout_g4 ").replace("Zones", "TP"),
        "dm_layout_g4 {",
        "be a dm_layout_g1",
    ),
    (files.disk({"Enable caching in buffer": 3}), "Enable caching in buffer = 3", "one of 0, 1, 2"),
    (files.disk({"Buffer continuous read": 5}), "Buffer continuous read = 5", "0, 1, 2, 3, 4"),
    (files.disk({"Fast write level": 3}), "Fast write level = 3", "must be one of 0, 1, 2"),
    (files.disk({"Immediate buffer read": 3}), "Immediate buffer read = 3", "one of 0, 1, 2"),
    (files.disk({"Immediate buffer write": 3}), "Immediate buffer write = 3", "one of 0, 1, 2"),
    (files.disk({"Combine seq writes": 2}), "Combine seq writes = 2", "from 0 to 1"),
    (files.disk({"High (read) water mark": 1.5}), "High (read) water mark = 1.5", "from 0 to 1"),
    (files.disk({"Number of buffer segments": 0}), "Number of buffer segments = 0", "from 1 to"),
    (
        files.disk({"Maximum number of write segments": 5}),
        "Maximum number of write segments = 5",
        "from 1 to 4",
    ),
    (files.disk(cylinders=1 << 23), "Number of cylinders = 8388608", "from 1 to 4194304"),
    (
        files.disk({"Read hit over. afterread": 1}),
        "Read hit over. afterread = 1",
        "did you mean 'Read hit over. after read'",
    ),
    (
        files.disk(
            {"Number of buffer segments": 1, "Maximum number of write segments": 1}
            | {"Use separate write segment": 1}
        ),
        "Use separate write segment = 1",
        "must be false if there is one segment",
    ),
    (
        files.disk({"Minimum read-ahead (blks)": 200}),
        "Minimum read-ahead (blks) = 200",
        "from 0 to 128",
    ),
    (files.disk({"Read completion overhead": 1e4}), "Read completion overhead = 10000.0", "1000"),
    (files.disk({"First reselect overhead": -1}), "First reselect overhead = -1", "at least 0"),
    (files.disk({"Minimum seek delay": "soon"}), "Minimum seek delay = soon", "must be a number"),
    (files.mems({"Layout policy": 5}), "Layout policy = 5", "must be one of 6, 7"),
    (files.mems({"Seek function": 2}), "Seek function = 2", "must be one of 0, 1"),
    (files.mems({"Number of sleds": 2}), "Number of sleds = 2", "must be 1, for a device with one"),
    (files.mems({"Tip sectors per lbn": 63}), "memsmodel_mems mems.g2 {", "tips_per_lbn"),
    (files.mems({"Spring constant factor": 1.0}), "Spring constant factor = 1.0", "below 1"),
    ("disksim_simpledisk SD { Block count = 9 }", "SD {", "is a disksim_simpledisk: only disksim_"),
    ("disksim_disk D {\n Model = 3,\n Scheduler = s { } }", "Model = 3", "must be a block"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_wrong_input_is_named_with_its_line(
    text: str, line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "wrong.parv", tmp_path / "out.toml"
    path.write_text(text)
    assert main(["devices", "import", str(path), "-o", str(out)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    found = re.match(rf"sledsim: error: {re.escape(str(path))}:(\d+): ", said.err)
    assert found is not None, said.err
    assert line in text.splitlines()[int(found[1]) - 1], said.err
    assert message in said.err
    assert not out.exists()


ODD = ["-1", "0", "0.5", "3", "1e18", "-1e300", "9" * 30, "x", "[]", "[ 7 ]", "[ [ 1 ] ]", "b {}"]


@given(
    text=st.sampled_from([files.disk(blocks=39_000), files.mems(), files.rz26()]),
    number=st.integers(0, 200),
    value=st.sampled_from(ODD),
)
def test_unusual_values_are_imported_or_refused_with_their_line(
    text: str, number: int, value: str
) -> None:
    lines = text.splitlines()
    number %= len(lines)
    key, equals, old = lines[number].partition(" = ")
    assume(equals and not old.endswith(("{", "[")))
    comma = "," if old.endswith(",") else ""
    lines[number] = f"{key} = {value}{comma}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "odd.specs"
        path.write_text("\n".join(lines))
        refusal = None
        try:
            tomllib.loads(ss.disksim.import_device(path).toml)
        except SledsimError as refused:
            refusal = str(refused)
        assert refusal is None or re.match(rf"{re.escape(str(path))}:\d+: ", refusal)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no device (disksim_disk, "),
        (files.system([]), "has no device"),
        ("source missing.diskspecs", "cannot read"),
        ("disksim_disk D { Model = 3", "is not closed"),
    ],
)
def test_files_without_a_device(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.parv"
    path.write_text(text)
    assert main(["devices", "import", str(path)]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert str(path) in said.err
    assert said.out == ""


# The command


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a parameter file with a disk on a bus, which loses one thing."""
    path = tmp_path / "small.parv"
    text = files.disk({"Preseeking level": 1, "Buffer continuous read": 4}, blocks=39_000)
    path.write_text(text + files.system([("disk0", "disksim_disk", "SMALL")]))
    return path


def test_the_command_prints_or_writes_the_file(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["devices", "import", str(small)]) == 0
    printed = capsys.readouterr()
    assert main(["devices", "import", str(small), "-o", "-"]) == 0
    assert capsys.readouterr() == printed
    assert printed.out == ss.disksim.import_device(small).toml
    out = tmp_path / "out.toml"
    out.write_text("something old")
    assert main(["devices", "import", str(small), "-o", str(out)]) == 0
    written = capsys.readouterr()
    assert out.read_text() == printed.out
    assert written.err == printed.err
    assert written.out.startswith(f"written  {out}\n")
    assert "Preseeking level = 1: only with several requests at the drive" in printed.err
    assert "disksim_bus OUTER: a bus of other devices" in printed.err
    assert "taken as unused: 1000\n" in printed.err


def test_the_command_reports_in_json(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["devices", "import", str(small), "--json"]) == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert said.err == ""
    assert document["toml"] == ss.disksim.import_device(small).toml
    assert document["blocks"] == 39_000
    assert [item["parameter"] for item in document["ignored"]] == ["Preseeking level"]
    out = tmp_path / "out.toml"
    assert main(["devices", "import", str(small), "--json", "-o", str(out)]) == 0
    written = json.loads(capsys.readouterr().out)
    assert "toml" not in written
    assert written["output"] == str(out)
    assert {**written, "output": None} == {k: v for k, v in document.items() if k != "toml"}


@pytest.mark.parametrize("name", ["small.parv", "a.seek", "link.toml"])
def test_no_file_that_is_read_is_overwritten(
    name: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.seek").write_text("Seek distances measured: 2\n1, 1.0\n99, 3\n")
    (tmp_path / "link.toml").symlink_to(small)
    text = files.disk(mechanics={"Seek type": "extracted", "Full seek curve": "a.seek"})
    small.write_text(text)
    before = (tmp_path / name).read_text()
    assert main(["devices", "import", str(small), "-o", str(tmp_path / name)]) == 2
    assert "is read by the same command" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == before


def test_a_curve_of_many_falls_is_summarised(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = [f"{d}, {1 + 0.0001 * d + 0.1 * ((d - 1) % 3):.4f}" for d in range(1, 100)]
    curve = "\n".join(["Seek distances measured: 99", *points, ""])
    (small.parent / "saw.seek").write_text(curve)
    named = {"Seek type": "extracted", "Full seek curve": "saw.seek"}
    small.write_text(files.disk(mechanics=named))
    assert main(["devices", "import", str(small)]) == 0
    said = capsys.readouterr()
    assert 60 < said.err.count(" cylinders: ") + 1 < 70
    assert "more (--json lists them)" in said.err
    assert 60 < len(ss.disksim.import_device(small).report["risen_seeks"]) < 99


def test_a_file_that_cannot_be_written(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "import", str(small), "-o", str(small.parent / "no" / "x.toml")]) == 2
    assert "folder does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("points", "line"), [("1, 3.0\n50, 2.0\n99, 1.0", 3), ("1, 2.0\n50, 3.0\n99, 1.5", 4)]
)
def test_a_seek_curve_that_falls_as_a_whole_is_refused(
    points: str, line: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.seek").write_text(f"Seek distances measured: 3\n{points}\n")
    path = tmp_path / "small.parv"
    path.write_text(files.disk(mechanics={"Seek type": "extracted", "Full seek curve": "a.seek"}))
    out = tmp_path / "out.toml"
    assert main(["devices", "import", str(path), "-o", str(out)]) == 2
    assert f"a.seek:{line}: " in (said := capsys.readouterr().err)
    assert "seek times must rise with the distance" in said
    assert not out.exists()
