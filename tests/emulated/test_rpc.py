"""The parallel interface over RPC: our client, an independent one, and recordings."""

from __future__ import annotations

import concurrent.futures
import importlib
import json
import random
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import polars as pl
import pytest
import sledsim as ss
from sledsim.emulator import Export

from tests.served import BLOCK, Command, Serve, replayed, rows, troubles
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.emulator.remote import Command as Access

AUTHORITY = [("grpc.default_authority", "localhost")]
"""For unix sockets: by itself it says the path of the socket, which is no host."""
CRATE = Path(__file__).parents[2] / "crates" / "sledsim-rpc"


def test_names_and_results_are_those_of_the_device(serve: Serve) -> None:
    here = ss.device("cmu2003", conflicts={"kind": "channel", "channels": 10})
    server, there = serve.remote(here)
    assert server.uris == [f"unix:{serve.rpc}"]
    assert (there.name, there.blocks) == ("cmu2003", here.blocks)
    assert (there.read_only, there.speed, there.layout) == (False, 1.0, None)
    assert there.parallelism == here.parallelism
    assert int(there.parallelism) == 10
    rng = random.Random(1)
    for lbn in [0, here.blocks - 1, *(rng.randrange(here.blocks) for _ in range(20))]:
        together = there.equivalent(lbn)
        assert together == here.equivalent(lbn)
        assert there.boundaries(lbn) == here.boundaries(lbn)
        for other in (*together[::7], rng.randrange(here.blocks)):
            assert there.conflicting(lbn, other) == here.conflicting(lbn, other)
    copy = there.device
    assert isinstance(copy, ss.Sled)
    assert copy.name == here.name
    assert copy.parameters.keys() - {"base"} == here.parameters.keys() - {"base"}
    batch: list[tuple[Any, int, int]] = [("read", lbn, 1) for lbn in here.equivalent(700_000)[::9]]
    assert copy.batch(batch).total_s == here.batch(batch).total_s


def test_a_device_whose_parts_are_files_is_sent(serve: Serve, tmp_path: Path) -> None:
    """The files are not needed any more, as their keys are in its TOML."""
    base = tmp_path / "base.toml"
    base.write_text('base = "g2"\nspring_factor = 0.5\n')
    device = ss.device("mwb", front={"base": str(base)})
    base.unlink()
    _, there = serve.remote(device)
    assert there.device == device
    assert there.device != ss.device("mwb", front={"base": "g2"})


def test_micropositioning_wears_off_by_the_clock_of_the_server(serve: Serve) -> None:
    keys: dict[str, Any] = {"micropositioning_later": [[3600, 2]]}
    flexible = ss.device("cmu2003", micropositioning_cylinders=5, **keys)
    _, there = serve.remote(flexible, speed=1e6)
    assert len(there.equivalent(3_000_000, at_s=0)) == 1100
    far = flexible.equivalent(3_000_000 + 8 * 2700)
    reached = [lbn for lbn in far if not flexible.conflicting(3_000_000, lbn)]
    later = [lbn for lbn in reached if not flexible.conflicting(3_000_000, lbn, at_s=3600)]
    assert 0 < len(later) < len(reached)
    assert [lbn for lbn in far if not there.conflicting(3_000_000, lbn, at_s=0)] == reached
    now = [lbn for lbn in reached if not there.conflicting(3_000_000, lbn, at_s=3600)]
    assert now == later
    # An hour of the device is 3.6 ms here.
    while there.parallelism.M == 5:
        pass
    assert len(there.equivalent(3_000_000)) == 500


