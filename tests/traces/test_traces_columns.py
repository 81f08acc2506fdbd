"""The option ``--columns`` to start from, in an error about an unknown CSV or Parquet file."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss

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
