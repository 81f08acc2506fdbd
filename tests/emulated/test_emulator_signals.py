"""A second signal while a server ends does not cost its recording, and its grace is checked."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from sledsim.cli import main

from tests.emulated.test_emulator import BLOCK, Client, begin
from tests.emulated.test_emulator import runtime as runtime  # noqa: PLC0414 (a fixture)
from tests.emulated.test_emulator_mount import Place, is_undone, needs_root
from tests.emulated.test_emulator_mount import place as place  # noqa: PLC0414 (a fixture)
from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

SLOW = "memory(latency_ms=200, ms_per_block=0)"
"""Requests to it are under way for longer than it takes to send signals."""
SPEED = 0.1


def ask(client: Client, count: int) -> None:
    """Send reads, and wait for none."""
    for number in range(count):
        head = struct.pack(">IHHQQI", 0x25609513, 0, 0, 7, number * BLOCK, BLOCK)
        client.socket.sendall(head)


def signalled(process: subprocess.Popen[str], number: int, ends: Callable[[], object]) -> None:
    """Send signals until it ends, as the caller can tell, and then one more."""
    process.send_signal(signal.SIGTERM)
    until = time.monotonic() + LONG_S
    while not ends():
        assert time.monotonic() < until
        process.send_signal(number)
        time.sleep(0.02)
    process.send_signal(number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_more_signals_to_serve(runtime: Path, tmp_path: Path, number: int) -> None:
    path, recording = tmp_path / "s.sock", tmp_path / "r.parquet"
    server = begin(
        f"--device={SLOW}",
        f"--speed={SPEED}",
        f"--nbd=unix:{path}",
        f"--record={recording}",
        "--grace=60",
        "--json",
    )
    client = Client(path)
    ask(client, 5)
    control = runtime / "sledsim" / f"{server.pid}.control"
    eventually(lambda: outstanding(control) == 5)
    signalled(server, number, lambda: not control.exists())
    out, errors = server.communicate(timeout=LONG_S)
    assert server.returncode == 0, errors
    assert len(client._take(5 * (16 + BLOCK))) == 5 * (16 + BLOCK)  # what was under way
    client.socket.close()
    assert json.loads(out)["exports"][0]["summary"]["reads"] == 5
    assert len(pl.read_parquet(recording)) == 5


def outstanding(control: Path) -> int:
    from sledsim.emulator.control import ask as status  # Linux only

    (export,) = json.loads(status(control))["exports"]
    return int(export["outstanding"])


IN_PYTHON = """\
import pathlib, sys, time
import sledsim as ss
device = ss.device("memory", latency_ms=200, ms_per_block=0)
try:
    with ss.serve(
        ss.emulator.Export(device=device, speed=0.2, record=sys.argv[2]), nbd=f"unix:{sys.argv[1]}"
    ) as server:
        while server.status()["exports"][0]["outstanding"] < 5:
            time.sleep(0.01)
        print("here", flush=True)
        time.sleep(600)
except KeyboardInterrupt:
    sys.exit(3)
"""


def test_more_interrupts_of_a_server_in_python(tmp_path: Path) -> None:
    path, recording = tmp_path / "s.sock", tmp_path / "r.parquet"
    words = [sys.executable, "-c", IN_PYTHON, str(path), str(recording)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        eventually(path.exists)
        client = Client(path)
        ask(client, 5)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        eventually(lambda: not path.exists())  # it takes no more clients: it ends
        process.send_signal(signal.SIGINT)
        process.wait(LONG_S)
        client.socket.close()
    assert len(pl.read_parquet(recording)) == 5


@needs_root
@pytest.mark.parametrize("who", ["supervisor", "server"])
def test_more_signals_to_a_mount(place: Place, tmp_path: Path, who: str) -> None:
    recording = tmp_path / "r.parquet"
    made = place.mount("--fs=ext4", f"--record={recording}", file=False)
    file = place.directory / "file"
    file.write_bytes(os.urandom(1 << 20))
    while not is_undone(made):
        try:
            os.kill(made[who], signal.SIGTERM)
        except ProcessLookupError:
            break
        time.sleep(0.02)
    eventually(lambda: is_undone(made))
    rows = pl.read_parquet(recording)
    assert rows.filter(pl.col("op") == "write")["blocks"].sum() >= (1 << 20) // BLOCK


@pytest.mark.parametrize("grace", ["nan", "inf", "-1", "1e300"])
def test_a_grace_that_cannot_be_is_refused(
    grace: str,
    runtime: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del runtime
    monkeypatch.setattr("sledsim.cli.serve.serve", lambda *_, **__: pytest.fail("it has begun"))
    recording = tmp_path / "r.parquet"
    words = ["--device=g2", f"--nbd=unix:{tmp_path / 's'}", f"--record={recording}"]
    assert main(["serve", *words, f"--file={tmp_path / 'd'}", f"--grace={grace}"]) == 2
    out, errors = capsys.readouterr()
    assert out == ""
    assert f"--grace {float(grace)!r}: must be a finite number of at least 0" in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("grace", [float("nan"), float("inf"), -1, True, "1", 1e300])
def test_a_grace_that_cannot_be_is_refused_in_python(grace: Any, tmp_path: Path) -> None:
    with ss.serve("g2", nbd=f"unix:{tmp_path / 's'}") as server:
        with pytest.raises(ss.SpecError, match=r"grace_s = .*: must be a finite number") as error:
            server.stop(grace)
        assert error.value.key == "grace_s"
        assert server.is_alive
