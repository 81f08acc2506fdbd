"""Servers of emulated devices: status, end, recordings."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import urllib.request
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.cli.top import picture
from sledsim.emulator.control import Control, ask, local_address

from tests.mounted import small_disk
from tests.served import BLOCK, READ, TRIM, WRITE, Command, Serve, rows, same, samples
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_reads_return_what_was_written(serve: Serve) -> None:
    server, client = serve()
    assert server.uris == [f"nbd+unix:///?socket={serve.nbd}"]
    assert client.bytes == ss.device("g2").blocks * BLOCK
    data = os.urandom(64 * BLOCK)
    client.write(1000 * BLOCK, data)
    client.flush()
    assert client.read(998 * BLOCK, 68 * BLOCK) == bytes(2 * BLOCK) + data + bytes(2 * BLOCK)
    client.close()
    status = server.stop()
    (export,) = status["exports"]
    summary = export["summary"]
    assert [summary[key] for key in ("requests", "reads", "writes", "flushes")] == [3, 1, 1, 1]
    assert (summary["blocks_read"], summary["blocks_written"]) == (68, 64)
    assert export["lateness_us"]["count"] == 3
    assert export["outstanding"] == 0
    assert not serve.nbd.exists()
    assert not server.is_alive
    assert server.status() == status


def test_times_are_those_of_the_simulated_device(serve: Serve, tmp_path: Path) -> None:
    """One request at a time: each takes at least the time of the model, and the rows have it."""
    recording = tmp_path / "r.parquet"
    server, client = serve(record=recording)
    took = []
    for n in range(100):
        begun = time.perf_counter_ns()
        client.read((n * 7919 % 6000) * 1000 * BLOCK, 8 * BLOCK)
        took.append(time.perf_counter_ns() - begun)
    server.stop()
    recorded = rows(recording)
    response = recorded["completion_ns"] - recorded["arrival_ns"]
    assert response.min() > 200_000  # type: ignore[operator]
    for seen, model, late in zip(took, response, recorded["lateness_ns"], strict=True):
        assert seen >= model + late >= model


def test_a_replay_of_a_recording_gives_its_times(serve: Serve, tmp_path: Path) -> None:
    recording = tmp_path / "r.parquet"
    server, first = serve(scheduler="sptf", record=recording)
    clients = [first, *(serve.client() for _ in range(3))]
    for n in range(25):
        for k, client in enumerate(clients):
            client.send(READ, (n * 104_729 + k * 15_485_863) % 6_000_000 * BLOCK, 8 * BLOCK)
        for client in clients:
            client.take(16 + 8 * BLOCK)
    server.stop()
    recorded = rows(recording)
    run = ss.simulate(ss.read_trace(recording, time_origin="file"), "g2", scheduler="sptf")
    assert len(recorded) == 100
    times = ("arrival_ns", "start_ns", "completion_ns", "queue_ns", "seek_ns", "transfer_ns")
    same(recorded, rows(run), (*times, "queue_depth", "energy_nj"))
    # A program sees the time of the model and the lateness, and no more.
    seen = (recorded["completion_ns"] + recorded["lateness_ns"] - recorded["arrival_ns"]).mean()
    response = run.summary["response_time_ms"]["mean"] * 1e6
    assert seen - recorded["lateness_ns"].mean() == pytest.approx(response)  # type: ignore[operator]


def test_a_closed_replay_takes_what_the_program_would(serve: Serve, tmp_path: Path) -> None:
    """A program that thinks a millisecond between two requests: without lateness, as long."""
    recording = tmp_path / "r.parquet"
    server, client = serve(record=recording)
    for n in range(100):
        client.write((n * 7919 % 6000) * 1000 * BLOCK, bytes(8 * BLOCK))
        time.sleep(0.001)
    server.stop()
    again = ss.read_trace(recording, think="recorded")
    run = ss.simulate(again, ss.device("g2"))
    assert run.workload["waited"] == 99
    # What was recorded ends with the last answer, which was late, too.
    late_s = float(rows(recording)["lateness_ns"].sum()) / 1e9
    recorded_s = run.workload["recorded_duration_s"]
    assert run.summary["duration_s"] == pytest.approx(recorded_s - late_s, abs=1e-8)
    assert run.workload["mean_think_ms"] >= 1
    slower = ss.simulate(again, ss.device("atlas10k")).summary["duration_s"]
    assert slower > run.summary["duration_s"] + 100 * 2e-3  # half a revolution more for each


def test_speed(serve: Serve) -> None:
    """A disk at a hundredth of its time, a memory at ten times its: the model's times stay."""
    disk, client = serve("atlas10k", speed=100.0)
    for n in range(50):
        client.read(n * 300_000 * BLOCK, BLOCK)
    times = disk.stop()["exports"][0]["summary"]["response_time_ms"]
    assert times["mean"] > 5  # a seek and half a revolution
    memory, client = serve(ss.device("memory", latency_ms=2.0, ms_per_block=0.0), speed=0.1)
    begun = time.perf_counter()
    client.read(0, BLOCK)
    assert time.perf_counter() - begun >= 0.02
    times = memory.stop()["exports"][0]["summary"]["response_time_ms"]
    assert times["max"] == pytest.approx(2.0, rel=1e-3)


