"""Tables on served sleds: bytes of the server, times of the rows of its device."""

from __future__ import annotations

import re
import runpy
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim.emulator import Export

from tests.example_runs import EXAMPLES
from tests.served import BLOCK, Serve, replayed, rows, same
from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LayoutName: TypeAlias = Literal["normal", "vertical", "capsule"]
LAYOUTS: tuple[LayoutName, ...] = ("normal", "vertical", "capsule")
TIMES = ("arrival_ns", "start_ns", "completion_ns")
PARTS = ("overhead_ns", "queue_ns", "seek_ns", "transfer_ns", "bus_ns", "other_ns", "energy_nj")


def source(count: int, seed: int) -> pa.Table:
    """Return records of numbers, binaries and words."""
    random = np.random.Generator(np.random.PCG64(seed))
    raw = pa.py_buffer(random.bytes(count * 32))
    return pa.table(
        {
            "key": random.integers(0, 1 << 62, count),
            "digest": pa.FixedSizeBinaryArray.from_buffers(pa.binary(32), count, [None, raw]),
            "word": [f"word {n}" for n in random.integers(0, 50, count)],
        }
    )


def plain(data: object) -> list[dict[str, object]]:
    """Return records to compare."""
    rows: list[dict[str, object]] = pa.table(data).to_pylist()
    return rows


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("as_file", [False, True])
def test_reads_return_the_written_data(
    serve: Serve, tmp_path: Path, layout: LayoutName, *, as_file: bool
) -> None:
    file = tmp_path / "records.parquet"
    data = source(30_000, 1)
    pq.write_table(data, file)
    _, remote = serve.remote(speed=100)
    there = ss.tables.table(file if as_file else data, remote, layout)
    here = ss.tables.table(data, ss.device("cmu2003"), layout)
    assert (len(there), there.layout, there.facts) == (30_000, layout, here.facts)
    assert there.clock_s == 0
    assert plain(there.scan().data) == data.to_pylist()
    change, more = source(20_000, 2), source(7_001, 3)
    for table in (there, here):
        table.update(4_321, change.select(["word", "key"]))
        table.append(more)
        table.update(36_999, change.slice(0, 2))
    assert plain(there.scan().data) == plain(here.scan().data)
    some = [0, 36_999, 4_321, 17]
    assert plain(there.read(some, ["word", "key"]).data) == plain(
        here.read(some, ["word", "key"]).data
    )
    assert there.clock_s > 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_times_are_those_of_the_rows(serve: Serve, tmp_path: Path, layout: LayoutName) -> None:
    """Each call takes from its first arrival to its last completion.

    And a simulation of the recorded arrivals gives the same rows.
    """
    recording = tmp_path / "r.parquet"
    data = source(50_000, 1)
    # An overhead of a command's own would be paid by each extent.
    device = ss.device("cmu2003", command_overhead_ms=0.0)
    calls: list[tuple[ss.tables.Result, float]] = []
    server, remote = serve.remote(device, record=recording)
    table = ss.tables.table(data, remote, layout)
    calls += [(table.scan(["key"]), table.clock_s)]
    calls += [(table.scan(), table.clock_s)]
    calls += [(table.read([5, 49_000, 20_000]), table.clock_s)]
    calls += [(table.update(77, data.slice(0, 20_000)), table.clock_s)]
    calls += [(table.append(data.slice(0, 11)), table.clock_s)]
    calls += [(table.scan(["word"], 3, 100), table.clock_s)]
    server.stop()
    recorded = rows(recording)
    loaded_ns = None
    blocks = recorded["blocks"].cum_sum()
    # The calls are the last ones: their rows begin so many blocks before the end.
    left = sum(result.blocks for result, _ in calls)
    begins = int((blocks <= blocks[-1] - left).sum())
    for result, clock_s in calls:
        end = begins + int((recorded["blocks"][begins:].cum_sum() < result.blocks).sum()) + 1
        own = recorded[begins:end]
        assert own["blocks"].sum() == result.blocks
        end_ns = max(own["completion_ns"].to_list())
        took_ns = end_ns - min(own["arrival_ns"].to_list())
        assert result.simulated_s == pytest.approx(took_ns / 1e9, abs=1e-12)
        if loaded_ns is None:
            loaded_ns = end_ns - round(clock_s * 1e9)
            assert loaded_ns == recorded["completion_ns"][:begins].max()
        assert clock_s == pytest.approx((end_ns - loaded_ns) / 1e9)
        begins = end
    same(recorded, rows(ss.simulate(replayed(recorded, tmp_path), device)), (*TIMES, *PARTS))


