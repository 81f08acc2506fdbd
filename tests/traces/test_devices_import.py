"""Device files from DiskSim parameter files: keys, reports, refusals."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sledsim as ss
from hypothesis import assume, given
from hypothesis import strategies as st
from sledsim import SledsimError
from sledsim.cli import main

from tests import disksim_files as files
from tests.imported_devices import ignored, imported, resolved, values

# Behaviour

CHOICES: list[tuple[str, dict[str, object]]] = [
    ("Enable caching in buffer = 1", {"keep": "all"}),
    ("Enable caching in buffer = 2", {"keep": "ahead"}),
    ("Buffer continuous read = 0", {"read_ahead": "none"}),
    ("Buffer continuous read = 1", {"read_ahead": "track"}),
    ("Buffer continuous read = 2", {"read_ahead": "cylinder"}),
    ("Buffer continuous read = 3", {"read_ahead": "segment"}),
    ("Buffer continuous read = 4", {"read_ahead": "tracks"}),
    ("Buffer continuous read = 4, Read-ahead over requested = 1", {"read_ahead": "segment"}),
    ("Buffer continuous read = 4, Read-ahead over requested = -1", {"read_ahead": "segment"}),
    ("Read-ahead over requested = 1", {"read_ahead_over_requested": True, "keep": "all"}),
    ("Read-ahead over requested = -1", {"read_ahead_over_requested": True, "keep": "ahead"}),
    ("Read-ahead over requested = -1, Enable caching in buffer = 2", {"keep": "ahead"}),
    ("Fast write level = 0", {"write_back": "none"}),
    ("Fast write level = 1", {"write_back": "appends"}),
    ("Fast write level = 2", {"write_back": "all"}),
    ("Read any free blocks = 1", {"read_free_blocks": True, "whole_track": False}),
    ("Immediate buffer read = 0", {"zero_latency_read": False}),
    ("Immediate buffer read = 1", {"whole_track": False, "zero_latency_read": True}),
    ("Immediate buffer read = 1, Read any free blocks = 1", {"whole_track": True}),
    ("Immediate buffer read = 2", {"whole_track": True, "zero_latency_read": True}),
    ("Immediate buffer write = 0", {"zero_latency_write": False}),
    ("Immediate buffer write = 1", {"zero_latency_write": True}),
    ("Immediate buffer write = 2", {"zero_latency_write": True}),
    ("Never disconnect = 1", {"never_disconnect": True}),
    ("Hold bus entire read xfer = 1", {"hold_bus_reads": True}),
    ("Set watermark by reqsize = 1", {"high_water_of": "request"}),
    ("Set watermark by reqsize = 0", {"high_water_of": "segment"}),
    ("Write hit stop prefetch = 0", {"read_ahead_after_write_hit": True}),
    ("Write hit stop prefetch = 1", {"read_ahead_after_write_hit": False}),
    ("High (read) water mark = 0.625", {"high_water": 0.625}),
    ("Minimum read-ahead (blks) = 7", {"read_ahead_min_blocks": 7}),
    ("Maximum read-ahead (blks) = 99", {"read_ahead_max_blocks": 99}),
    ("Combine seq writes = 0", {"append_writes": False}),
    ("Allow read hits on write data = 0", {"read_written": False}),
    ("Immed transfer partial hit = 0", {"partial_hits_at_once": False}),
    ("Use separate write segment = 1", {"own_write_segment": True}),
    ("Maximum number of write segments = 3", {"write_segments": 3}),
    ("Stop prefetch in sector = 1", {"read_ahead_stops_in_sector": True}),
    ("Read-ahead on idle hit = 1", {"read_ahead_on_hit": True}),
]


@pytest.mark.parametrize(("given", "expected"), CHOICES)
def test_choices_of_the_buffer(given: str, expected: dict[str, object]) -> None:
    taken = imported(files.disk(files.told(given)))
    document = tomllib.loads(taken.toml)
    found = document | document["buffer"]
    assert {key: found[key] for key in expected} == expected
    assert ("Immediate buffer write" in ignored(taken.report)) == ("write = 2" in given)


def test_without_caching_a_buffer_only_matches_speeds() -> None:
    changes = "Enable caching in buffer = 0, Fast write level = 2, High (read) water mark = 0.5"
    taken = imported(files.disk(files.told(changes)))
    kept = {"segments": 4, "segment_blocks": 256, "keep": "nothing"}
    table = tomllib.loads(taken.toml)["buffer"]
    assert table == kept | {"high_water": 0.5, "high_water_of": "request"}
    assert {"Fast write level", "Buffer continuous read"} <= set(taken.report["without_effect"])


def test_a_segment_is_left_for_reads() -> None:
    changes = "Use separate write segment = 1, Maximum number of write segments = 4"
    taken = imported(files.disk(files.told(f"{changes}, Buffer continuous read = 4")))
    assert tomllib.loads(taken.toml)["buffer"]["write_segments"] == 3
    assert set(ignored(taken.report)) == {"Maximum number of write segments"}


def test_overheads_are_scaled() -> None:
    changes = (
        "Per-request overhead time = 0.1, Minimum seek delay = 0.6, Buffer continuous read = 4"
    )
    document = values(files.disk(files.told(f"{changes}, Time scale for overheads = 3.0")))
    assert (document["command_overhead_ms"], document["seek_zero_ms"]) == (0.3, 0.6)
    hundredths = [11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22]
    assert list(document["overheads"].values()) == [3 * n / 100 for n in hundredths]


@pytest.mark.parametrize("scheme", range(5))
@pytest.mark.parametrize("level", range(3))
def test_hits_that_carry_on_are_cheaper_only_where_drives_do_so(scheme: int, level: int) -> None:
    """Seven drives: read hits with whole tracks read ahead, write hits that all are buffered."""
    names = [f"{a} hit over. after {b}" for a in ("Read", "Write") for b in ("read", "write")]
    hits = dict(zip(names, (0.0625, 0.3125, 0.5, 0.125), strict=True))
    changes = {"Buffer continuous read": scheme, "Fast write level": level, **hits}
    taken = imported(files.disk(changes))
    table = tomllib.loads(taken.toml)["overheads"]
    keys = [f"{a}_hit_after_{b}_ms" for a in ("read", "write") for b in ("read", "write")]
    found = [table[key] for key in keys]
    reads = [0.0625, 0.3125] if scheme == 4 else [0.1875, 0.1875]
    writes = [0.5, 0.5] if level == 1 else [0.5, 0.125]
    assert found == reads + writes
    told = {name for name in ignored(taken.report) if name in hits}
    expected = {"Read hit over. after read"} if scheme != 4 else set()
    assert told == expected | ({"Write hit over. after write"} if level == 1 else set())
    # Larger overheads stay unchanged: none is reduced.
    turned = dict(zip(hits, (0.5, 0.25, 0.125, 0.25), strict=True))
    table = values(files.disk(changes | turned))["overheads"]
    assert [table[key] for key in keys] == [0.5, 0.25, 0.125, 0.25]


def test_data_that_the_host_has_had_are_dropped(tmp_path: Path) -> None:
    """Read twice at -1: the second read is a miss, and the blocks read ahead a hit."""
    lines = ["R Hit 1000 8 0 20000", "R Hit 1000 8 0 20000", "R Hit 1008 8 0 20000"]
    trace = tmp_path / "twice.validate"
    trace.write_text("\n".join(lines) + "\n", encoding="utf-8")
    passes = {}
    for over in (-1, 0):
        out = tmp_path / f"{over}.toml"
        text = files.disk({"Read-ahead over requested": over}, blocks=40_000)
        out.write_text(imported(text).toml)
        run = ss.simulate(ss.read_trace(trace), ss.device(out))
        passes[over] = pa.table(run.rows).sort_by("id")["passes"].to_pylist()
    assert passes == {-1: [1, 1, 0], 0: [1, 0, 0]}


@pytest.mark.parametrize("units", ["sectors", "revolutions"])
def test_an_access_that_stays_is_no_longer_than_the_track_skew_covers(units: str) -> None:
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
    assert tomllib.loads(limited)["seek_zero_ms"] == 1.3
    assert "Skew for track switch; the seek curve leaves 2" in limited
    assert resolved(limited).spec["derived"]["seek_zero_ms"] == 1.3
    assert tomllib.loads(taken([17, 0])).get("seek_zero_ms") == 1.7, "a skew of 0 says nothing"
    assert tomllib.loads(taken([21, 20])).get("seek_zero_ms") is None
    assert tomllib.loads(taken([0, 0])).get("seek_zero_ms") is None
    assert tomllib.loads(taken([17, 13], {"Minimum seek delay": 1.9})).get("seek_zero_ms") == 1.9


@pytest.mark.parametrize(
    ("reading", "writing", "expected"),
    [(0.0, 0.0, (0.05, None)), (0.25, 0.0, (0.25, 0.05)), (0.01, 0.07, (0.05, 0.07))],
)
def test_the_slower_of_drive_and_bus_counts(reading: float, writing: float, expected: Any) -> None:
    bus = {"Read block transfer time": reading, "Write block transfer time": writing}
    wiring = files.system([("disk0", "disksim_disk", "SMALL")], bus)
    document = values(files.disk() + wiring)
    assert (document["bus_ms_per_block"], document.get("bus_write_ms_per_block")) == expected


SECTIONS = {"disk": files.DISK, "queue": files.QUEUE, "mechanics": files.MECHANICS}
SECTIONS |= {"layout": files.LAYOUT, "bus": files.BUS}
NUMBERED = [
    (where, name)
    for where, section in SECTIONS.items()
    for name, value in section.items()
    if not isinstance(value, str)
]
OF_DISK = ("Print stats", "Avg sectors per cylinder", "Calc sector by sector")
OF_QUEUE = ("Cylinder mapping strategy", "Maximum concat size", "Sequential stream diff maximum")
OF_TIMEOUTS = ("Timeout time/weight", "Timeout scheduling", "Priority scheduling")
HARMLESS = {
    *(*OF_DISK, "Read directly to buffer", "Rangesize for sparing"),
    *(f"Scheduler: {name}" for name in OF_QUEUE + OF_TIMEOUTS),
    *("Bus: type", "Bus: Arbitration type", "Bus: Print stats"),
}
"""Parameters that change no time."""


@pytest.mark.parametrize(("where", "name"), NUMBERED)
def test_every_dropped_parameter_is_reported(where: str, name: str) -> None:
    """Another value changes the device file, or the report has the parameter with its new value."""
    old = SECTIONS[where][name]
    assert isinstance(old, (int, float))
    new = (1 - old if old in {0, 1} else old - 1) if isinstance(old, int) else old + 0.125

    def take(value: float) -> ss.disksim.Imported:
        changed: dict[str, Any] = {name: value}
        parts: dict[str, Any] = {"changes" if where == "disk" else where: changed}
        bus = parts.pop("bus", None)
        wiring = files.system([("disk0", "disksim_disk", "SMALL")], bus)
        return imported(files.disk(**parts) + wiring)

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


# Which device


def test_equal_devices_are_one_and_different_ones_are_chosen() -> None:
    drives = files.disk() + files.disk({"Bulk sector transfer time": 0.01}, name="FAST")
    same = [(name, "disksim_disk", "SMALL") for name in ("d0", "d1")]
    text = drives + files.system([*same, ("d2", "disksim_disk", "FAST")])
    with pytest.raises(SledsimError, match=r"choose one .*: d0 \(SMALL\), d1 \(SMALL\), d2 \(FA"):
        values(text)
    with pytest.raises(SledsimError, match="has no device 'd3': it has d0"):
        values(text, device="d3")
    for name, time in (("d0", 0.05), ("d1", 0.05), ("SMALL", 0.05), ("d2", 0.01), ("FAST", 0.01)):
        assert values(text, device=name)["bus_ms_per_block"] == time
    text = drives + files.system(same, {"Read block transfer time": 0.07})
    wired, alone = values(text), values(text, device="FAST")
    assert (wired["title"], wired["bus_ms_per_block"]) == ("SMALL", 0.07)
    assert (alone["title"], alone["bus_ms_per_block"]) == ("FAST", 0.01), "it hangs on no bus"


def test_drives_on_buses_of_their_own() -> None:
    """Two controllers, each with a bus and a drive, as for the traces of HP."""
    wired = ", ".join(
        f"disksim_ctlr c{n} [ disksim_bus b{n} [ disksim_disk d{n} [] ] ]" for n in (0, 1)
    )
    text = f"""
        {files.disk()}
        {files.block("disksim_bus B", {**files.BUS, "Read block transfer time": 0.07})}
        B QUICK {{ Read block transfer time = 0.06 }}
        disksim_iodriver D {{ type = 1 }} disksim_ctlr C {{ type = 1 }}
        instantiate [ d0 .. d1 ] as SMALL instantiate [ c0 .. c1 ] as C instantiate [ host ] as D
        topology disksim_iodriver host [ {wired} ]
    """
    same = values(text + "instantiate [ b0 .. b1 ] as B")
    assert same["bus_ms_per_block"] == 0.07
    different = text + "instantiate [ b0 ] as B instantiate [ b1 ] as QUICK"
    with pytest.raises(SledsimError, match="different devices"):
        values(different)
    assert values(different, device="d0")["bus_ms_per_block"] == 0.07
    assert values(different, device="d1")["bus_ms_per_block"] == 0.06


def test_a_block_may_extend_another() -> None:
    more = "SMALL SLOW { Bulk sector transfer time = 0.5 }\n"
    taken = imported(files.disk() + more, device="SLOW")
    document = tomllib.loads(taken.toml)
    assert (document["title"], document["bus_ms_per_block"], document["rpm"]) == ("SLOW", 0.5, 6000)
    assert taken.report["skipped"] == []


def test_names_are_quoted_for_toml() -> None:
    name = 'a\\b\x7f\u00e9\x01"'.replace('"', "")
    assert values(files.disk(name=name))["title"] == name


def test_a_cylinder_that_is_not_counted_is_added() -> None:
    """The published HP C2490A has zones up to cylinder 2629, and says it has 2629 cylinders."""
    taken = imported(files.disk(cylinders=99))
    assert "cylinders = 100 " in taken.toml
    told = ignored(taken.report)["Number of cylinders"]
    assert told == "there are 100, as the last zone says"


# The command


COMMAND = "devices import small.parv"
OUT = Path("out.toml")


@pytest.fixture
def small() -> Path:
    """Return a parameter file with a disk on a bus, which loses two things."""
    path = Path("small.parv")
    changes = "Preseeking level = 1, Buffer continuous read = 4, Shingled tracks = 4"
    text = files.disk(files.told(changes), blocks=39_000)
    path.write_text(text + files.system([("disk0", "disksim_disk", "SMALL")]))
    return path


def test_the_command_prints_or_writes_the_file(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    OUT.write_text("something old")
    said = []
    for more in ([], ["-o", "-"], ["-o", str(OUT)]):
        assert main([*COMMAND.split(), *more]) == 0
        said.append(capsys.readouterr())
    printed, again, written = said
    assert printed == again
    assert printed.out == ss.disksim.import_device(small).toml == OUT.read_text()
    assert "Shingled tracks = 4" in printed.out
    assert written.err == printed.err
    assert written.out.startswith(f"written  {OUT}\n")
    for told in (
        "Preseeking level = 1: only with several requests at the drive",
        "Shingled tracks = 4: unknown: in DiskSim 4.0 a disksim_disk has no parameter",
        "disksim_bus OUTER: a bus of other devices",
        "taken as unused: 1000\n",
    ):
        assert told in printed.err


def test_the_command_reports_in_json(small: Path, document: Callable[[str], Any]) -> None:
    found = document(COMMAND)
    lost = [item["parameter"] for item in found["ignored"]]
    assert (found["blocks"], lost) == (39_000, ["Preseeking level", "Shingled tracks"])
    written = document(f"{COMMAND} -o {OUT}")
    assert found.pop("toml") == ss.disksim.import_device(small).toml == OUT.read_text()
    assert written == found | {"output": str(OUT)}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((name, "is read by the same command") for name in ("small.parv", "a.seek", "link.toml")),
        ("none/x.toml", "folder does not exist"),
    ],
)
def test_no_file_that_is_read_is_overwritten(
    name: str, words: str, small: Path, refusal: Callable[[str], str]
) -> None:
    Path("a.seek").write_text("Seek distances measured: 2\n1, 1.0\n99, 3\n")
    Path("link.toml").symlink_to(small)
    named = {"Seek type": "extracted", "Full seek curve": "a.seek"}
    small.write_text(files.disk(mechanics=named))
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert words in refusal(f"{COMMAND} -o {name}")
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_a_curve_of_many_falls_is_summarised(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = [f"{d}, {1 + 0.0001 * d + 0.1 * ((d - 1) % 3):.4f}" for d in range(1, 100)]
    Path("saw.seek").write_text("\n".join(["Seek distances measured: 99", *points, ""]))
    named = {"Seek type": "extracted", "Full seek curve": "saw.seek"}
    small.write_text(files.disk(mechanics=named))
    assert main(COMMAND.split()) == 0
    said = capsys.readouterr().err
    assert 60 < said.count(" cylinders: ") + 1 < 70
    assert "more (--json lists them)" in said
    assert 60 < len(ss.disksim.import_device(small).report["risen_seeks"]) < 99


# Any value

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
    refusal = None
    try:
        values("\n".join(lines))
    except SledsimError as refused:
        refusal = str(refused)
    assert refusal is None or re.match(r".*/drives\.parv:\d+: ", refusal)
