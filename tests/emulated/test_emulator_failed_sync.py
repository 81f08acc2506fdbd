"""After one failed sync of a backing file no flush succeeds.

The system reports such a failure to one fsync and may drop the data (fsync(2), "Notes"), so that
the next success says nothing of them.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from prometheus_client.parser import text_string_to_metric_families
from sledsim.cli import main
from sledsim.emulator.control import ask, servers

from tests.emulated.test_emulator import BLOCK, Client, runtime
from tests.emulated.test_emulator_fuse import _may_mount
from tests.emulated.test_emulator_mount import needs_root, place
from tests.failing_sync import Failing, needs_cc
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from tests.emulated.test_emulator_mount import Place

__all__ = ["place", "runtime"]  # fixtures

pytestmark = needs_cc

FLUSH, WRITE, FUA = 3, 1, 1


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Failing:
    return Failing(tmp_path / "disk.img", tmp_path, monkeypatch)


def serve(*arguments: str) -> subprocess.Popen[str]:
    """Start a server in a process of its own, and wait until it serves."""
    server = subprocess.Popen(
        [sys.executable, "-m", "sledsim", "serve", "--device=g2", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    for line in server.stdout:
        if line.startswith("Ctrl-C"):
            return server
    raise AssertionError(server.communicate())


def test_one_failed_flush_fails_all_that_follow(
    failing: Failing, runtime: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nbd, rpc, point = tmp_path / "s.sock", tmp_path / "r.sock", tmp_path / "devices"
    point.mkdir()
    fuse = [f"--fuse={point}"] if _may_mount() else []
    arguments = [f"--file={failing.file}", f"--nbd=unix:{nbd}", f"--rpc=unix:{rpc}", *fuse]
    server = serve(*arguments)
    a, b = Client(nbd), Client(nbd)
    for client, lbn in ((a, 0), (b, 1000)):
        client.write(lbn * BLOCK, os.urandom(BLOCK))
    b.flush()
    b.write(2000 * BLOCK, b"x" * BLOCK)
    failing.once()
    assert a.error(FLUSH) == errno.EIO
    assert failing.has()
    # The write of b may be lost, too.
    assert b.error(FLUSH) == errno.EIO
    assert a.error(FLUSH) == errno.EIO
    assert b.error(WRITE, 0, data=bytes(BLOCK), flags=FUA) == errno.EIO
    failed = 4
    with ss.connect(f"unix:{rpc}") as remote:
        with pytest.raises(ss.SledsimError, match="could not be flushed"):
            remote.flush()
        with pytest.raises(ss.SledsimError, match="Input/output error"):
            remote.batch([("write", 0, bytes(BLOCK), True)])
        failed += 2
    if fuse:
        with (point / "g2").open("r+b", buffering=0) as file:
            with pytest.raises(OSError, match="Input/output error"):
                os.fsync(file.fileno())
            failed += 1
            assert file.write(bytes(BLOCK)) == BLOCK
    # As of a disk, reads and plain writes go on.
    a.write(3000 * BLOCK, b"y" * BLOCK)
    assert b.read(3000 * BLOCK, BLOCK) == b"y" * BLOCK

    (control,) = servers()
    assert control.is_relative_to(runtime)
    (export,) = json.loads(ask(control))["exports"]
    assert export["summary"]["errors"] == failed
    assert str(failing.file) in export["store_failed"]
    assert main(["top", "--once"]) == 0
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if line.startswith("g2 "))
    assert row.split()[-1] == str(failed)
    assert f"g2: {export['store_failed']}" in out
    metrics = text_string_to_metric_families(ask(control, "/metrics").decode())
    found = {sample.name: sample.value for family in metrics for sample in family.samples}
    assert found["sledsim_errors_total"] == failed
    assert found["sledsim_store_failed"] == 1
    assert found["sledsim_recording_failed"] == 0

    a.close()
    b.close()
    server.send_signal(signal.SIGTERM)
    out, errors = server.communicate(timeout=LONG_S)
    assert server.returncode == 2
    assert errors == f"sledsim: error: export 'g2': {export['store_failed']}\n"
    assert f"g2: {export['store_failed']}" in out

    # Opened anew, it is as good as any.
    server = serve(*arguments)
    client = Client(nbd)
    client.flush()
    assert client.error(WRITE, 0, data=bytes(BLOCK), flags=FUA) == 0
    client.close()
    server.send_signal(signal.SIGTERM)
    _, errors = server.communicate(timeout=LONG_S)
    assert (server.returncode, errors) == (0, "")


def test_the_last_flush_of_a_server_can_fail(failing: Failing, tmp_path: Path) -> None:
    server = serve(f"--file={failing.file}", f"--nbd=unix:{tmp_path / 's.sock'}", "--name=late")
    failing.once()
    server.send_signal(signal.SIGTERM)
    out, errors = server.communicate(timeout=LONG_S)
    assert server.returncode == 2
    assert errors.startswith(f"sledsim: error: export 'late': {failing.file}: a flush failed")
    assert "late by p50 us" in out  # its statistics are printed all the same


@needs_root
def test_a_mount_reports_a_failed_backing_file(
    place: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    failing = Failing(place.file, tmp_path, monkeypatch)
    place.mount("--fs=ext4")
    (place.directory / "kept").write_bytes(b"k" * 4096)
    failing.once()
    with (place.directory / "lost").open("wb", buffering=0) as file:
        file.write(b"l" * 4096)
        with pytest.raises(OSError, match="Input/output error"):
            os.fsync(file.fileno())
    assert failing.has()
    assert main(["umount", str(place.directory)]) == 2
    out, errors = capsys.readouterr()
    assert "late by p50 us" in out
    assert f"{place.file}: a flush failed" in errors
    assert not place.is_mounted


def test_a_recording_that_failed_is_named(tmp_path: Path) -> None:
    """A full device takes no recording; the server says so when it ends, each time."""
    export = ss.emulator.Export(device="g2", record=Path("/dev/full"))
    server = ss.serve(export, nbd=f"unix:{tmp_path / 's.sock'}")
    client = Client(tmp_path / "s.sock")
    client.write(0, bytes(BLOCK))
    client.close()
    with pytest.raises(ss.SledsimError, match=r"'g2': the recording: /dev/full: No space left"):
        server.stop()
    assert "No space left" in server.status()["exports"][0]["recording_failed"]