def test_a_scan_keeps_the_sled_at_work(serve: Serve, tmp_path: Path) -> None:
    """Requests wait for the sled, which takes 17 ms for each here, not the sled for requests."""
    recording = tmp_path / "r.parquet"
    server, remote = serve.remote(record=recording, speed=0.2)
    result = ss.tables.table(source(3 * 32_400, 1), remote).scan()  # whole groups of tracks
    server.stop()
    own = rows(recording).tail(result.requests)
    assert own["blocks"].sum() == result.blocks
    assert own["queue_depth"].max() == 15  # sixteen under way
    assert (own["queue_depth"] > 0).sum() > len(own) / 2


def test_reads_come_from_the_store_of_the_server(serve: Serve) -> None:
    """The table returns the data that another client writes to a page."""
    data = source(1000, 1)
    _, remote = serve.remote(speed=100, nbd=f"unix:{serve.nbd}")
    table = ss.tables.table(data, remote)
    client = serve.client()
    for column, width, value in (("key", 8, 77), ("word", 4, 49)):
        lbn, at = table.place(500, column)
        block = bytearray(client.read(lbn * BLOCK, BLOCK))
        block[at : at + width] = value.to_bytes(width, "little")
        client.write(lbn * BLOCK, bytes(block))
    words = list(dict.fromkeys(data["word"].to_pylist()))  # in the order of their codes
    expected = data.slice(500, 1).to_pylist()[0] | {"key": 77, "word": words[49]}
    assert plain(table.record(500).data) == [expected]
    client.write(table.place(500, "word")[0] * BLOCK, b"\xff" * BLOCK)
    with pytest.raises(ss.SledsimError, match="another client wrote to it"):
        table.record(500)


def test_lazy_frames_pay_for_what_they_need(serve: Serve) -> None:
    data = source(30_000, 1)
    _, remote = serve.remote(speed=100)
    there, here = ss.tables.table(data, remote), ss.tables.table(data, ss.device("cmu2003"))
    queries: list[Callable[[pl.LazyFrame], pl.LazyFrame]] = [
        lambda t: t.select(pl.sum("key")),
        lambda t: t.filter(pl.col("key") % 7 == 3).select("word"),
        lambda t: t.filter(pl.col("row").is_between(500, 777)),
    ]
    for query in queries:
        frames = [query(table.lazy()).collect() for table in (there, here)]
        assert frames[0].equals(frames[1])
        spent = [table.spent() for table in (there, here)]
        assert spent[0].blocks == spent[1].blocks > 0
        assert spent[0].simulated_s > 0


def test_idle_waits(serve: Serve) -> None:
    """At ten times the speed, half a second of the device is a twentieth of one."""
    _, remote = serve.remote(speed=10)
    table = ss.tables.table(source(100, 1), remote)
    table.record(1)
    before, begun = table.clock_s, time.perf_counter()
    table.idle(0.5)
    assert time.perf_counter() - begun >= 0.05
    assert table.clock_s == pytest.approx(before + 0.5)
    table.record(1)
    assert table.clock_s > before + 0.5


def test_the_server_ends_in_the_middle(serve: Serve) -> None:
    server, remote = serve.remote()
    table = ss.tables.table(source(20_000, 1), remote)
    ends = threading.Timer(0.1, server.stop, [0.0])
    ends.start()

    def scan_on() -> None:
        while True:
            assert len(pa.table(table.scan().data)) == 20_000

    with pytest.raises(ss.SledsimError, match=r"server at 'unix:.*r\.sock'"):
        scan_on()
    ends.join()
    calls: list[Callable[[], ss.tables.Result]] = [
        table.scan,
        lambda: table.record(3),
        lambda: table.append(source(1, 1)),
    ]
    for call in calls:
        with pytest.raises(ss.SledsimError, match=r"unusable.*r\.sock"):
            call()
    assert len(table) == 20_000  # attributes without a request still work


