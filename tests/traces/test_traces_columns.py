"""The option ``--columns`` to start from, in an error about an unknown CSV or Parquet file."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss

if TYPE_CHECKING:
    from pathlib import Path

NAMED = [
    "timestamp_us,device,lba,sectors,op,latency_us\n1000,sda,80,8,R,50\n2000,sdb,96,16,W,70\n",
    "ts;host;offset;size;is_write\n0.001;a;40960;4096;0\n0.002;b;49152;8192;1\n",
    "when_us,volume,kind,start,length,took_us\n1000,a,R,40960,4096,50\n2000,b,W,49152,8192,70\n",
    'Start Time (ms),LBA,"Block Count",Read/Write\n1,80,8,R\n2,96,16,W\n',
    "issueNs\taddrKb\tlenKb\twrite\n1000000\t40\t4\tFalse\n2000000\t48\t8\tTrue\n",
    "time address bytes rw\n1700000000.001 40960 4096 read\n1700000000.002 49152 8192 write\n",
]
"""Two requests each: 8 blocks at 80 and 16 at 96, 1 ms apart."""


def draft(said: str) -> str:
    """Return the value of ``--columns`` in an error, as a shell takes it."""
    found = re.search(r"--columns (\"[^\"]*\"|'[^']*') \(guessed", said)
    assert found, said
    return shlex.split(found[1])[0]


@pytest.mark.parametrize("text", NAMED, ids=lambda text: text.split("\n")[0])
def test_a_line_that_is_pasted_reads_the_trace(tmp_path: Path, text: str) -> None:
    file = tmp_path / "own.csv"
    file.write_text(text)
    with pytest.raises(ss.SledsimError) as raised:
        ss.trace_info(file)
    asked = draft(str(raised.value))
    # A response leaves open whether the time beside it is the arrival or the completion.
    assert asked.startswith("?=") == ("latency" in text or "took" in text)
    columns = asked.replace("?=", "time=")
    assert "?" not in columns
    info = ss.trace_info(file, columns=columns)
    assert (info["requests"], info["reads"], info["writes"]) == (2, 1, 1)
    assert (info["total_blocks"], info["end_block"]) == (24, 112)
    assert info["duration_s"] == pytest.approx(0.001, rel=1e-3)
    with pytest.raises(ss.SledsimError) as raised:
        ss.simulate(ss.read_trace(file), "g2")
    assert draft(str(raised.value)) == asked


def test_what_is_not_known_is_a_question_mark(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    for text, columns in [
        ("a,b,c\n1,2,3\n", "time=?:?, offset=?:?, bytes=?:?, op=?"),
        ("100,R,8,16\n200,W,16,16\n", "time=?:?, offset=?:?, bytes=?:?, op=2"),
        ("time,lba,size\n5,8,512\n", "time=time:?, offset=lba:512B, bytes=size:B, op=?"),
        (
            "time_s,lba,size,op\n5,8,512,x",
            "time=time_s:s, offset=lba:512B, bytes=size:B, op=op:?/?",
        ),
        ("x,y,z\n", "time=?:?, offset=?:?, bytes=?:?, op=?"),
        ("time,lba,size,op", "time=time:?, offset=lba:512B, bytes=size:B, op=op"),
    ]:
        file.write_text(text)
        with pytest.raises(ss.SledsimError) as raised:
            ss.trace_info(file, format="csv")
        assert draft(str(raised.value)) == columns
        assert "; ? is to be filled in" in str(raised.value)
        assert ":1: the header is not" in str(raised.value)


def test_parquet_names_its_columns(tmp_path: Path) -> None:
    table = pa.table(
        {"when_us": [1000, 2000], "lba": [80, 96], "sectors": [8, 16], "op": ["R", "W"]}
    )
    file = tmp_path / "own.parquet"
    pq.write_table(table, file)
    with pytest.raises(ss.SledsimError) as raised:
        ss.trace_info(file)
    columns = draft(str(raised.value))
    assert columns == "time=when_us:us, offset=lba:512B, bytes=sectors:512B, op=op"
    assert ss.trace_info(file, columns=columns)["total_blocks"] == 24
