"""The parser of DiskSim parameter files: values, places, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sledsim import SledsimError, disksim
from sledsim.disksim import Block, List, Place, Scalar, Tree, Wiring

DRIVES = Path(__file__).parents[3] / "shared" / "reference" / "drives"

needs_drives = pytest.mark.skipif(not DRIVES.is_dir(), reason=f"needs {DRIVES}")

BUS = """\
disksim_bus BUS0 {
   type = 1,                       # a comment, with = and { in it
   Arbitration time = 0.5e-1, Read block transfer time = .25, Write block transfer time = 0x10,
   [first name, second] = -3
}
"""
MODEL = """\
dm_disk small_model {
   Layout Model = dm_layout_g1 { Zones = [
         dm_layout_g1_zone { First cylinder number = 0, slips = [] },
         dm_layout_g1_zone { First cylinder number = 7, slips = [ 3, 5 ] } ] },
   Full seek curve = small.seek
}
"""
DISK = """\
disksim_disk SMALL { Model = source models/small.model, Segment size (in blks) = 64,
   Read hit over. after read = 2.0 }
"""

SYSTEM = """\
source bus.specs
source disk.specs
instantiate [ disk0 .. disk2, odd ] as SMALL
instantiate [ slow, fast ] as BUS0
instantiate [ ctl ] as CTL
disksim_ctlr CTL { type = 1 }
topology disksim_bus slow [
   disksim_disk disk0 [],
   disksim_ctlr ctl [ disksim_bus fast [ disksim_disk disk1 [], disksim_disk odd [] ] ]
]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a system over several files."""
    (tmp_path / "models").mkdir()
    (tmp_path / "system.parv").write_text(SYSTEM)
    (tmp_path / "bus.specs").write_text(BUS)
    (tmp_path / "disk.specs").write_text(DISK)
    (tmp_path / "models" / "small.model").write_text(MODEL)
    return tmp_path


def test_values_have_their_kind() -> None:
    bus = disksim.parse(BUS).blocks["BUS0"]
    assert (bus.type, bus.name) == ("disksim_bus", "BUS0")
    found = [(key, bus.number(key)) for key in bus.values]
    times = [("Arbitration time", 0.05), ("Read block transfer time", 0.25)]
    more = [("Write block transfer time", 16), ("first name", -3), ("second", -3)]
    assert found == [("type", 1), *times, *more]
    assert isinstance(bus.item("type"), Scalar)
    assert bus.integer("type") == 1
    assert bus.flag("type")
    assert bus.number("Read block transfer time", at_least=0, at_most=1) == 0.25
    assert bus.number("not there", default=2.0) == 2.0
    assert "type" in bus
    assert "Type" not in bus


def test_blanks_and_line_ends_do_not_matter() -> None:
    tight = disksim.parse("t n{a b=1,c=[x,y],d=u{e=2}}")
    loose = disksim.parse(
        "t\r\n n {\r\n a   \t b = 1 , # c\r\n c = [ x\r\n,y ] , d = u { e=2 } }\n"
    )
    assert tight == loose
    assert loose.blocks["n"].keys["c"].line == 4


def test_sourced_files_stand_where_they_are_named(folder: Path) -> None:
    tree = disksim.read(folder / "system.parv")
    assert list(tree.blocks) == ["BUS0", "SMALL", "CTL"]
    names = [path.name for path in tree.sourced]
    assert names == ["system.parv", "bus.specs", "disk.specs", "small.model"]
    model = tree.blocks["SMALL"].block("Model")
    assert model.place == Place(folder / "models" / "small.model", 1)
    zones = model.block("Layout Model").blocks("Zones")
    assert [zone.integers("slips") for zone in zones] == [(), (3, 5)]
    assert [zone.place.line for zone in zones] == [3, 4]
    assert model.file("Full seek curve") == folder / "models" / "small.seek"
    assert tree.blocks["SMALL"].integer("Read hit over. after read") == 2


def test_ranges_count_up_to_their_end() -> None:
    tree = disksim.parse("instantiate [ a, disk09 .. disk11, b1..b2, disk0 .. disk0 ] as D")
    (made,) = tree.instantiations
    assert made.names == ("a", "disk9", "disk10", "disk11", "b1", "b2", "disk0")
    block = disksim.parse("t n { devices = [ d0 .. d2 ], file = ../x/y.seek }").blocks["n"]
    assert str(block.list("devices")) == "[ d0, d1, d2 ]"
    assert block.text("file") == "../x/y.seek"


def test_list_values_and_list_items_may_be_sourced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("t n { zones = [ 1, source more, 4 ], source rest }")
    (tmp_path / "more").write_text("2,\n3")
    (tmp_path / "rest").write_text("x = 5, y = 6")
    block = disksim.read(tmp_path / "a").blocks["n"]
    assert block.integers("zones") == (1, 2, 3, 4)
    assert (block.integer("x"), block.integer("y")) == (5, 6)


def test_drives_are_on_their_nearest_bus(folder: Path) -> None:
    with (folder / "bus.specs").open("a") as file:
        file.write("BUS0 QUICK { Read block transfer time = 0.125 }")
    system = folder / "system.parv"
    system.write_text(
        SYSTEM.replace("[ slow, fast ] as BUS0", "[ slow ] as BUS0\ninstantiate [ fast ] as QUICK")
    )
    drives = {drive.name: drive for drive in disksim.drives(disksim.read(system))}
    assert list(drives) == ["disk0", "disk1", "odd"]
    times = {name: drive.read_block_ms for name, drive in drives.items()}
    assert times == {"disk0": 0.25, "disk1": 0.125, "odd": 0.125}
    assert drives["odd"].write_block_ms == 16, "QUICK extends BUS0"
    assert all(drive.block.integer("Segment size (in blks)") == 64 for drive in drives.values())


def test_without_topology_every_device_is_a_drive(folder: Path) -> None:
    text = "disksim_disk A { Model = m { n = 1 } } A B { x = 2 } memsmodel_mems C { x = 3 }\n"
    drives = disksim.drives(disksim.parse(text + BUS))
    types = {drive.name: drive.type for drive in drives}
    assert types == {"A": "disksim_disk", "B": "disksim_disk", "C": "memsmodel_mems"}
    assert drives[1].block.block("Model").integer("n") == 1
    assert {drive.bus for drive in drives} == {None}
    assert drives[0].read_block_ms == 0
    assert len(disksim.drives(disksim.read(folder / "disk.specs"))) == 1


def test_a_file_may_be_sourced_twice(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("source d\nsource d")
    (tmp_path / "d").write_text("")
    assert disksim.read(tmp_path / "c").blocks == {}, "twice is not in a circle"


def test_the_largest_numbers_are_read() -> None:
    least, most = -(2**63 - 1), 2**63 - 1
    block = disksim.parse(f"b B {{ x = {least}, y = {most}, z = 0x7fffffffffffffff }}").blocks["B"]
    assert [block.integer(key) for key in "xyz"] == [least, most, most]


# Strategies for any tree that the grammar allows.
WORDS = st.text("abcXYZ019_-.()/#{},=[] ", min_size=1, max_size=8).map(str.strip).filter(bool)
KEY_WORDS = st.text("abcXYZ-.()/", min_size=1, max_size=6)
KEYS = st.lists(KEY_WORDS, min_size=1, max_size=4).map(" ".join)
NOWHERE = Place(Path("nowhere"), 1)
NUMBERS = st.integers(-(2**63 - 1), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
HERE = st.just(NOWHERE)
SCALARS = st.builds(Scalar, NUMBERS | WORDS, HERE)


def tuples(of: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[Any]:
    return st.lists(of, max_size=most).map(tuple)


def blocks(items: st.SearchStrategy[Any], names: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    values = st.dictionaries(KEYS, items, max_size=4)
    return st.builds(Block, WORDS, names, values, HERE, st.just({}))


WIRINGS = st.recursive(
    st.builds(Wiring, WORDS, WORDS, st.just(()), HERE),
    lambda below: st.builds(Wiring, WORDS, WORDS, tuples(below, 3), HERE),
    max_leaves=4,
)
ITEMS = st.recursive(
    SCALARS | WIRINGS,
    lambda items: st.builds(List, tuples(items, 4), HERE) | blocks(items, st.none() | WORDS),
    max_leaves=8,
)
NAMED = tuples(blocks(ITEMS, WORDS), 3).map(lambda parts: {part.name: part for part in parts})
MADE = st.builds(disksim.Instantiation, tuples(WORDS, 3), WORDS, HERE)
TREES = st.builds(
    Tree, st.just(Path("nowhere")), NAMED, tuples(MADE, 2), tuples(WIRINGS, 2), st.just(())
)


@settings(max_examples=150)
@given(TREES)
def test_a_printed_tree_parses_to_the_same_tree(tree: Tree) -> None:
    again = disksim.parse(str(tree))
    assert again == tree
    assert kinds(again) == kinds(tree)


def kinds(tree: Tree) -> list[str]:
    """Types of the numbers, as 1 == 1.0."""
    found: list[str] = []
    waiting: list[Any] = list(tree.blocks.values())
    while waiting:
        match waiting.pop():
            case Scalar(value=value):
                found.append(type(value).__name__)
            case List(items=items):
                waiting += items
            case Block(values=inner):
                waiting += inner.values()
    return found


@settings(max_examples=300)
@given(st.text(' \n\t{}[]=,#"abc1.-', max_size=60) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        tree = disksim.parse(text, "x.parv")
    except SledsimError as wrong:
        assert str(wrong).startswith("x.parv:")  # noqa: PT017 - reading it is right too
    else:
        assert disksim.parse(str(tree)) == tree


SEEKS = "Seek distances measured: 3\n1,\t0.5\n2, 0.75\n10,  0.7   # scatter\n\n"


def test_seek_curve(tmp_path: Path) -> None:
    (tmp_path / "x.seek").write_text(SEEKS)
    points = disksim.read_seek_curve(tmp_path / "x.seek")
    found = [(point.cylinders, point.time_ms) for point in points]
    assert found == [(1, 0.5), (2, 0.75), (10, 0.7)]
    assert points[2].place == Place(tmp_path / "x.seek", 4)


@needs_drives
@pytest.mark.parametrize("file", sorted(DRIVES.glob("*.parv")), ids=lambda file: file.stem)
def test_reference_drives(file: Path) -> None:
    tree = disksim.read(file)
    assert disksim.parse(str(tree)) == tree
    (drive,) = disksim.drives(tree)
    model = drive.block.block("Model")
    zones = model.block("Layout Model").blocks("Zones")
    heads = model.integer("Number of data surfaces", at_least=1)
    # The zones hold the drive, and end with its last cylinder.
    sectors = sum(
        heads
        * zone.integer("Blocks per track")
        * (zone.integer("Last cylinder number") - zone.integer("First cylinder number") + 1)
        for zone in zones
    )
    assert model.integer("Block count") <= sectors < 1.05 * model.integer("Block count") + 3e5
    assert zones[-1].integer("Last cylinder number") == model.integer("Number of cylinders") - 1
    assert (drive.read_block_ms > 0) == (file.stem == "hp_c2247a"), "the others time it themselves"
    mechanics = model.block("Mechanical Model")
    if mechanics.text("Seek type") == "extracted":
        seeks = disksim.read_seek_curve(mechanics.file("Full seek curve"))
        assert seeks[0].cylinders == 1
        assert seeks[-1].cylinders < model.integer("Number of cylinders")
    else:
        assert len(mechanics.numbers("HPL seek equation values", length=6)) == 6


@needs_drives
@pytest.mark.parametrize("file", sorted(DRIVES.glob("*.parv")), ids=lambda file: file.stem)
def test_a_file_that_ends_too_early_is_refused(file: Path) -> None:
    text = file.with_suffix(".diskspecs").read_text().replace("source", "a")
    for end in range(text.index("{"), text.rindex("}"), 97):
        with pytest.raises(SledsimError):
            disksim.parse(text[:end])
