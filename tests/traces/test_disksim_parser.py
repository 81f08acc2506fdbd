"""The parser of DiskSim parameter files: values, places, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sledsim import SledsimError, disksim
from sledsim.disksim import Block, List, Place, Scalar, Tree, Wiring

if TYPE_CHECKING:
    from collections.abc import Callable

DRIVES = Path(__file__).parents[3] / "shared" / "reference" / "drives"

needs_drives = pytest.mark.skipif(not DRIVES.is_dir(), reason=f"needs {DRIVES}")

BUS = """\
disksim_bus BUS0 {
   type = 1,                       # a comment, with = and { in it
   Arbitration time = 0.5e-1,
   Read block transfer time = .25,
   Write block transfer time = 0x10,
   [first name, second] = -3
}
"""

MODEL = """\
dm_disk small_model {
   Layout Model = dm_layout_g1 {
      Zones = [
         dm_layout_g1_zone { First cylinder number = 0, slips = [] },
         dm_layout_g1_zone { First cylinder number = 7, slips = [ 3, 5 ] }
      ]
   },
   Full seek curve = small.seek
}
"""

DISK = """\
disksim_disk SMALL {
   Model = source models/small.model,
   Segment size (in blks) = 64,
   Read hit over. after read = 2.0
}
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
    assert {key: item.value for key, item in bus.values.items() if isinstance(item, Scalar)} == {
        "type": 1,
        "Arbitration time": 0.05,
        "Read block transfer time": 0.25,
        "Write block transfer time": 16,
        "first name": -3,
        "second": -3,
    }
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
    assert [path.name for path in tree.sourced] == [
        "system.parv",
        "bus.specs",
        "disk.specs",
        "small.model",
    ]
    model = tree.blocks["SMALL"].block("Model")
    assert model.place == Place(folder / "models" / "small.model", 1)
    zones = model.block("Layout Model").blocks("Zones")
    assert [zone.integers("slips") for zone in zones] == [(), (3, 5)]
    assert [zone.place.line for zone in zones] == [4, 5]
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
    assert {name: drive.read_block_ms for name, drive in drives.items()} == {
        "disk0": 0.25,
        "disk1": 0.125,
        "odd": 0.125,
    }
    assert drives["odd"].write_block_ms == 16, "QUICK extends BUS0"
    assert all(drive.block.integer("Segment size (in blks)") == 64 for drive in drives.values())


def test_without_topology_every_device_is_a_drive(folder: Path) -> None:
    text = (
        "disksim_disk A { Model = m { n = 1 } }\nA B { x = 2 }\nmemsmodel_mems C { x = 3 }\n" + BUS
    )
    drives = disksim.drives(disksim.parse(text))
    assert [(drive.name, drive.type) for drive in drives] == [
        ("A", "disksim_disk"),
        ("B", "disksim_disk"),
        ("C", "memsmodel_mems"),
    ]
    assert drives[1].block.block("Model").integer("n") == 1
    assert {drive.bus for drive in drives} == {None}
    assert drives[0].read_block_ms == 0
    assert len(disksim.drives(disksim.read(folder / "disk.specs"))) == 1