def test_a_block_that_cannot_be_read_is_named(serve: Serve) -> None:
    """And others can, also with the next call."""
    data = source(2000, 1)
    device = ss.device("cmu2003", faults={"read_error_rate": 5e-4, "retries": 0})
    read, errors = 0, []
    _, remote = serve.remote(device, speed=100)
    table = ss.tables.table(data.slice(0, 1), remote)
    table.update(0, data.slice(7, 1))
    for _ in range(100):
        try:
            (row,) = plain(table.record(0).data)
        except ss.SledsimError as error:
            errors.append(str(error))
        else:
            assert row == data.slice(7, 1).to_pylist()[0]
            read += 1
    lbns = {table.place(0, name)[0] for name in data.column_names}
    assert read > 10
    assert len(errors) > 5
    for text in errors:
        assert re.search(r"server at 'unix:.*': read of LBNs (\d+) to \d+ failed: ", text)
        assert int(text.split("LBNs ")[1].split()[0]) in lbns
        assert "unusable" not in text


def test_ctrl_c_ends_a_call_and_not_the_table(serve: Serve) -> None:
    """Each request takes 17 ms here, the scan some seconds."""
    program = """
import sys, pyarrow as pa, sledsim as ss
data = pa.table({"n": range(270 * 60 * 200)})
remote = ss.connect(sys.argv[1])
table = ss.tables.table(data.slice(0, 1000), remote)
print("loads", flush=True)
try:
    table.append(data)
except KeyboardInterrupt:
    print("interrupted", table.records, pa.table(table.scan().data).equals(data.slice(0, 1000)))
"""
    server = serve.at("cmu2003", speed=0.2, rpc=f"unix:{serve.rpc}")
    command = [sys.executable, "-c", program, f"unix:{serve.rpc}"]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    assert client.stdout.readline() == "loads\n"
    eventually(lambda: server.status()["exports"][0]["outstanding"] >= 10)
    client.send_signal(signal.SIGINT)
    assert client.communicate(timeout=LONG_S)[0] == "interrupted 1000 True\n"


@pytest.mark.parametrize(
    ("says", "export"),
    [
        ("export 'x' of server at 'unix:.*is read-only", Export(device="cmu2003", read_only=True)),
        ("must be on a single sled", Export(device="atlas10k")),
        (
            "has the layout columnar.*must be on a single sled",
            Export(device="cmu2003", layout="columnar"),
        ),
        (
            "must be on a single sled",
            Export(device=ss.device("cmu2003", buffer={"size_kib": 64, "segments": 2})),
        ),
        ("has room for", Export(device=ss.device("cmu2003", travel_x_um=0.2))),
    ],
)
def test_refused(serve: Serve, says: str, export: Export) -> None:
    _, remote = serve.remote([replace(export, name="x")])
    with pytest.raises(ss.SledsimError, match=says):
        ss.tables.table(source(1_000_000, 1), remote)
    if "room" in says:
        assert len(ss.tables.table(source(10, 1), remote)) == 10


def test_the_example(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    """It compares bytes and requests itself; times are the machine's."""
    example = runpy.run_path(str(EXAMPLES / "capsule_scan.py"))
    address = f"unix:{serve.rpc}"
    with pytest.raises(SystemExit):
        example["main"]([f"--connect={address}"])
    assert "r.sock" in capsys.readouterr().err
    serve.at("cmu2003", speed=50, rpc=address)
    simulated = []
    for more in ([], [f"--connect={address}"]):
        example["main"](["--records=20000", *more])
        lines = capsys.readouterr().out.splitlines()
        assert [line.split(":")[0] for line in lines[:3]] == list(LAYOUTS)
        assert [line[:18].split()[0] for line in lines[4:]] == [
            layout for layout in LAYOUTS for _ in range(3)
        ]
        simulated.append([line[29:41] for line in lines[4:]])
    # The simulation does not depend on the server of the table.
    assert simulated[0] == simulated[1]
    with pytest.raises(SystemExit):
        example["main"](["--records=0"])
    assert "--records 0: must be at least 1" in capsys.readouterr().err