def test_under_a_layout_blocks_are_those_of_the_layout(serve: Serve) -> None:
    device = ss.device("cmu2003")
    layout = ss.layout(device, "organ_pipe")
    _, there = serve.remote(device, layout="organ_pipe")
    assert there.layout == "organ_pipe"
    rng = random.Random(2)
    for lbn in (rng.randrange(device.blocks) for _ in range(5)):
        together = there.equivalent(lbn)
        placed = sorted(layout.place(other)[0] for other in together)
        assert placed == device.equivalent(layout.place(lbn)[0])
        first, last = there.boundaries(lbn)
        track = device.boundaries(layout.place(lbn)[0])
        inside = [layout.place(each)[0] for each in range(first, last + 1)]
        assert inside == list(range(inside[0], inside[0] + len(inside)))
        assert track[0] <= inside[0] <= inside[-1] <= track[1]
        done = there.batch([("read", lbn, 1) for lbn in together[::11]], must_be_parallel=True)
        assert {one.passes for one in done.outcomes} == {1}
        assert len({one.start_ns for one in done.outcomes}) == 1


def test_rows_of_a_recording_prove_one_batch(serve: Serve, tmp_path: Path) -> None:
    device = ss.device("cmu2003")
    rng = random.Random(3)
    answers = []
    server, there = serve.remote(device, record=tmp_path / "r.parquet")
    other = serve.connect()
    for _ in range(12):
        lbns = rng.sample(device.equivalent(rng.randrange(device.blocks)), 20)
        commands: list[Access] = [("read", lbn, 1) for lbn in lbns[:7]]
        commands += [("write", lbn, bytes(BLOCK)) for lbn in lbns[7:]]
        answers.append((lbns, there.batch(commands)))
        other.batch([("read", rng.randrange(device.blocks), 1)])
    server.stop()
    recorded = rows(tmp_path / "r.parquet")
    assert len(recorded) == 12 * 21
    for lbns, answer in answers:
        mine = recorded.filter(pl.col("id").is_in([one.id for one in answer.outcomes]))
        assert mine["lbn"].to_list() == lbns
        assert mine["id"].to_list() == list(range(mine["id"][0], mine["id"][0] + 20))
        assert mine["arrival_ns"].n_unique() == 1
        assert mine["stream"].n_unique() == 1
        # Twenty blocks of a class take two passes; a command is in one of them.
        assert set(mine["passes"]) == {1}
        assert mine["start_ns"].n_unique() == 2
        for one, row in zip(answer.outcomes, mine.iter_rows(named=True), strict=True):
            for column, value in row.items():
                if column == "cylinders" or column.startswith(("from_", "to_")):
                    assert value is None  # the sled moves for the batch as a whole
                elif column not in {"parent", "device", "status"}:
                    assert getattr(one, column) == value, column
    again = rows(ss.simulate(replayed(recorded, tmp_path), device))
    same = ["id", "lbn", "op", "arrival_ns", "start_ns", "completion_ns", "seek_ns", "transfer_ns"]
    same += ["queue_ns", "bus_ns", "other_ns", "passes", "queue_depth", "energy_nj"]
    assert again.select(same).equals(recorded.select(same))


def test_a_batch_takes_the_time_of_the_calculator(serve: Serve) -> None:
    device = ss.device("cmu2003")
    extents = [(5, 3), (16, 3), (700_000, 3), (702_710, 3), (6_000_000, 3)]
    said = device.batch([("write", lbn, blocks) for lbn, blocks in extents])
    _, there = serve.remote(device)
    done = there.batch([("write", lbn, bytes(blocks * BLOCK)) for lbn, blocks in extents])
    start = min(one.start_ns for one in done.outcomes)
    took_ns = max(one.completion_ns for one in done.outcomes) - start
    assert took_ns == pytest.approx(1e9 * said.total_s, abs=1)
    assert done.response_s > said.total_s