# A malformed text, the line of the error, and words of the message.
WRONG = [
    ("t n { a = 1 b = 2 }", 1, "expected ',' or '}' after the value of 'a', found 'b'"),
    ("t n { a = x\n b = 2 }", 2, "expected ',' or a closing bracket after 'x', found 'b'"),
    ("t n { a = 1,\n}", 1, "expected another 'KEY = VALUE' after ',', found '}'"),
    ("t n { a = [ 1,\n 2, ] }", 2, "expected another value after ',', found ']'"),
    ("t n { a = [ 1\n 2 ] }", 2, "expected ',' or ']' in the list of line 1, found '2'"),
    ("t n {\n a = }", 2, "expected the value of 'a', found '}'"),
    ("t n {\n a }", 2, "expected '=' after the key 'a', found '}'"),
    ("t n {\n = 1 }", 2, "expected a key or '}', found '='"),
    ("t n { a = 1,\n\n a = 2 }", 3, "'a' is given a second time, first at"),
    ("t n { a = 1 }\nt n { }", 2, "'n' is defined a second time, first at"),
    ("t n { a = 1", 1, "'{' is not closed in"),
    ("t n { a = [ 1 }", 1, "'}' cannot close the '[' of line 1"),
    ("t n { a = 1 } }", 1, "'}' closes nothing"),
    ("t { a = 1 }", 1, "expected the name of the block 't', found '{'"),
    ("t n", 1, "expected '{' after 't n', found the end of the file"),
    ("= 1", 1, "expected a block 'TYPE NAME { ... }', 'source', 'instantiate' or 'topology'"),
    ('t n { a = "x\n" }', 1, "double quote is not closed"),
    ("instantiate disk0 as X", 1, "expected '[' after 'instantiate', found 'disk0'"),
    ("instantiate [ disk0 ] X", 1, "expected 'as', found 'X'"),
    ("instantiate [ disk0 ] as", 1, "expected the name of a block, found the end of the file"),
    ("instantiate [ 7 ] as X", 1, "expected the name of a component"),
    ("instantiate [ a1 .. b3 ] as X", 1, "'a1 .. b3': must be one name with two numbers"),
    ("instantiate [ a3 .. a1 ] as X", 1, "'a3 .. a1': must count up"),
    ("instantiate [ a1 .. a999999999 ] as X", 1, "over at most 100000 names"),
    ("topology bus b0\n{ }", 2, "expected '[' after 'bus b0', found '{'"),
    ("topology bus b0 [ 1 ]", 1, "expected a component 'TYPE NAME [ ... ]'"),
    ("t n { a = source\n}", 1, "'source' must be followed by a file name, found '}'"),
    ("\nsource gone", 2, "'source gone': cannot read gone: No such file"),
    ("t n { a = 1e999 }", 1, "'1e999': a number must lie within"),
    ("t n { a = " + "9" * 500 + " }", 1, "(500 characters): a whole number must lie within"),
    ("t n { a = " + "[" * 200 + "]" * 200 + " }", 1, "nest deeper than 100"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_malformed_text_is_refused_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(SledsimError) as caught:
        disksim.parse(text, "x.parv")
    assert str(caught.value).startswith(f"x.parv:{line}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


BLOCK = """\
t n {
   word = abc,
   number = 1.5,
   list = [ 1, two ],
   block = u { },
   blocks = [ u { }, 3 ]
}
"""

WRONG_ACCESS: list[tuple[Callable[[Block], Any], int, str]] = [
    (lambda block: block.number("word"), 2, "'word' is 'abc': must be a number"),
    (lambda block: block.number("number", at_least=2), 3, "is 1.5: must be at least 2"),
    (lambda block: block.number("number", at_most=1), 3, "is 1.5: must be at most 1"),
    (lambda block: block.number("number", at_least=0, at_most=1), 3, "must be from 0 to 1"),
    (lambda block: block.integer("number"), 3, "is 1.5: must be a whole number"),
    (lambda block: block.flag("number"), 3, "is 1.5: must be from 0 to 1"),
    (lambda block: block.text("number"), 3, "is 1.5: must be a word"),
    (lambda block: block.numbers("list"), 4, "'list' is 'two': must be a number"),
    (lambda block: block.numbers("list", length=6), 4, "'list' has 2 values: must be 6"),
    (lambda block: block.numbers("blocks"), 6, "'blocks' lists the block 'u': must be"),
    (lambda block: block.number("list"), 4, "'list' is a list: must be a number or a word"),
    (lambda block: block.list("word"), 2, "'word' is 'abc': must be a list"),
    (lambda block: block.block("list"), 4, "'list' is a list: must be a block"),
    (lambda block: block.blocks("blocks"), 6, "'blocks' lists '3': must be a list of blocks"),
    (lambda block: block.number("gone"), 1, "the block 't n' lacks 'gone'"),
]


@pytest.mark.parametrize(("access", "line", "message"), WRONG_ACCESS)
def test_a_value_of_another_kind_is_refused_with_its_line(
    access: Callable[[Block], Any], line: int, message: str
) -> None:
    block = disksim.parse(BLOCK, "x.parv").blocks["n"]
    with pytest.raises(SledsimError) as caught:
        access(block)
    assert str(caught.value).startswith(f"x.parv:{line}: ")
    assert message in str(caught.value)


TWO_DISKS = "disksim_disk D {} disksim_bus B {} instantiate [d, e] as D instantiate [b] as B\n"

WRONG_SYSTEMS = [
    ("topology disksim_bus b []", 1, "'b' is in the topology, but not instantiated"),
    ("instantiate [ b ] as B", 1, "no block is named 'B'"),
    ("disksim_bus B { }\ninstantiate [ b, b ] as B", 2, "'b' is instantiated a second time"),
    (
        "disksim_bus B { }\ninstantiate [ b ] as B\ntopology disksim_ctlr b []",
        3,
        "'b' is a disksim_bus, not a disksim_ctlr",
    ),
    (
        "disksim_pf P { }\ninstantiate [ p ] as P\ntopology disksim_pf p []",
        3,
        "'p' is a disksim_pf: a topology has only",
    ),
    (
        TWO_DISKS + "topology disksim_disk d [\n disksim_disk e []]",
        3,
        "nothing can be below the device 'd'",
    ),
    (
        TWO_DISKS + "topology disksim_bus b [ disksim_disk d [],\ndisksim_disk d []]",
        3,
        "'d' is in two places, first at x.parv:2",
    ),
    ("A B { }\nB A { }", 1, "'B' extends itself"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG_SYSTEMS)
def test_a_wrong_topology_is_refused_with_its_line(text: str, line: int, message: str) -> None:
    tree = disksim.parse(text, "x.parv")
    with pytest.raises(SledsimError) as caught:
        disksim.drives(tree)
    assert str(caught.value).startswith(f"x.parv:{line}: ")
    assert message in str(caught.value)


def test_a_bus_without_times_is_refused() -> None:
    text = (
        "disksim_bus B { type = 1,\n Read block transfer time = -1 }\ndisksim_disk D { }\n"
        "instantiate [ d ] as D\ninstantiate [ b ] as B\n"
        "topology disksim_bus b [ disksim_disk d [] ]"
    )
    (drive,) = disksim.drives(disksim.parse(text, "x.parv"))
    with pytest.raises(SledsimError, match=r"x.parv:2: .* is -1: must be at least 0"):
        _ = drive.read_block_ms
    with pytest.raises(SledsimError, match=r"x.parv:1: .* lacks 'Write block transfer time'"):
        _ = drive.write_block_ms


def test_files_that_source_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\nsource b")
    (tmp_path / "b").write_text("\n\nsource a")
    with pytest.raises(SledsimError, match=r"b:3: 'source a': .* sources itself"):
        disksim.read(tmp_path / "a")
    (tmp_path / "c").write_text("source d\nsource d")
    (tmp_path / "d").write_text("")
    assert disksim.read(tmp_path / "c").blocks == {}, "twice is not in a circle"


def test_a_sourced_file_must_close_what_it_opens(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("source b\n }")
    (tmp_path / "b").write_text("t n {\n x = 1")
    with pytest.raises(SledsimError, match=r"b:1: '{' is not closed"):
        disksim.read(tmp_path / "a")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"t n {\n a = \xff }", r"x:2: not a text file in UTF-8"),
        (b"t n {\n\n a = \0 }", r"x:3: not a text file: it holds a zero byte"),
    ],
)
def test_files_that_are_no_text_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(SledsimError, match=message):
        disksim.read(tmp_path / "x")
    with pytest.raises(SledsimError, match="cannot read"):
        disksim.read(tmp_path)


# Strategies for any tree that the grammar allows.
WORDS = st.text("abcXYZ019_-.()/#{},=[] ", min_size=1, max_size=8).map(str.strip).filter(bool)
KEY_WORDS = st.text("abcXYZ-.()/", min_size=1, max_size=6)
KEYS = st.lists(KEY_WORDS, min_size=1, max_size=4).map(" ".join)
NOWHERE = Place(Path("nowhere"), 1)
NUMBERS = st.integers(-(2**63 - 1), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = (NUMBERS | WORDS).map(lambda value: Scalar(value, NOWHERE))


def blocks(items: st.SearchStrategy[Any], names: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda type_, name, values: Block(type_, name, values, NOWHERE, {}),
        WORDS,
        names,
        st.dictionaries(KEYS, items, max_size=4),
    )


WIRINGS = st.recursive(
    st.builds(lambda type_, name: Wiring(type_, name, (), NOWHERE), WORDS, WORDS),
    lambda below: st.builds(
        lambda type_, name, parts: Wiring(type_, name, tuple(parts), NOWHERE),
        WORDS,
        WORDS,
        st.lists(below, max_size=3),
    ),
    max_leaves=4,
)
ITEMS = st.recursive(
    SCALARS | WIRINGS,
    lambda items: (
        st.lists(items, max_size=4).map(lambda parts: List(tuple(parts), NOWHERE))
        | blocks(items, st.none() | WORDS)
    ),
    max_leaves=8,
)
INSTANTIATIONS = st.builds(
    lambda names, spec: disksim.Instantiation(tuple(names), spec, NOWHERE),
    st.lists(WORDS, max_size=3),
    WORDS,
)
TREES = st.builds(
    lambda parts, made, wirings: Tree(
        Path("nowhere"), {part.name: part for part in parts}, tuple(made), tuple(wirings), ()
    ),
    st.lists(blocks(ITEMS, WORDS), max_size=3),
    st.lists(INSTANTIATIONS, max_size=2),
    st.lists(WIRINGS, max_size=2),
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

    def visit(item: disksim.Item) -> None:
        match item:
            case Scalar():
                found.append(type(item.value).__name__)
            case List():
                for part in item:
                    visit(part)
            case Block():
                for part in item.values.values():
                    visit(part)

    for block in tree.blocks.values():
        visit(block)
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
    assert [(point.cylinders, point.time_ms) for point in points] == [
        (1, 0.5),
        (2, 0.75),
        (10, 0.7),
    ]
    assert points[2].place == Place(tmp_path / "x.seek", 4)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("Seek distances measured: 3\n", "", 1, "expected 'Seek distances measured: N', found '1,"),
        ("measured: 3", "measured: 4", 1, "announces 4 seek distances: the file holds 3"),
        ("2, 0.75", "2 0.75", 3, "expected 'CYLINDERS, MILLISECONDS', found '2 0.75'"),
        ("0.75", "x", 3, "'x': must be a time in ms"),
        ("0.75", "-0.75", 3, "a seek of -0.75 ms: must be above 0"),
        ("0.75", "nan", 3, "'nan': must be a time in ms"),
        ("10,", "2,", 4, "a seek over 2 cylinders: must be at least 3 here"),
        ("1,\t", "0,\t", 2, "a seek over 0 cylinders: must be at least 1 here"),
        (SEEKS, "", 1, "found the end of the file"),
        (SEEKS, "Seek distances measured: 0", 1, "announces no seek distance"),
    ],
)
def test_wrong_seek_files_are_refused(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    file = tmp_path / "x.seek"
    file.write_text(SEEKS.replace(old, new))
    with pytest.raises(SledsimError) as caught:
        disksim.read_seek_curve(file)
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert message in str(caught.value)


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