def test_a_backing_file_survives(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "d.img"
    data = os.urandom(4096)
    server, client = serve(file=file)
    client.write(1 << 20, data)
    server.stop()
    assert file.stat().st_size == ss.device("g2").blocks * BLOCK
    assert file.stat().st_blocks * BLOCK < 1 << 20  # sparse
    server, client = serve(file=file, read_only=True)
    assert client.flags & 2
    assert client.read(1 << 20, 4096) == data
    with pytest.raises(ss.SledsimError, match=r"d\.img: is in use by another server"):
        serve.at(file=file, nbd=f"unix:{tmp_path}/2")
    server.stop()
    with pytest.raises(ss.SledsimError, match=r"d\.img: has \d+ bytes, and the device has"):
        serve("g3", file=file)


@pytest.mark.usefixtures("runtime")
def test_unused_tips_work_meanwhile(serve: Serve) -> None:
    words = ("--device=g2", "--background=scan(blocks=27000)", f"--nbd=unix:{serve.nbd}", "--json")
    server = Command(*words)
    client = serve.client()
    for n in range(50):
        client.read(n * 100 * BLOCK, 8 * BLOCK)
    (task,) = server.document()[0]["summary"]["background"]
    assert task["task"] == "scan"
    assert task["free_blocks"] > 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(runtime: Path, serve: Serve, number: int) -> None:
    recording = runtime / "r.parquet"
    server = Command("--device=g2", f"--nbd=unix:{serve.nbd}", f"--record={recording}", "--json")
    serve.client().write(0, bytes(4096))
    assert server.document(number)[0]["summary"]["writes"] == 1
    assert len(rows(recording)) == 1
    assert not serve.nbd.exists()
    assert list(runtime.glob("sledsim/*")) == []


def test_a_killed_server_keeps_every_flushed_write(runtime: Path, serve: Serve) -> None:
    words = ("--device=g2", f"--nbd=unix:{serve.nbd}", f"--file={runtime / 'd.img'}", "--speed=50")
    server = Command(*words)
    client = serve.client()
    flushed = {}
    for n in range(40):
        flushed[n] = os.urandom(8 * BLOCK)
        client.write(n * 100 * BLOCK, flushed[n])
        if n % 4 == 3:
            client.flush()
    server.process.kill()
    server.process.communicate()
    # Its sockets are stale now: the next server takes their place.
    server = Command(*words)
    client = serve.client()
    for n, data in flushed.items():
        assert client.read(n * 100 * BLOCK, 8 * BLOCK) == data
    assert "late by p50 us" in server.end()
    assert list(runtime.glob("sledsim/*")) == []


def test_no_space_left(serve: Serve, tmp_path: Path) -> None:
    """The write fails that finds no space, and nothing else does."""
    with small_disk(tmp_path / "small", "1m") as small:
        server, client = serve(file=small / "d.img")
        kept = os.urandom(512 << 10)
        client.write(0, kept)
        assert client.error(WRITE, 1 << 30, data=bytes(1 << 20)) == 28  # ENOSPC
        client.flush()
        assert client.read(0, 512 << 10) == kept
        client.ask(TRIM, 0, 512 << 10)  # there is space again
        client.write(1 << 30, kept)
        assert client.read(1 << 30, 512 << 10) == kept
        summary = server.stop()["exports"][0]["summary"]
        assert (summary["requests"], summary["errors"]) == (7, 1)


@pytest.fixture
def watched(runtime: Path, serve: Serve) -> Iterator[tuple[ss.emulator.Server, Path]]:
    """Start a server with a control socket."""
    control = runtime / "c.control"
    devices = [ss.emulator.Export(device="g2", name="fast"), ss.emulator.Export(device="atlas10k")]
    server, client = serve(devices)
    told = Control(server, control)
    client.write(0, bytes(4096))
    client.read(0, 8192)
    yield server, control
    told.close()
    assert not control.exists()


def test_top(watched: tuple[ss.emulator.Server, Path], capsys: pytest.CaptureFixture[str]) -> None:
    _, control = watched
    assert main(["top", str(control), "--once"]) == 0
    lines = capsys.readouterr().out.splitlines()
    fast = [line for line in lines if line.startswith("fast ")]
    assert len(fast) == 2
    assert fast[0].split()[-2:] == ["2", "0"]
    assert any(line.startswith("atlas10k") for line in lines)
    assert main(["top", str(control), "--json"]) == 0
    before = json.loads(capsys.readouterr().out)
    assert before["exports"][0]["summary"]["requests"] == 2
    # Rates are of the interval.
    after = json.loads(json.dumps(before)) | {"up_s": before["up_s"] + 2}
    after["exports"][0]["summary"]["requests"] += 300
    after["exports"][0]["summary"]["blocks_read"] += 4000
    lines = "\n".join(picture(after, before)).splitlines()
    row = next(line for line in lines if line.startswith("fast "))
    assert row.split()[5:7] == ["150", "1.02"]


def test_top_finds_the_only_server(
    runtime: Path, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    server = Command("--device=g2", f"--nbd=unix:{serve.nbd}")
    stale = runtime / "sledsim" / "1.control"
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(stale))
    assert main(["top", "--once"]) == 0
    assert not stale.exists()
    pid = str(server.process.pid)
    assert main(["top", pid, "--once"]) == 0
    server.end()
    capsys.readouterr()
    for words, says in (([], "no server of yours runs"), ([pid], "no server answers there")):
        assert main(["top", *words, "--once"]) == 2
        assert says in capsys.readouterr().err


def test_metrics(watched: tuple[ss.emulator.Server, Path]) -> None:
    server, control = watched
    found: dict[tuple[str, str, str], float] = {}
    for sample in samples(ask(control, "/metrics")):
        labels = sample.labels
        which = labels.get("op") or labels.get("quantile") or ""
        found[sample.name.removeprefix("sledsim_"), labels.get("export", ""), which] = sample.value
    export = server.status()["exports"][0]
    expected = {
        ("requests_total", "fast", "reads"): 1,
        ("requests_total", "atlas10k", "reads"): 0,
        ("bytes_total", "fast", "writes"): 4096,
        ("capacity_bytes", "fast", ""): ss.device("g2").blocks * BLOCK,
        ("response_seconds", "fast", "0.99"): export["summary"]["response_time_ms"]["p99"] / 1e3,
        ("lateness_seconds", "fast", "0.5"): export["lateness_us"]["p50"] / 1e6,
    }
    assert {key: found[key] for key in expected} == pytest.approx(expected)
    assert ("response_seconds", "atlas10k", "0.99") not in found
    # The same over TCP, on this machine.
    told = Control(server, local_address(":0", anywhere=False))
    with urllib.request.urlopen(f"http://127.0.0.1:{told.port}/status", timeout=LONG_S) as answer:
        assert json.load(answer)["exports"][0]["name"] == "fast"
    told.close()
    with pytest.raises(ss.SledsimError, match="there are /status and /metrics"):
        ask(control, "/other")


def test_exports(serve: Serve, tmp_path: Path) -> None:
    server, _ = serve(["mcd", "g3"])
    assert [export["name"] for export in server.status()["exports"]] == ["mcd", "g3"]
    with pytest.raises(ss.SledsimError, match="no device to serve"):
        serve([])
    disk = tmp_path / "disk.parquet"
    serve.at(file=disk, nbd=f"unix:{tmp_path}/d").stop()
    with pytest.raises(ss.SledsimError, match="is read by the same command"):
        serve(file=disk, record=disk)