def test_batches_are_yielded_in_order(serve: Serve) -> None:
    _, there = serve.remote(scheduler="sptf", speed=50)
    twin = bytearray(5000 * BLOCK)
    rng = random.Random(4)
    wanted: list[list[bytes | None]] = []

    def batches() -> Iterator[list[Access]]:
        for _ in range(200):
            commands: list[Access] = []
            data: list[bytes | None] = []
            for lbn in rng.sample(range(0, 5000, 4), 6):
                at = slice(lbn * BLOCK, (lbn + 3) * BLOCK)
                if rng.random() < 0.5:
                    twin[at] = rng.randbytes(3 * BLOCK)
                    given = rng.choice([bytes, bytearray, memoryview])(twin[at])
                    commands.append(("write", lbn, given))
                    data.append(None)
                else:
                    commands.append(("read", lbn, 3))
                    data.append(bytes(twin[at]))
            wanted.append(data)
            yield commands

    for number, done in enumerate(there.batches(batches(), under_way=16)):
        assert done.data == wanted[number]
        assert len(wanted) <= number + 17
    assert number == 199
    # One that is refused ends it, and is named; those before it came.
    good: list[Access] = [("read", 0, 1)]
    bad: list[Access] = [("read", 0, 2), ("read", 1, 1)]
    seen: list[ss.emulator.RemoteBatch] = []
    with pytest.raises(ss.RemoteError, match="overlap") as caught:
        seen += there.batches([good, good, bad, good])
    assert caught.value.index == 2
    assert caught.value.code == "INVALID_ARGUMENT"
    assert there.batch(good).data == [bytes(twin[:BLOCK])]
    with pytest.raises(ss.SledsimError, match="under_way = 0"):
        there.batches([], under_way=0)


def test_several_threads_of_a_connection(serve: Serve) -> None:
    server, there = serve.remote(speed=100)
    writes: list[list[Access]] = [[("write", n, bytes([n]) * BLOCK)] for n in range(200)]
    reads: list[list[Access]] = [[("read", n, 1)] for n in range(200)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(there.batch, writes))
        done = list(pool.map(there.batch, reads))
    assert [each.data for each in done] == [[bytes([n]) * BLOCK] for n in range(200)]
    (front,) = server.status()["front_ends"]
    assert front["accepted"] == 1


REFUSED: list[tuple[str, list[Any], str, str]] = [
    ("m", [], "at least", "INVALID_ARGUMENT"),
    ("m", [("read", 0, 0)], r"commands\[0\].read.blocks = 0", "INVALID_ARGUMENT"),
    ("m", [("write", 0, b"x" * 100)], "100 bytes", "INVALID_ARGUMENT"),
    ("m", [("read", 6_750_000, 1)], "0 to 6749999", "INVALID_ARGUMENT"),
    ("m", [("read", 0, 2), ("read", 1, 1)], "overlap", "INVALID_ARGUMENT"),
    ("m", [("read", 0, 70_000)], "at most 33554432", "RESOURCE_EXHAUSTED"),
    ("r", [("write", 0, bytes(BLOCK))], "read-only", "PERMISSION_DENIED"),
    ("d", [("read", 0, 1), ("read", 9, 1)], "no single sled", "FAILED_PRECONDITION"),
    ("f", [("read", 1, 1), ("read", 0, 1)], r"commands\[1\] failed", "DATA_LOSS"),
    ("m", [("erase", 0, 1)], "neither a read nor a write", ""),
    ("m", [("read", 0)], "neither", ""),
    ("m", [("read", "a", 1)], "lbn is a", ""),
    ("m", [("read", 0, 1.5)], "blocks is 1.5", ""),
    ("m", [("write", 0, 5)], "data is a number", ""),
    ("m", [("write", 0, "text")], "data are not bytes", ""),
    ("m", [("write", 0, bytes(BLOCK), 3)], "fua", ""),
    ("m", ["read"], "no tuple", ""),
    ("m", [("read", -1, 1)], "lbn =", ""),
    ("m", [("read", 1 << 64, 1)], "lbn =", ""),
]
"""An export, commands, and words and code of the refusal; no code if nothing is sent."""


