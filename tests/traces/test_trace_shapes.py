"""Public shapes of trace files are read as they are meant; units that are wrong are doubted."""

from __future__ import annotations

import csv
import gzip
import random
import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss

from tests.trace_shapes import DATED, FACTORS, FORMATS, KINDS, SHAPES, SIZES, WHOLE, Request

STATED = {"blkparse", "fio_iolog"}
"""Formats whose files tell what they are: only impossible times are doubted."""


def rows_of(file: Path, **options: Any) -> list[dict[str, str]]:
    """Return the requests of a trace, as they are written to a CSV."""
    output = file.with_name("read.csv")
    ss.convert_trace([file], output, **options)
    with output.open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def requests(file: Path, **options: Any) -> list[tuple[int, str, int, int]]:
    """Return time in ns, operation, first byte and length of each request of a trace."""
    return [
        (int(row["time_ns"]), row["op"], int(row["offset_bytes"]), int(row["bytes"]))
        for row in rows_of(file, **options)
    ]


def said(file: Path, **options: Any) -> str:
    """Return the cautions or the error about a trace."""
    try:
        info = ss.trace_info(file, quick=True, **options)
    except ss.SledsimError as error:
        return str(error)
    return "\n".join(doubt["text"] for doubt in info["unit_doubts"])


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("ending", ["csv", "trace", "blkparse", "log"])
def test_a_shape_is_read_as_it_is_meant(tmp_path: Path, name: str, ending: str) -> None:
    shape = SHAPES[name]
    file = tmp_path / f"shape.{ending}"
    file.write_text(shape.text)
    if shape.hint is not None:
        assert shape.hint in said(file)
    if not shape.requests:
        return
    assert requests(file, **shape.options) == shape.requests
    assert not said(file, **shape.options)


def test_the_question_of_a_guess_is_asked_again_and_a_pipe_is_told_too(tmp_path: Path) -> None:
    shape = SHAPES["completions, below a preamble"]
    file = tmp_path / "bio.log"
    file.write_text(shape.text)
    asked = shape.options["columns"].replace("completion=", "?=")
    assert "must be time=TIME(s) if that is the arrival, completion=TIME(s)" in said(
        file, columns=asked
    )
    command = [sys.executable, "-m", "sledsim", "trace", "info", "-"]
    run = subprocess.run(command, input=shape.text, capture_output=True, text=True, check=False)
    assert shape.hint is not None
    assert run.returncode == 2
    assert shape.hint in run.stderr


def test_arrivals_are_completions_less_responses(tmp_path: Path) -> None:
    """Of any responses; in order; and by brute force."""
    draw = random.Random(5)
    arrivals = sorted(draw.randrange(10**10) for _ in range(3000))
    took = [draw.randrange(10 ** draw.randint(3, 10)) for _ in arrivals]
    done = sorted((at + ns, at, ns) for at, ns in zip(arrivals, took, strict=True))
    file = tmp_path / "done.csv"
    lines = [f"{end + 10**9},{4096 * (at % 1000)},4096,{ns}" for end, at, ns in done]
    file.write_text("\n".join(lines) + "\n")
    columns = "completion=1:ns, offset=2:B, bytes=3:B, op=:read, response=4:ns"
    found = rows_of(file, columns=columns)
    expected = sorted((at + 10**9, 4096 * (at % 1000), ns) for _, at, ns in done)
    assert expected == sorted(
        (int(row["time_ns"]), int(row["offset_bytes"]), int(row["response_ns"])) for row in found
    )
    times = [int(row["time_ns"]) for row in found]
    assert times == sorted(times)
    for wrong, problem in [
        (columns.replace("completion=1:ns", "completion=1:ns, time=2:ns"), "time and completion"),
        (columns.replace(", response=4:ns", ""), "completion needs response="),
    ]:
        assert problem in said(file, columns=wrong)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_that_is_no_trace_is_named(tmp_path: Path, kind: str, compressed: bool) -> None:
    head, expected = KINDS[kind]
    file = tmp_path / "what.trace"
    file.write_bytes(gzip.compress(head) if compressed else head)
    for options in ({}, {"format": "csv", "columns": "time=1:s,offset=2:B,bytes=3:B,op=4"}):
        assert f"what.trace: {expected}" in said(file, **options)


@pytest.mark.parametrize(("kind", "ending"), [("tar", "tar"), ("gztar", "tar.gz"), ("zip", "zip")])
def test_archives_of_python_are_named(kind: str, ending: str) -> None:
    Path("x").mkdir()
    Path("x", "a.trace").write_text("1 0 8 8 1\n")
    shutil.make_archive("a", kind, "x")
    assert f"a {ending[:3]}" in said(Path(f"a.{ending}"))


def busy_disk() -> list[Request]:
    """Return the requests of a busy disk: about 100 per s in bursts, a tenth sequential."""
    draw, at, end = random.Random(46), 500_000_000, 0
    found = []
    for _ in range(400):
        mean_ns = draw.choice([2_000_000, 2_000_000, 26_000_000])
        at += int(draw.expovariate(1) * mean_ns) // 100 * 100
        size = draw.choice([4096, 8192, 65536])
        place = end if draw.random() < 0.1 else 4096 * draw.randrange(25_000_000)
        took = int(draw.lognormvariate(0, 0.7) * 5_000_000) // 100 * 100
        found.append((at, draw.choice(["read", "write"]), place, size, took, 0))
        end = place + size
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_units_that_are_named_are_those_of_the_numbers(tmp_path: Path, name: str) -> None:
    file, own = tmp_path / "a.txt", FORMATS[name].units
    made = busy_disk()
    zero = made[0][0] if name in DATED else 0  # dates become times since the first
    expected = [(at - zero, op, start, size) for at, op, start, size, *_ in made]
    keys = ("time_unit", "place_unit", "length_unit")
    for key, others in enumerate([FACTORS, SIZES, SIZES]):
        for unit in others:
            units = tuple(unit if index == key else own[index] for index in range(3))
            options = {keys[key]: unit}
            file.write_text(FORMATS[name].text(made, units, whole=False))
            assert requests(file, format=name, **options) == expected, (name, options)


