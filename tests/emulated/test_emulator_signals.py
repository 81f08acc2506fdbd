"""A second signal while a server ends does not cost its recording, and its grace is checked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from sledsim.emulator.control import ask

from tests.emulated.test_emulator_mount import is_undone
from tests.mounted import needs_root
from tests.served import BLOCK, READ, Command, Serve, rows
from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mounted import Place

SLOW = "memory(latency_ms=200, ms_per_block=0)"
"""Requests to it are under way for longer than it takes to send signals."""


def again_and_again(send: Callable[[], object], is_so: Callable[[], object]) -> None:
    """Send signals until it is so."""

    def sent() -> bool:
        if not is_so():
            send()
        return bool(is_so())

    eventually(sent)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_more_signals_to_serve(runtime: Path, serve: Serve, number: int) -> None:
    recording = runtime / "r.parquet"
    words = (f"--device={SLOW}", "--speed=0.2", f"--nbd=unix:{serve.nbd}", "--grace=60", "--json")
    server = Command(*words, f"--record={recording}")
    client = serve.client()
    for at in range(5):
        client.send(READ, at * BLOCK, BLOCK)
    control = runtime / "sledsim" / f"{server.process.pid}.control"
    eventually(lambda: json.loads(ask(control))["exports"][0]["outstanding"] == 5)
    server.process.send_signal(signal.SIGTERM)
    again_and_again(lambda: server.process.send_signal(number), lambda: not control.exists())
    assert server.document(number)[0]["summary"]["reads"] == 5
    client.take(5 * (16 + BLOCK))  # what was under way
    assert len(rows(recording)) == 5


IN_PYTHON = """\
import pathlib, sys, time
import sledsim as ss
device = ss.device("memory", latency_ms=200, ms_per_block=0)
try:
    with ss.serve(
        ss.emulator.Export(device=device, speed=0.4, record=sys.argv[2]), nbd=f"unix:{sys.argv[1]}"
    ) as server:
        while server.status()["exports"][0]["outstanding"] < 5:
            time.sleep(0.01)
        print("here", flush=True)
        time.sleep(600)
except KeyboardInterrupt:
    sys.exit(3)
"""


def test_more_interrupts_of_a_server_in_python(serve: Serve, tmp_path: Path) -> None:
    recording = tmp_path / "r.parquet"
    words = [sys.executable, "-c", IN_PYTHON, str(serve.nbd), str(recording)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        eventually(serve.nbd.exists)
        client = serve.client()
        for at in range(5):
            client.send(READ, at * BLOCK, BLOCK)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        eventually(lambda: not serve.nbd.exists())  # it takes no more clients: it ends
        process.send_signal(signal.SIGINT)
        process.wait(LONG_S)
    assert len(rows(recording)) == 5


@needs_root
@pytest.mark.parametrize("who", ["supervisor", "server"])
def test_more_signals_to_a_mount(place: Place, tmp_path: Path, who: str) -> None:
    recording = tmp_path / "r.parquet"
    made = place.mount("--fs=ext4", f"--record={recording}", file=False)
    (place.directory / "file").write_bytes(os.urandom(1 << 20))
    while not is_undone(made):
        try:
            os.kill(made[who], signal.SIGTERM)
        except ProcessLookupError:
            break
        time.sleep(0.02)
    eventually(lambda: is_undone(made))
    written = rows(recording).filter(pl.col("op") == "write")["blocks"].sum()
    assert written >= (1 << 20) // BLOCK


@pytest.mark.parametrize("grace", [float("nan"), float("inf"), -1, True, "1", 1e300])
def test_a_grace_that_cannot_be_is_refused(serve: Serve, grace: Any) -> None:
    server, _ = serve()
    with pytest.raises(ss.SpecError, match=r"grace_s = .*: must be a finite number") as error:
        server.stop(grace)
    assert error.value.key == "grace_s"
    assert server.is_alive