def test_wrong_input_is_refused(serve: Serve) -> None:
    exports = [
        Export(device="cmu2003", name="m"),
        Export(device="cmu2003", name="r", read_only=True),
        Export(device="atlas10k", name="d"),
        Export(device=ss.device("cmu2003", faults={"failed_tips": [0]}), name="f"),
    ]
    server, _ = serve.remote(exports)
    there, disk = serve.connect("m"), serve.connect("d")
    assert there.exports == ["m", "r", "d", "f"]
    for name, commands, says, code in REFUSED:
        with pytest.raises(ss.SledsimError, match=says) as caught:
            serve.connect(name).batch(commands)
        assert getattr(caught.value, "code", "") == code
        if code == "DATA_LOSS":
            assert caught.value.batch.data == [bytes(BLOCK), None]  # type: ignore[attr-defined]
    for lbn in (-1, 1 << 64):
        with pytest.raises(ss.SledsimError, match="lbn ="):
            there.equivalent(lbn)
    with pytest.raises(ss.RemoteError, match="LBN 0 and LBN 10 conflict"):
        there.batch([("read", 0, 1), ("read", 10, 1)], must_be_parallel=True)
    assert disk.batch([("read", 5, 2)]).data == [bytes(2 * BLOCK)]
    for call in (disk.equivalent, disk.boundaries):
        with pytest.raises(ss.RemoteError, match="'atlas10k' is of kind 'disk'"):
            call(0)
    with pytest.raises(ss.RemoteError, match=r"'x'.*exports are m, r, d, f") as unknown:
        serve.connect("x")
    assert unknown.value.code == "NOT_FOUND"
    there.close()
    with pytest.raises(ss.SledsimError, match="closed"):
        there.batch([("read", 0, 1)])
    server.stop()
    with pytest.raises(ss.RemoteError, match="ended the connection") as gone:
        disk.batch([("read", 0, 1)])
    assert gone.value.code == "UNAVAILABLE"


def test_ctrl_c_ends_the_wait_for_a_slow_device(serve: Serve) -> None:
    program = """
import sys, sledsim as ss
there = ss.connect(sys.argv[1])
print("waits", flush=True)
try:
    there.batch([("read", 0, 1)])
except KeyboardInterrupt:
    print("interrupted", there.parallelism.p)
"""
    server = serve.at("cmu2003", speed=1e-6, rpc=f"unix:{serve.rpc}")
    command = [sys.executable, "-c", program, f"unix:{serve.rpc}"]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    assert client.stdout.readline() == "waits\n"
    while server.status()["exports"][0]["outstanding"] == 0:
        pass
    client.send_signal(signal.SIGINT)
    assert client.communicate(timeout=LONG_S)[0] == "interrupted 10\n"
    server.stop(0)


@pytest.mark.usefixtures("runtime")
def test_on_the_command_line(serve: Serve) -> None:
    words = ("--rpc", f"unix:{serve.rpc}", "--rpc", ":0")
    server = Command("--device", "cmu2003", "--json", *words)
    uris = server.uris("rpc")
    assert uris[0] == f"unix:{serve.rpc}"
    assert uris[1].startswith("dns:127.0.0.1:")
    for uri in uris:
        with ss.connect(uri) as there:
            assert there.batch([("read", 0, 1)]).data == [bytes(BLOCK)]
    report = json.loads(server.end())
    assert report["exports"][0]["summary"]["requests"] == 2
    assert [front["kind"] for front in report["front_ends"]] == ["rpc", "rpc"]


def test_the_generated_code_is_of_this_proto_file() -> None:
    proto = (CRATE / "proto" / "sledsim.proto").read_bytes()
    code = (CRATE / "src" / "v1.rs").read_text(encoding="utf-8")
    _, of_proto, of_code, generated = code.split("\n", 3)
    hint = "crates/sledsim-rpc: run `make proto`"
    assert of_proto == f"// sha256 of sledsim.proto: {sha256(proto).hexdigest()}", hint
    own = sha256(generated.encode()).hexdigest()
    assert of_code == f"// sha256 of the lines below: {own}", hint


