"""Tables on served sleds: bytes of the server, times of the rows of its device."""

from __future__ import annotations

import re
import runpy
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss

from tests.emulated.test_emulator import BLOCK, Client
from tests.example_runs import EXAMPLES
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator needs Linux")

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


def replay(rows: pl.DataFrame, folder: Path) -> ss.Load:
    """Return a recording as a load: requests that arrived at one instant are one batch."""
    path = folder / "rows.csv"
    together = (pl.col("arrival_ns") == pl.col("arrival_ns").shift(-1)).fill_null(value=False)
    rows.select("arrival_ns", "op", "lbn", "blocks", linked=together).write_csv(path)
    columns = "time=arrival_ns:ns, offset=lbn:512B, bytes=blocks:512B, op=op, linked=linked"
    return ss.read_trace(path, columns=columns, time_origin="file")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("as_file", [False, True])
def test_reads_return_the_written_data(
    tmp_path: Path, layout: LayoutName, *, as_file: bool
) -> None:
    address, file = f"unix:{tmp_path / 's.sock'}", tmp_path / "records.parquet"
    data = source(30_000, 1)
    pq.write_table(data, file)
    with (
        ss.serve(ss.emulator.Export(device="cmu2003", speed=100), rpc=address),
        ss.connect(address) as remote,
    ):
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
def test_times_are_those_of_the_rows(tmp_path: Path, layout: LayoutName) -> None:
    """Each call takes from its first arrival to its last completion.

    And a simulation of the recorded arrivals gives the same rows.
    """
    address, recording = f"unix:{tmp_path / 's.sock'}", tmp_path / "r.parquet"
    data = source(50_000, 1)
    # An overhead of a command's own would be paid by each extent.
    device = ss.device("cmu2003", command_overhead_ms=0.0)
    calls: list[tuple[ss.tables.Result, float]] = []
    with (
        ss.serve(ss.emulator.Export(device=device, record=recording), rpc=address),
        ss.connect(address) as remote,
    ):
        table = ss.tables.table(data, remote, layout)
        calls += [(table.scan(["key"]), table.clock_s)]
        calls += [(table.scan(), table.clock_s)]
        calls += [(table.read([5, 49_000, 20_000]), table.clock_s)]
        calls += [(table.update(77, data.slice(0, 20_000)), table.clock_s)]
        calls += [(table.append(data.slice(0, 11)), table.clock_s)]
        calls += [(table.scan(["word"], 3, 100), table.clock_s)]
    rows = pl.read_parquet(recording).sort("id")
    loaded_ns = None
    blocks = rows["blocks"].cum_sum()
    # The calls are the last ones: their rows begin so many blocks before the end.
    left = sum(result.blocks for result, _ in calls)
    begins = int((blocks <= blocks[-1] - left).sum())
    for result, clock_s in calls:
        end = begins + int((rows["blocks"][begins:].cum_sum() < result.blocks).sum()) + 1
        own = rows[begins:end]
        assert own["blocks"].sum() == result.blocks
        end_ns = max(own["completion_ns"].to_list())
        took_ns = end_ns - min(own["arrival_ns"].to_list())
        assert result.simulated_s == pytest.approx(took_ns / 1e9, abs=1e-12)
        if loaded_ns is None:
            loaded_ns = end_ns - round(clock_s * 1e9)
            assert loaded_ns == rows["completion_ns"][:begins].max()
        assert clock_s == pytest.approx((end_ns - loaded_ns) / 1e9)
        begins = end
    simulated = pl.DataFrame(ss.simulate(replay(rows, tmp_path), device).rows).sort("id")
    for column in (*TIMES, *PARTS):
        assert rows[column].to_list() == simulated[column].to_list(), column


def test_a_scan_keeps_the_sled_at_work(tmp_path: Path) -> None:
    """Requests wait for the sled, which takes 17 ms for each here, not the sled for requests."""
    address, recording = f"unix:{tmp_path / 's.sock'}", tmp_path / "r.parquet"
    export = ss.emulator.Export(device="cmu2003", record=recording, speed=0.2)
    with ss.serve(export, rpc=address), ss.connect(address) as remote:
        result = ss.tables.table(source(3 * 32_400, 1), remote).scan()  # whole groups of tracks
    rows = pl.read_parquet(recording).sort("id").tail(result.requests)
    assert rows["blocks"].sum() == result.blocks
    assert rows["queue_depth"].max() == 15  # sixteen under way
    assert (rows["queue_depth"] > 0).sum() > len(rows) / 2


def test_reads_come_from_the_store_of_the_server(tmp_path: Path) -> None:
    """The table returns the data that another client writes to a page."""
    rpc, nbd = f"unix:{tmp_path / 'r.sock'}", tmp_path / "n.sock"
    data = source(1000, 1)
    export = ss.emulator.Export(device="cmu2003", speed=100)
    with ss.serve(export, rpc=rpc, nbd=f"unix:{nbd}"), ss.connect(rpc) as remote:
        table = ss.tables.table(data, remote)
        client = Client(nbd)
        for column, width, value in (("key", 8, 77), ("word", 4, 49)):
            lbn, at = table.place(500, column)
            block = bytearray(client.read(lbn * BLOCK, BLOCK))
            block[at : at + width] = value.to_bytes(width, "little")
            client.write(lbn * BLOCK, bytes(block))
        words = list(dict.fromkeys(data["word"].to_pylist()))  # in the order of their codes
        expected = data.slice(500, 1).to_pylist()[0] | {"key": 77, "word": words[49]}
        assert plain(table.record(500).data) == [expected]
        client.write(table.place(500, "word")[0] * BLOCK, b"\xff" * BLOCK)
        client.close()
        with pytest.raises(ss.SledsimError, match="another client wrote to it"):
            table.record(500)