@pytest.mark.parametrize("name", FORMATS)
def test_other_units_are_doubted_and_the_own_are_not(tmp_path: Path, name: str) -> None:
    file, own = tmp_path / "a.txt", FORMATS[name].units
    since = 1_700_000_000 + DATED[name] if name in DATED else 0
    text = partial(FORMATS[name].text, busy_disk(), whole=name in WHOLE)
    file.write_text(text(since_s=since))
    assert not said(file, format=name)
    keys = ("time", "place", "length")
    for key, others in enumerate([FACTORS, SIZES, SIZES]):
        for unit in others:
            if unit in (own[key], "KiB", "100ns"):
                continue
            units = tuple(unit if index == key else own[index] for index in range(3))
            # Other times since 1601 are since 1970.
            from_1970 = 1_700_000_000 if since else 0
            file.write_text(text(units, since_s=from_1970))
            expected = f"each {keys[key]} was read in {own[key]}, but may be in {unit}: "
            found = said(file, format=name)
            # Dates in a smaller unit are beyond the last time.
            refused = "must be a" in found and key == 0 and since
            if key > 0 or name not in STATED:
                assert expected in found or refused, (name, units, found)


def test_known_traces_are_not_doubted() -> None:
    for name in ss.sample_traces():
        assert not said(Path(f"sample:{name}"))
    shared = Path(__file__).parents[3] / "shared" / "traces"
    if not shared.exists():
        pytest.skip("no shared traces")
    for file in sorted(shared.iterdir()):
        if file.suffix != ".md":
            assert not said(file), file


# What to fill in, where the columns of a file are not known

NAMED = [
    "timestamp_us,device,lba,sectors,op,latency_us\n1000,sda,80,8,R,50\n2000,sdb,96,16,W,70\n",
    "ts;host;offset;size;is_write\n0.001;a;40960;4096;0\n0.002;b;49152;8192;1\n",
    "when_us,volume,kind,start,length,took_us\n1000,a,R,40960,4096,50\n2000,b,W,49152,8192,70\n",
    'Start Time (ms),LBA,"Block Count",Read/Write\n1,80,8,R\n2,96,16,W\n',
    "issueNs\taddrKb\tlenKb\twrite\n1000000\t40\t4\tFalse\n2000000\t48\t8\tTrue\n",
    "time address bytes rw\n1700000000.001 40960 4096 read\n1700000000.002 49152 8192 write\n",
]
"""Two requests each: 8 blocks at 80 and 16 at 96, 1 ms apart."""


def draft(trace: str, **options: Any) -> str:
    """Return the value of ``--columns`` in the error of a trace, as a shell takes it."""
    with pytest.raises(ss.TraceError) as raised:
        ss.trace_info(trace, **options)
    said = str(raised.value)
    found = re.search(r"--columns (\"[^\"]*\"|'[^']*') \(guessed", said)
    assert found, said
    assert ("; ? is to be filled in" in said) == bool(re.search("[:=][?]", found[1]))
    assert trace.endswith(".parquet") or ":1: the header is not" in said
    return shlex.split(found[1])[0]


@pytest.mark.parametrize("text", NAMED, ids=lambda text: text.split("\n")[0])
def test_a_line_that_is_pasted_reads_the_trace(text: str) -> None:
    Path("own.csv").write_text(text)
    asked = draft("own.csv")
    # A response leaves open whether the time beside it is the arrival or the completion.
    assert asked.startswith("?=") == ("latency" in text or "took" in text)
    columns = asked.replace("?=", "time=")
    assert "?" not in columns
    info = ss.trace_info("own.csv", columns=columns)
    assert (info["requests"], info["reads"], info["writes"]) == (2, 1, 1)
    assert (info["total_blocks"], info["end_block"]) == (24, 112)
    assert info["duration_s"] == pytest.approx(0.001, rel=1e-3)
    with pytest.raises(ss.TraceError, match=re.escape(asked)):
        ss.simulate(ss.read_trace("own.csv"), "g2")


def test_what_is_not_known_is_a_question_mark() -> None:
    for text, columns in [
        ("a,b,c\n1,2,3\n", "time=?:?, offset=?:?, bytes=?:?, op=?"),
        ("100,R,8,16\n200,W,16,16\n", "time=?:?, offset=?:?, bytes=?:?, op=2"),
        ("time,lba,size\n5,8,512\n", "time=time:?, offset=lba:512B, bytes=size:B, op=?"),
        ("t_s,lba,size,op\n5,8,512,x", "time=t_s:s, offset=lba:512B, bytes=size:B, op=op:?/?"),
        ("x,y,z\n", "time=?:?, offset=?:?, bytes=?:?, op=?"),
        ("time,lba,size,op", "time=time:?, offset=lba:512B, bytes=size:B, op=op"),
    ]:
        Path("own.csv").write_text(text)
        assert draft("own.csv", format="csv") == columns


def test_parquet_names_its_columns() -> None:
    names = ["when_us", "lba", "sectors", "op"]
    table = pa.table([[1000, 2000], [80, 96], [8, 16], ["R", "W"]], names=names)
    pq.write_table(table, "own.parquet")
    columns = draft("own.parquet")
    assert columns == "time=when_us:us, offset=lba:512B, bytes=sectors:512B, op=op"
    assert ss.trace_info("own.parquet", columns=columns)["total_blocks"] == 24