def test_an_independent_client(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its messages and stubs are generated from the .proto, as another language does."""
    made = [f"--{kind}_out={tmp_path}" for kind in ("python", "grpc_python")]
    protoc = [sys.executable, "-m", "grpc_tools.protoc", f"-I{CRATE / 'proto'}"]
    subprocess.run([*protoc, *made, "sledsim.proto"], check=True)
    monkeypatch.syspath_prepend(tmp_path)
    v1, calls = map(importlib.import_module, ("sledsim_pb2", "sledsim_pb2_grpc"))
    device = ss.device("cmu2003")
    server, _ = serve.remote(device, name="m")
    with grpc.insecure_channel(f"unix:{serve.rpc}", options=AUTHORITY) as channel:
        there = calls.MemStoreStub(channel)
        listed = there.ListExports(v1.ListExportsRequest())
        assert listed.sledsim == ss.__version__
        (export,) = listed.exports
        assert (export.name, export.blocks, export.block_bytes) == ("m", device.blocks, BLOCK)
        assert (export.device, export.kind, export.read_only) == ("cmu2003", "mems", False)
        about = there.Describe(v1.DescribeRequest(export="m"))
        path = tmp_path / "copy.toml"
        path.write_text(about.device_toml)
        assert ss.device(str(path)).parameters == {
            key: value for key, value in device.parameters.items() if key != "base"
        }
        assert json.loads(about.device_json)["derived"] == device.spec["derived"]
        assert (about.scheduler, about.layout, about.speed) == ("fcfs", "", 1.0)
        assert about.batching == v1.BATCHING_SERVED
        said = there.GetParallelism(v1.GetParallelismRequest())
        shape = device.parallelism
        assert (said.p, said.squares, said.s_x, said.s_y) == (10, 100, shape.S_x, shape.S_y)
        assert (said.m, said.n_x, said.n_y) == (shape.M, shape.N_x, shape.N_y)
        assert (said.s_t, said.s_c) == (shape.S_T, shape.S_C)
        together = there.GetEquivalent(v1.GetEquivalentRequest(lbn=33, at_ns=0)).lbns
        assert list(together) == device.equivalent(33)
        assert there.CheckConflicting(v1.CheckConflictingRequest(a=33, b=43)).conflicting
        assert not there.CheckConflicting(v1.CheckConflictingRequest(a=33, b=34)).conflicting
        said = there.GetBoundaries(v1.GetBoundariesRequest(lbn=300))
        assert (said.first, said.last) == device.boundaries(300)
        # A batch: ten writes, then read.
        ten = list(together)[::10]
        data = [bytes([n]) * BLOCK for n in range(10)]
        both = zip(ten, data, strict=True)
        writes = [v1.Command(lbn=lbn, write=v1.Write(data=each)) for lbn, each in both]
        answer = there.Batch(v1.BatchRequest(commands=writes, must_be_parallel=True, tag=5))
        assert answer.tag == 5
        assert [each.status for each in answer.results] == [v1.STATUS_OK] * 10
        assert len({each.row.start_ns for each in answer.results}) == 1
        reads = [v1.Command(lbn=lbn, read=v1.Read(blocks=1)) for lbn in ten]
        answer = there.Batch(v1.BatchRequest(commands=reads))
        assert [each.data for each in answer.results] == data
        there.Flush(v1.FlushRequest())
        # Many, one of which is refused.
        stream = [v1.BatchRequest(commands=reads, tag=tag) for tag in range(50)]
        stream[17].commands[0].lbn = device.blocks
        answers = {each.tag: each for each in there.Batches(iter(stream))}
        assert sorted(answers) == list(range(50))
        refused = answers.pop(17)
        assert refused.refused.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
        assert "commands[0]" in refused.refused.message
        assert all([r.data for r in each.results] == data for each in answers.values())
        with pytest.raises(grpc.RpcError) as caught:
            there.Describe(v1.DescribeRequest(export="x"))
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND
        with pytest.raises(grpc.RpcError) as caught:
            there.Batch(v1.BatchRequest(commands=[v1.Command(lbn=1)]))
        assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert caught.value.details() == "commands[0].what: missing: must be read or write"
        # A call that is given up leaves nothing.
        call = there.Batches(iter(stream[:3]))
        next(call)
        call.cancel()
        assert there.Batch(v1.BatchRequest(commands=reads)).results[3].data == data[3]
        assert sum(troubles(server).values()) == 0