def test_lazy_frames_pay_for_what_they_need(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 's.sock'}"
    data = source(30_000, 1)
    with (
        ss.serve(ss.emulator.Export(device="cmu2003", speed=100), rpc=address),
        ss.connect(address) as remote,
    ):
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


def test_idle_waits(tmp_path: Path) -> None:
    """At ten times the speed, half a second of the device is a twentieth of one."""
    address = f"unix:{tmp_path / 's.sock'}"
    with (
        ss.serve(ss.emulator.Export(device="cmu2003", speed=10), rpc=address),
        ss.connect(address) as remote,
    ):
        table = ss.tables.table(source(100, 1), remote)
        table.record(1)
        before, begun = table.clock_s, time.perf_counter()
        table.idle(0.5)
        assert time.perf_counter() - begun >= 0.05
        assert table.clock_s == pytest.approx(before + 0.5)
        table.record(1)
        assert table.clock_s > before + 0.5


def test_the_server_ends_in_the_middle(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 's.sock'}"
    server = ss.serve("cmu2003", rpc=address)
    table = ss.tables.table(source(20_000, 1), ss.connect(address))
    ends = threading.Timer(0.1, server.stop, [0.0])
    ends.start()

    def scan_on() -> None:
        while True:
            assert len(pa.table(table.scan().data)) == 20_000

    with pytest.raises(ss.SledsimError, match=r"server at 'unix:.*s\.sock'"):
        scan_on()
    ends.join()
    calls: list[Callable[[], ss.tables.Result]] = [
        table.scan,
        lambda: table.record(3),
        lambda: table.append(source(1, 1)),
    ]
    for call in calls:
        with pytest.raises(ss.SledsimError, match=r"unusable.*s\.sock"):
            call()
    assert len(table) == 20_000  # attributes without a request still work


def test_a_block_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """And others can, also with the next call."""
    address, data = f"unix:{tmp_path / 's.sock'}", source(2000, 1)
    device = ss.device("cmu2003", faults={"read_error_rate": 5e-4, "retries": 0})
    export = ss.emulator.Export(device=device, speed=100)
    read, errors = 0, []
    with ss.serve(export, rpc=address), ss.connect(address) as remote:
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


def test_ctrl_c_ends_a_call_and_not_the_table(tmp_path: Path) -> None:
    """Each request takes 17 ms here, the scan some seconds."""
    address = f"unix:{tmp_path / 's.sock'}"
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
    export = ss.emulator.Export(device="cmu2003", speed=0.2)
    with ss.serve(export, rpc=address) as server:
        command = [sys.executable, "-c", program, address]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert client.stdout is not None
        assert client.stdout.readline() == "loads\n"
        while server.status()["exports"][0]["outstanding"] < 10:
            assert client.poll() is None
            time.sleep(0.01)
        client.send_signal(signal.SIGINT)
        assert client.communicate(timeout=LONG_S)[0] == "interrupted 1000 True\n"


def test_refused(tmp_path: Path) -> None:
    data, address = source(10, 1), f"unix:{tmp_path / 's.sock'}"
    exports = [
        ss.emulator.Export(device="cmu2003", name="still", read_only=True),
        ss.emulator.Export(device="atlas10k", name="disk"),
        ss.emulator.Export(device="cmu2003", name="laid", layout="columnar"),
        ss.emulator.Export(
            device=ss.device("cmu2003", buffer={"size_kib": 64, "segments": 2}), name="buffered"
        ),
        ss.emulator.Export(device=ss.device("cmu2003", travel_x_um=0.2), name="small"),
    ]
    one_sled = "must be on a single sled"
    with ss.serve(exports, rpc=address):
        for name, says in (
            ("still", "export 'still' of server at 'unix:.*is read-only"),
            ("disk", one_sled),
            ("laid", "has the layout columnar.*" + one_sled),
            ("buffered", one_sled),
        ):
            with ss.connect(address, name) as remote, pytest.raises(ss.SledsimError, match=says):
                ss.tables.table(data, remote)
        with ss.connect(address, "small") as remote:
            with pytest.raises(ss.SledsimError, match="has room for"):
                ss.tables.table(source(1_000_000, 1), remote)
            assert len(ss.tables.table(data, remote)) == 10


def test_the_example(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It compares bytes and requests itself; times are the machine's."""
    example = runpy.run_path(str(EXAMPLES / "capsule_scan.py"))
    address = f"unix:{tmp_path / 's.sock'}"
    example["main"](["--records=20000"])
    told = [capsys.readouterr().out.splitlines()]
    with ss.serve(ss.emulator.Export(device="cmu2003", speed=50), rpc=address):
        example["main"](["--records=20000", f"--connect={address}"])
    told.append(capsys.readouterr().out.splitlines())
    for lines in told:
        assert [line.split(":")[0] for line in lines[:3]] == list(LAYOUTS)
        assert [line[:18].split()[0] for line in lines[4:]] == [
            layout for layout in LAYOUTS for _ in range(3)
        ]
    # The simulation does not depend on the server of the table.
    simulated = [[line[29:41] for line in lines[4:]] for lines in told]
    assert simulated[0] == simulated[1]
    for arguments, says in (
        (["--records=0"], "--records 0: must be at least 1"),
        ([f"--connect={address}"], "s.sock"),
    ):
        with pytest.raises(SystemExit):
            example["main"](arguments)
        assert says in capsys.readouterr().err
