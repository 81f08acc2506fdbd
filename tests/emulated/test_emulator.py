"""Servers of emulated devices: status, end, refusals."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from prometheus_client.parser import text_string_to_metric_families
from sledsim.cli import main
from sledsim.cli.top import picture
from sledsim.emulator.control import Control, ask, local_address

from tests.waiting import LONG_S

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator needs Linux")

BLOCK = 512


class Client:
    """An NBD client of few words: the oldest way of opening the first export."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LONG_S)
        self.socket.connect(str(path))
        assert self._take(16) == b"NBDMAGICIHAVEOPT"
        self._take(2)
        self.socket.sendall(struct.pack(">I", 3))
        self.socket.sendall(b"IHAVEOPT" + struct.pack(">II", 1, 0))
        self.bytes, self.flags = struct.unpack(">QH", self._take(10))

    def _take(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            some = self.socket.recv(count - len(taken))
            assert some, "the server hung up"
            taken += some
        return taken

    def error(
        self, kind: int, offset: int = 0, count: int = 0, data: bytes = b"", flags: int = 0
    ) -> int:
        """Ask for something; return the number of the error. What is read stays in the socket."""
        head = struct.pack(">IHHQQI", 0x25609513, flags, kind, 7, offset, count or len(data))
        self.socket.sendall(head + data)
        magic, error, handle = struct.unpack(">IIQ", self._take(16))
        assert (magic, handle) == (0x67446698, 7)
        return int(error)

    def ask(self, kind: int, offset: int = 0, count: int = 0, data: bytes = b"") -> bytes:
        assert self.error(kind, offset, count, data) == 0
        return self._take(count) if kind == 0 else b""

    def read(self, offset: int, count: int) -> bytes:
        return self.ask(0, offset, count)

    def write(self, offset: int, data: bytes) -> None:
        self.ask(1, offset, data=data)

    def flush(self) -> None:
        self.ask(3)

    def close(self) -> None:
        self.socket.close()


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give control sockets a folder of their own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def begin(*arguments: str) -> subprocess.Popen[str]:
    """Start ``sledsim serve``, and wait until it serves."""
    server = subprocess.Popen(
        [sys.executable, "-m", "sledsim", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = server.stderr if "--json" in arguments else server.stdout
    assert said is not None
    for line in said:
        if line.startswith("Ctrl-C"):
            return server
    raise AssertionError(server.communicate())


def end(server: subprocess.Popen[str], number: int = signal.SIGTERM) -> str:
    """Ask it to end; return its output."""
    server.send_signal(number)
    out, errors = server.communicate(timeout=LONG_S)
    assert server.returncode == 0, errors
    assert errors == "" or "--json" in server.args  # type: ignore[operator]
    return out


def test_reads_return_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with ss.serve(ss.device("g2"), nbd=f"unix:{path}") as server:
        assert server.uris == [f"nbd+unix:///?socket={path}"]
        client = Client(path)
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
    assert not path.exists()
    assert not server.is_alive
    assert server.status() == status


def test_times_are_those_of_the_simulated_device(tmp_path: Path) -> None:
    """One request at a time: each takes at least the time of the model, and the rows have it."""
    path, recording = tmp_path / "s.sock", tmp_path / "r.parquet"
    export = ss.emulator.Export(device="g2", record=recording)
    took = []
    with ss.serve(export, nbd=f"unix:{path}"):
        client = Client(path)
        for n in range(100):
            begun = time.perf_counter_ns()
            client.read((n * 7919 % 6000) * 1000 * BLOCK, 8 * BLOCK)
            took.append(time.perf_counter_ns() - begun)
        client.close()
    rows = pl.read_parquet(recording)
    assert len(rows) == 100
    response = rows["completion_ns"] - rows["arrival_ns"]
    assert response.min() > 200_000  # type: ignore[operator]
    for seen, model, late in zip(took, response, rows["lateness_ns"], strict=True):
        assert late >= 0
        assert seen >= model + late


def test_a_replay_of_a_recording_gives_its_times(tmp_path: Path) -> None:
    path, recording = tmp_path / "s.sock", tmp_path / "r.parquet"
    export = ss.emulator.Export(device="g2", scheduler="sptf", record=recording)
    with ss.serve(export, nbd=f"unix:{path}"):
        clients = [Client(path) for _ in range(4)]
        for n in range(25):
            for k, client in enumerate(clients):
                lbn = (n * 104_729 + k * 15_485_863) % 6_000_000
                head = struct.pack(">IHHQQI", 0x25609513, 0, 0, 7, lbn * BLOCK, 8 * BLOCK)
                client.socket.sendall(head)
            for client in clients:
                client._take(16 + 8 * BLOCK)
        for client in clients:
            client.close()
    recorded = pl.read_parquet(recording).sort("id")
    run = ss.simulate(ss.read_trace(recording), ss.device("g2"), scheduler="sptf")
    simulated = pl.DataFrame(run.rows).sort("id")
    offset = recorded["arrival_ns"][0] - simulated["arrival_ns"][0]
    assert len(recorded) == 100
    for column in ("arrival_ns", "start_ns", "completion_ns"):
        assert (recorded[column] - offset).to_list() == simulated[column].to_list()
    for column in ("queue_ns", "seek_ns", "transfer_ns", "queue_depth", "energy_nj"):
        assert recorded[column].to_list() == simulated[column].to_list()
    # A program sees the time of the model and the lateness, and no more.
    seen = (recorded["completion_ns"] + recorded["lateness_ns"] - recorded["arrival_ns"]).mean()
    late = recorded["lateness_ns"].mean()
    response = run.summary["response_time_ms"]["mean"] * 1e6
    assert seen - late == pytest.approx(response)  # type: ignore[operator]


def test_a_closed_replay_takes_what_the_program_would(tmp_path: Path) -> None:
    """A program that thinks a millisecond between two requests: without lateness, as long."""
    path, recording = tmp_path / "s.sock", tmp_path / "r.parquet"
    with ss.serve(ss.emulator.Export(device="g2", record=recording), nbd=f"unix:{path}"):
        client = Client(path)
        for n in range(100):
            client.write((n * 7919 % 6000) * 1000 * BLOCK, bytes(8 * BLOCK))
            time.sleep(0.001)
        client.close()
    rows = pl.read_parquet(recording)
    again = ss.read_trace(recording, think="recorded")
    run = ss.simulate(again, ss.device("g2"))
    assert run.workload["waited"] == 99
    # What was recorded ends with the last answer, which was late, too.
    late_s = float(rows["lateness_ns"].sum()) / 1e9
    recorded_s = run.workload["recorded_duration_s"]
    assert run.summary["duration_s"] == pytest.approx(recorded_s - late_s, abs=1e-8)
    assert run.workload["mean_think_ms"] >= 1
    slower = ss.simulate(again, ss.device("atlas10k")).summary["duration_s"]
    assert slower > run.summary["duration_s"] + 100 * 2e-3  # half a revolution more for each


def test_speed(tmp_path: Path) -> None:
    """A disk at a hundredth of its time, a memory at ten times its: the model's times stay."""
    paths = {name: tmp_path / f"{name}.sock" for name in ("fast", "slow")}
    slow = ss.device("memory", latency_ms=2.0, ms_per_block=0.0)
    with (
        ss.serve(
            ss.emulator.Export(device="atlas10k", speed=100.0), nbd=f"unix:{paths['fast']}"
        ) as disk,
        ss.serve(ss.emulator.Export(device=slow, speed=0.1), nbd=f"unix:{paths['slow']}") as memory,
    ):
        client = Client(paths["fast"])
        for n in range(50):
            client.read(n * 300_000 * BLOCK, BLOCK)
        client.close()
        client = Client(paths["slow"])
        begun = time.perf_counter()
        client.read(0, BLOCK)
        assert time.perf_counter() - begun >= 0.02
        client.close()
        disk_ms = disk.stop()["exports"][0]["summary"]["response_time_ms"]
        memory_ms = memory.stop()["exports"][0]["summary"]["response_time_ms"]
    assert disk_ms["mean"] > 5  # a seek and half a revolution
    assert memory_ms["max"] == pytest.approx(2.0, rel=1e-3)


def test_a_backing_file_survives(tmp_path: Path) -> None:
    path, file = tmp_path / "s.sock", tmp_path / "d.img"
    data = os.urandom(4096)
    with ss.serve(ss.emulator.Export(device="g2", file=file), nbd=f"unix:{path}"):
        client = Client(path)
        client.write(1 << 20, data)
        client.close()
    assert file.stat().st_size == ss.device("g2").blocks * BLOCK
    assert file.stat().st_blocks * BLOCK < 1 << 20  # sparse
    with ss.serve(ss.emulator.Export(device="g2", file=file, read_only=True), nbd=f"unix:{path}"):
        client = Client(path)
        assert client.flags & 2
        assert client.read(1 << 20, 4096) == data
        client.close()
        with pytest.raises(ss.SledsimError, match=r"d\.img: is in use by another server"):
            ss.serve(ss.emulator.Export(device="g2", file=file), nbd=f"unix:{path}2")
    with pytest.raises(ss.SledsimError, match=r"d\.img: has \d+ bytes, and the device has"):
        ss.serve(ss.emulator.Export(device="g3", file=file), nbd=f"unix:{path}")


@pytest.mark.usefixtures("runtime")
def test_unused_tips_work_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    server = begin("--device=g2", "--background=scan(blocks=27000)", f"--nbd=unix:{path}", "--json")
    client = Client(path)
    for n in range(50):
        client.read(n * 100 * BLOCK, 8 * BLOCK)
    client.close()
    (task,) = json.loads(end(server))["exports"][0]["summary"]["background"]
    assert task["task"] == "scan"
    assert task["free_blocks"] > 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(runtime: Path, tmp_path: Path, number: int) -> None:
    path, recording = tmp_path / "s.sock", tmp_path / "r.parquet"
    server = begin("--device=g2", f"--nbd=unix:{path}", f"--record={recording}", "--json")
    client = Client(path)
    client.write(0, bytes(4096))
    client.close()
    document = json.loads(end(server, number))
    assert document["exports"][0]["summary"]["writes"] == 1
    assert len(pl.read_parquet(recording)) == 1
    assert not path.exists()
    assert list(runtime.glob("sledsim/*")) == []


def test_a_killed_server_keeps_every_flushed_write(runtime: Path, tmp_path: Path) -> None:
    path, file = tmp_path / "s.sock", tmp_path / "d.img"
    arguments = ("--device=g2", f"--nbd=unix:{path}", f"--file={file}", "--speed=50")
    server = begin(*arguments)
    client = Client(path)
    flushed = {}
    for n in range(40):
        data = os.urandom(8 * BLOCK)
        client.write(n * 100 * BLOCK, data)
        if n % 4 == 3:
            client.flush()
        flushed[n] = data
    client.close()
    server.kill()
    server.communicate()
    # Its sockets are stale now: the next server takes their place.
    server = begin(*arguments)
    client = Client(path)
    for n, data in flushed.items():
        assert client.read(n * 100 * BLOCK, 8 * BLOCK) == data
    client.close()
    out = end(server)
    assert "late by p50 us" in out
    assert list(runtime.glob("sledsim/*")) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system that is full soon")
def test_no_space_left(tmp_path: Path) -> None:
    """The write fails that finds no space, and nothing else does."""
    small, path = tmp_path / "small", tmp_path / "s.sock"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", small], check=True)
    try:
        with ss.serve(
            ss.emulator.Export(device="g2", file=small / "d.img"), nbd=f"unix:{path}"
        ) as server:
            client = Client(path)
            kept = os.urandom(512 << 10)
            client.write(0, kept)
            head = struct.pack(">IHHQQI", 0x25609513, 0, 1, 9, 1 << 30, 1 << 20)
            client.socket.sendall(head + bytes(1 << 20))
            assert struct.unpack(">IIQ", client._take(16)) == (0x67446698, 28, 9)  # ENOSPC
            client.flush()
            assert client.read(0, 512 << 10) == kept
            client.ask(4, 0, 512 << 10)  # trimmed, there is space again
            client.write(1 << 30, kept)
            assert client.read(1 << 30, 512 << 10) == kept
            client.close()
            summary = server.stop()["exports"][0]["summary"]
            assert (summary["requests"], summary["errors"]) == (7, 1)
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.fixture
def watched(runtime: Path, tmp_path: Path) -> Iterator[tuple[ss.emulator.Server, Path]]:
    """Start a server with a control socket."""
    path, control = tmp_path / "s.sock", runtime / "c.control"
    devices = [ss.emulator.Export(device="g2", name="fast"), ss.emulator.Export(device="atlas10k")]
    with ss.serve(devices, nbd=f"unix:{path}") as server:
        told = Control(server, control)
        client = Client(path)
        client.write(0, bytes(4096))
        client.read(0, 8192)
        client.close()
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
    runtime: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["top", "--once"]) == 2
    assert "no server of yours runs" in capsys.readouterr().err
    server = begin("--device=g2", f"--nbd=unix:{tmp_path / 's.sock'}")
    stale = runtime / "sledsim" / "1.control"
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(stale))
    assert main(["top", "--once"]) == 0
    assert not stale.exists()
    assert main(["top", str(server.pid), "--once"]) == 0
    end(server)
    capsys.readouterr()
    assert main(["top", str(server.pid), "--once"]) == 2
    assert "no server answers there" in capsys.readouterr().err


def test_metrics(watched: tuple[ss.emulator.Server, Path]) -> None:
    server, control = watched
    found: dict[tuple[str, str, str], float] = {}
    for family in text_string_to_metric_families(ask(control, "/metrics").decode()):
        for sample in family.samples:
            labels = sample.labels
            which = labels.get("op") or labels.get("quantile") or ""
            found[sample.name, labels.get("export", ""), which] = sample.value
    assert found["sledsim_requests_total", "fast", "reads"] == 1
    assert found["sledsim_requests_total", "atlas10k", "reads"] == 0
    assert found["sledsim_bytes_total", "fast", "writes"] == 4096
    assert found["sledsim_capacity_bytes", "fast", ""] == ss.device("g2").blocks * BLOCK
    export = server.status()["exports"][0]
    response = export["summary"]["response_time_ms"]["p99"] / 1e3
    assert found["sledsim_response_seconds", "fast", "0.99"] == pytest.approx(response)
    late = export["lateness_us"]["p50"] / 1e6
    assert found["sledsim_lateness_seconds", "fast", "0.5"] == pytest.approx(late)
    assert ("sledsim_response_seconds", "atlas10k", "0.99") not in found
    # The same over TCP, on this machine.
    told = Control(server, local_address(":0", anywhere=False))
    with urllib.request.urlopen(f"http://127.0.0.1:{told.port}/status", timeout=LONG_S) as answer:
        assert json.load(answer)["exports"][0]["name"] == "fast"
    told.close()
    with pytest.raises(ss.SledsimError, match="there are /status and /metrics"):
        ask(control, "/other")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nine", "must be HOST:PORT"),
        (":99999", "must be HOST:PORT"),
        ("0.0.0.0:0", "is beyond this machine"),
        ("192.0.2.1:80", "is beyond this machine"),
    ],
)
def test_metrics_are_for_this_machine(text: str, says: str) -> None:
    with pytest.raises(ss.SledsimError, match=says):
        local_address(text, anywhere=False)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no device: give --device DEVICE, or --export NAME=DEVICE"),
        (
            ["--export", "a=g2", "--read-only"],
            "--read-only: needs --device; give keys of an export in",
        ),
        (["--device=g9"], "unknown device 'g9'"),
        (["--device=g2", "--background=wash"], "unknown background task"),
        (["--device=g2", "--speed=0"], "speed = 0: must be from"),
        (["--device=g2", "--speed=nan"], "speed = nan: must be a finite number"),
        (["--device=g2", "--scheduler=lifo"], "unknown scheduler 'lifo'"),
        (["--device=g2", "--set=rate=5"], "must begin with device., scheduler. or layout."),
        (["--device=g2", "--nbd=0.0.0.0:0"], "--allow-unauthenticated-remote"),
        (["--device=g2", "--nbd=nowhere"], "nowhere"),
        (["--device=g2", "--nbd=unix:/none/s.sock"], "/none/s.sock"),
        (["--device=g2", "--file=/none/d.img"], "/none/d.img: No such file"),
        (["--device=g2", "--record=/none/r.parquet"], "/none/r.parquet"),
        (["--device=g2", "--fuse=/none"], "/none"),
        (["--device=g2", "--max-clients=0"], "max_clients = 0: must be"),
        (["--device=g2", "--busy-poll-us=1001"], "busy_poll_us = 1001: must be"),
        (["--device=g2", "--busy-poll-us=-1"], "busy_poll_us = -1: must be"),
        (["--device=g2", "--export=g2=g3"], "export 'g2': there is one of that name already"),
        (["--export=g2"], "must begin with NAME=DEVICE"),
        (["--export=a=g2,colour=red"], "'colour=red': must be file=PATH"),
        (["--export=a=g2,speed=fast"], "speed = fast: must be a number"),
        (["--device=g2", "--metrics=0.0.0.0:0"], "is beyond this machine"),
        (["--device=g2", "--tls=/none"], "/none"),
    ],
)
def test_bad_input(
    runtime: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert main(["serve", *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert list(runtime.glob("sledsim/*")) == []


def test_devices_to_serve_and_where(tmp_path: Path) -> None:
    with pytest.raises(ss.SledsimError, match="no device to serve"):
        ss.serve([], nbd=f"unix:{tmp_path / 's.sock'}")
    with pytest.raises(ss.SledsimError, match="no client could connect"):
        ss.serve("g2")
    document: dict[str, Any]
    with ss.serve(["mcd", "g3"], nbd=f"unix:{tmp_path / 's.sock'}") as server:
        document = server.status()
    assert [export["name"] for export in document["exports"]] == ["mcd", "g3"]


def test_a_recording_takes_no_place(tmp_path: Path) -> None:
    disk = tmp_path / "disk.parquet"
    ss.serve(ss.emulator.Export(device="g2", file=disk), nbd=f"unix:{tmp_path}/s").stop()
    with pytest.raises(ss.SledsimError, match="is read by the same command"):
        ss.serve(ss.emulator.Export(device="g2", file=disk, record=disk), nbd=f"unix:{tmp_path}/s")
    twice = [
        ss.emulator.Export(device=name, record=tmp_path / "r.parquet") for name in ("g2", "g3")
    ]
    with pytest.raises(ss.SledsimError, match="of another export"):
        ss.serve(twice, nbd=f"unix:{tmp_path}/s")
