"""Refusals of DiskSim parameter files: of the parser, of the importer, of files of seek times."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim import disksim
from sledsim.disksim import read_seek_curve as read_curve

from tests import disksim_files as files

if TYPE_CHECKING:
    from collections.abc import Callable


def given(name: str, content: str | bytes, work: Callable[[Path], object]) -> object:
    """Do something with a file, and take it away."""
    path = Path(name)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    try:
        return work(path)
    finally:
        path.unlink()


def imported(text: str) -> object:
    """Import a DiskSim parameter file."""
    return given("x.parv", text, lambda path: ss.disksim.import_device(path, "out.toml"))


def changed(text: str, change: str) -> tuple[str, int]:
    """Change the last ``OLD`` of ``OLD => NEW``, or the value in ``KEY = VALUE``; tell its line."""
    old, _, new = change.rpartition(" => ")
    key = re.escape(new.partition(" = ")[0])
    old = old or re.findall(rf"(?m)^{key} = .*?(?=,?$)", text)[-1]
    before, _, after = text.rpartition(old)
    return f"{before}{new}{after}", f"{before}{new}".count("\n") + 1


def seeks(change: str) -> object:
    """Read a file of seek times, with a change."""
    return given("x.seek", changed(SEEKS, change)[0], read_curve)


def sought(*points: str) -> object:
    """Import a disk with such a seek curve."""
    text = "\n".join([f"Seek distances measured: {len(points)}", *points])
    extracted = files.disk(mechanics={"Seek type": "extracted", "Full seek curve": "a.seek"})
    return given("a.seek", text, lambda _: imported(extracted))


def bus(value: str) -> object:
    """Read a bus with such a value in its third line."""
    return parse(f"disksim_bus B {{\n  first = 1,\n  second = {value}\n}}\n")


def parse(text: str) -> disksim.Tree:
    """Parse a parameter file."""
    return disksim.parse(text, "x.parv")


def drives(text: str) -> object:
    """Find the drives of a system, and the times of their buses."""
    found = disksim.drives(parse(text))
    return [(drive.read_block_ms, drive.write_block_ms) for drive in found]


def sourced(**texts: str) -> object:
    """Read the file ``a`` among others."""
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    try:
        return disksim.read("a")
    finally:
        for name in texts:
            Path(name).unlink()


BLOCK = parse(
    "t n {\n word = abc,\n number = 1.5,\n list = [ 1, two ],\n block = u { },\n"
    " blocks = [ u { }, 3 ] }"
).blocks["n"]
SEEKS = "Seek distances measured: 3\n1,\t0.5\n2, 0.75\n10,  0.7   # scatter\n\n"
ZONES = [files.zone(Last_cylinder_number=49), files.zone(First_cylinder_number=50)]
TWO = "disksim_disk D {} disksim_bus B {} instantiate [d, e] as D instantiate [b] as B\n"
BUS = "disksim_bus B { %s }\ndisksim_disk D { } instantiate [ d ] as D instantiate [ b ] as B\n"
ZONED = files.disk(zones=ZONES, blocks=39_000)
WIRED = BUS + "topology disksim_bus b [ disksim_disk d [] ]"
CODE: dict[str, Any] = {**vars(files), **globals()}

PARAMETERS = [
    ("ZONED", "First cylinder number = 49", "overlaps the zone at"),
    ("ZONED", "First cylinder number = 52", "cylinders 50 to 51 are in no"),
    ("ZONED", "First cylinder number = 0 => First cylinder number = 3", "cylinders 0 to 2 are in"),
    ("ZONED", "Last cylinder number = 97", "cylinders 98 to 99 are in no"),
    ("ZONED", "Last cylinder number = 101", "must be below the 'Number"),
    ("ZONED", "Last cylinder number = 40", "must be at least the first, 50"),
    ("ZONED", "slips = [ 3,\n20000 ]", "must be below 20000, the end of the zone"),
    ("ZONED", "slips = [ 3,\n3 ]", "must not be slipped twice"),
    ("ZONED", "defects = [ 1, 2, 3 ]", "has 3 values: must be pairs"),
    ("ZONED", "defects = [ 1, 2,\n1, 3 ]", "the bad place 1 is in a defect before, at"),
    ("ZONED", "defects = [ 1, 9,\n2, 9 ]", "the spare 9 is in a defect before, at"),
    ("ZONED", "defects = [ 1, 9, 9, 10 ]", "the spare 9 is bad itself, at"),
    ("ZONED", "slips = [],\ndefects = [] => slips = [ 7 ],\ndefects = [ 7, 9 ]", "among the slips"),
    ("ZONED", "defects = [ 7, 9 ]", "must end in a spare that replaces nothing else"),
    ("ZONED", "Skew for track switch = -1", "must be at least 0"),
    ("ZONED", "slips = [] => slips = [],\nSkew units = degrees", "be 'sectors' or 'revolutions'"),
    ("ZONED", "slips = [] => slips = [],\nSkew for track swich = 1", "'Skew for track sw"),
    ("ZONED", "Empty space at zone front = 20000", "leave blocks"),
    ("disk(zones=[])", "Zones = [ => Zones = [", "'Zones' is empty"),
    ("disk()", "Block count = 40001", "must be at most 40000, which the zones"),
    ("disk()", "LBN-to-PBN mapping scheme = 3", "must be one of 0, 1, 2"),
    ("disk()", "Sparing scheme used = 11", "8, 9, 10"),
    ("disk()", "Access time type = averageRotation", "must be 'trackSwitchPlusRotation'"),
    ("disk()", "Seek type = quick", "must be one of 'extract"),
    ("disk()", "Average seek time = 9", "from 1, a single"),
    ("disk(mechanics={'Seek type': 'curve'})", "Average seek time = 7.9", "must be"),
    ("disk()", "Seek type = extracted,\nFull seek curve = none.seek", "there is no file"),
    ("disk(mechanics={'Seek type': 'hpl'})", "dm_mech_g1 => dm_mech_g1", "lacks 'HPL seek"),
    ("disk()", "Seek type = hpl,\nHPL seek equation values = [ 1, 2 ]", "has 2 values: must be 6"),
    ("disk()", "dm_mech_g1 => dm_mech_g9", "must be a dm_mech_g1"),
    ("disk()", "dm_layout_g1 { => dm_layout_g4 {", "be a dm_layout_g1"),
    ("disk().replace('Zones', 'TP')", "dm_layout_g1 { => dm_layout_g4 {", "be a dm_layout_g1"),
    ("disk()", "Enable caching in buffer = 3", "one of 0, 1, 2"),
    ("disk()", "Buffer continuous read = 5", "0, 1, 2, 3, 4"),
    ("disk()", "Fast write level = 3", "must be one of 0, 1, 2"),
    ("disk()", "Immediate buffer read = 3", "one of 0, 1, 2"),
    ("disk()", "Immediate buffer write = 3", "one of 0, 1, 2"),
    ("disk()", "Combine seq writes = 2", "from 0 to 1"),
    ("disk()", "Read-ahead over requested = -2", "must be"),
    ("disk()", "Read-ahead over requested = 2", "must be"),
    ("disk()", "Read-ahead over requested = 0.5", "must be"),
    ("disk()", "High (read) water mark = 1.5", "from 0 to 1"),
    ("disk()", "Number of buffer segments = 0", "from 1 to"),
    ("disk()", "Maximum number of write segments = 5", "from 1 to 4"),
    ("disk()", "Number of cylinders = 8388608", "from 1 to 4194304"),
    ("disk()", "Print stats = 1 => Read hit over. afterread = 1", "'Read hit over. after read'"),
    (
        "disk({'Number of buffer segments': 1, 'Maximum number of write segments': 1})",
        "Use separate write segment = 1",
        "must be false if there is one segment",
    ),
    ("disk()", "Minimum read-ahead (blks) = 200", "from 0 to 128"),
    ("disk()", "Read completion overhead = 10000.0", "1000"),
    ("disk()", "First reselect overhead = -1", "at least 0"),
    ("disk()", "Minimum seek delay = soon", "must be a number"),
    ("mems()", "Layout policy = 5", "must be one of 6, 7"),
    ("mems()", "Seek function = 2", "must be one of 0, 1"),
    ("mems()", "Number of sleds = 2", "must be 1, for a device with one"),
    ("mems({'Tip sectors per lbn': 63})", "memsmodel_mems => memsmodel_mems", "tips_per_lbn"),
    ("mems()", "Spring constant factor = 1.0", "below 1"),
    ("mems({'Number of buffer segments': 5})", "Segment size (in blks) = 3", "come to whole KiB"),
]
"""Parameter files, by their code and a change; words of the error, which names the changed line."""

PARSED = [
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
    ("topology bus b0\n{ }", 2, "expected '[' after 'bus b0', found '{'"),
    ("topology bus b0 [ 1 ]", 1, "expected a component 'TYPE NAME [ ... ]'"),
    ("t n { a = source\n}", 1, "'source' must be followed by a file name, found '}'"),
    ("\nsource gone", 2, "'source gone': cannot read gone: No such file"),
    ("t n { a = " + "[" * 200 + "]" * 200 + " }", 1, "nest deeper than 100"),
    ("t n {" + ",\n".join(f"k{n} = [ a0 .. a99999 ]" for n in range(3)), 3, "than 200000"),
]
"""Malformed texts; the line, and words of the error."""

SYSTEMS = [
    ("topology disksim_bus b []", 1, "'b' is in the topology, but not instantiated"),
    ("instantiate [ b ] as B", 1, "no block is named 'B'"),
    (TWO + "instantiate [ b, b ] as B", 2, "'b' is instantiated a second time"),
    (TWO + "topology disksim_ctlr b []", 2, "'b' is a disksim_bus, not a disksim_ctlr"),
    ("disksim_pf P { } instantiate [ p ] as P topology disksim_pf p []", 1, "a topology has only"),
    (TWO + "topology disksim_disk d [\n disksim_disk e []]", 3, "can be below the device 'd'"),
    (
        TWO + "topology disksim_bus b [disksim_disk d [],\ndisksim_disk d []]",
        3,
        "first at x.parv:2",
    ),
    ("A B { }\nB A { }", 1, "'B' extends itself"),
    (WIRED % "x = 1,\nRead block transfer time = -1", 2, "must be at least 0"),
    (WIRED % "Read block transfer time = 1", 1, "lacks 'Write block transfer"),
]
"""Systems without sense; the line, and words of the error."""

NUMBERS = {
    "[ a0 .. a99999999999999999999 ]": "'99999999999999999999': a whole number must lie",
    "[ 0 .. 99999999999999999999 ]": "'99999999999999999999': a whole number must lie",
    "[ a0..a99999999999999999999 ]": "'99999999999999999999': a whole number must lie",
    "[ a99999999999999999999 .. a1 ]": "'99999999999999999999': a whole number must lie",
    "[ a0 .. a100000 ]": "'a0 .. a100000': must count up, over at most 100000 names",
    "[ a1 .. a0 ]": "'a1 .. a0': must count up",
    "9223372036854775808": "'9223372036854775808': a whole number must lie within",
    "-99999999999999999999": "'-99999999999999999999': a whole number must lie within",
    "9" * 5000: f"'{'9' * 40}...' (5000 characters): a whole number must lie within",
    f"0x{'f' * 5000}": f"'0x{'f' * 38}...' (5002 characters): a whole number must lie",
    "1e309": "'1e309': a number must lie within",
    f"[ a0 .. a{'9' * 5000} ]": f"'{'9' * 40}...' (5000 characters): a whole number",
}
"""Values beyond the bounds of numbers, and words of the error."""

SPECS: list[tuple[str, ...]] = [
    ("BLOCK.number('word')", "x.parv:2", "'word' is 'abc': must be a number"),
    ("BLOCK.number('number', at_least=2)", "x.parv:3", "is 1.5: must be at least 2"),
    ("BLOCK.number('number', at_most=1)", "x.parv:3", "is 1.5: must be at most 1"),
    ("BLOCK.number('number', at_least=0, at_most=1)", "x.parv:3", "must be from 0 to 1"),
    ("BLOCK.integer('number')", "x.parv:3", "is 1.5: must be a whole number"),
    ("BLOCK.flag('number')", "x.parv:3", "is 1.5: must be from 0 to 1"),
    ("BLOCK.text('number')", "x.parv:3", "is 1.5: must be a word"),
    ("BLOCK.numbers('list')", "x.parv:4", "'list' is 'two': must be a number"),
    ("BLOCK.numbers('list', length=6)", "x.parv:4", "'list' has 2 values: must be 6"),
    ("BLOCK.numbers('blocks')", "x.parv:6", "'blocks' lists the block 'u': must be"),
    ("BLOCK.number('list')", "x.parv:4", "'list' is a list: must be a number or a word"),
    ("BLOCK.list('word')", "x.parv:2", "'word' is 'abc': must be a list"),
    ("BLOCK.block('list')", "x.parv:4", "'list' is a list: must be a block"),
    ("BLOCK.blocks('blocks')", "x.parv:6", "'blocks' lists '3': must be a list of blocks"),
    ("BLOCK.number('gone')", "x.parv:1", "the block 't n' lacks 'gone'"),
    ("sourced(a='\\nsource b', b='\\n\\nsource a')", "b:3", "'source a': ", "sources itself"),
    ("sourced(a='source b\\n }', b='t n {\\n x = 1')", "b:1", "'{' is not closed"),
    ("given('x', b't n {\\n a = \\xff }', disksim.read)", "x:2", "not a text file in UTF-8"),
    ("given('x', b't n {\\n\\n a = \\0 }', disksim.read)", "x:3", "it holds a zero byte"),
    ("disksim.read('.')", ".", "cannot read"),
    ("imported('')", "x.parv", "has no device (disksim_disk, "),
    ("imported(system([]))", "x.parv", "has no device"),
    ("imported('source missing.diskspecs')", "x.parv:1", "cannot read"),
    ("imported('disksim_disk D { Model = 3')", "x.parv:1", "is not closed"),
    ("imported('disksim_simpledisk SD { Block count = 9 }')", "x.parv:1", "simpledisk: only disks"),
    ("imported('disksim_disk D {\\n Model = 3,\\n Scheduler = s { } }')", "x.parv:2", "be a block"),
    ("imported(disk() + 'instantiate [ d0 .. d99999999999999999999 ] as SMALL')", "x.parv:116", ""),
    ("sought('1, 3.0', '50, 2.0', '99, 1.0')", "a.seek:3", "must rise with the dist", "2 of 2"),
    ("sought('1, 2.0', '50, 3.0', '99, 1.5')", "a.seek:4", "must rise", "from 2 to 1.5 ms in all"),
    ("seeks('Seek distances measured: 3\\n => ')", "x.seek:1", "measured: N', found '1,"),
    ("seeks('measured: 3 => measured: 4')", "x.seek:1", "announces 4 seek distances", "holds 3"),
    ("seeks('2, 0.75 => 2 0.75')", "x.seek:3", "'CYLINDERS, MILLISECONDS', found '2 0.75'"),
    ("seeks('0.75 => x')", "x.seek:3", "'x': must be a time in ms"),
    ("seeks('0.75 => inf')", "x.seek:3", "'inf': must be a time in ms"),
    ("seeks('0.75 => nan')", "x.seek:3", "'nan': must be a time in ms"),
    ("seeks('0.75 => 1_0')", "x.seek:3", "'1_0': must be a time in ms"),
    ("seeks('0.75 => -0.75')", "x.seek:3", "a seek of -0.75 ms: must be above 0"),
    ("seeks('0.75 => ' + '9' * 500)", "x.seek:3", "'9999999999"),
    ("seeks('10, => 2,')", "x.seek:4", "a seek over 2 cylinders: must be at least 3 here"),
    ("seeks('1,\\t => 0,\\t')", "x.seek:2", "a seek over 0 cylinders: must be at least 1 here"),
    ("seeks('1,\\t => ' + '9' * 30 + ',')", "x.seek:2", "'9999999999"),
    ("seeks('measured: 3 => measured: ' + '9' * 30)", "x.seek:1", "'9999999999"),
    ("given('x.seek', '', read_curve)", "x.seek:1", "found the end of the file"),
    (
        "given('x.seek', 'Seek distances measured: 0', read_curve)",
        "x.seek:1",
        "announces no",
    ),
]

CALLS: list[tuple[Any, ...]] = [
    *[
        (f"imported(changed({base}, {change!r})[0])", ss.SpecError, f"x.parv:{line}", words)
        for base, change, words in PARAMETERS
        for _, line in [changed(eval(base, dict(CODE)), change)]
    ],
    *[
        (f"{work}({text!r})", ss.SpecError, f"x.parv:{line}", words)
        for work, rows in (("parse", PARSED), ("drives", SYSTEMS))
        for text, line, words in rows
    ],
    *[(f"bus({text!r})", ss.SpecError, "x.parv:3", words) for text, words in NUMBERS.items()],
    *[(code, ss.SpecError, *row) for code, *row in SPECS],
]
