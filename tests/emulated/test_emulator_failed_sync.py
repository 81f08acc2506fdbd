"""After one failed sync of a backing file no flush succeeds.

The system reports such a failure to one fsync and may drop the data (fsync(2), "Notes"), so that
the next success says nothing of them.
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.emulator.control import ask, servers

from tests.failing_sync import Failing, needs_cc
from tests.mounted import may_mount, needs_root
from tests.served import BLOCK, FLUSH, FUA, WRITE, Command, Serve, samples

if TYPE_CHECKING:
    from tests.mounted import Place

pytestmark = needs_cc


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Failing:
    return Failing(tmp_path / "disk.img", tmp_path, monkeypatch)


def test_one_failed_flush_fails_all_that_follow(
    failing: Failing, runtime: Path, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    point = runtime / "devices"
    point.mkdir()
    fuse = [f"--fuse={point}"] if may_mount() else []
    words = [f"--file={failing.file}", f"--nbd=unix:{serve.nbd}", f"--rpc=unix:{serve.rpc}", *fuse]
    server = Command("--device=g2", *words)
    a, b = serve.client(), serve.client()
    for client, lbn in ((a, 0), (b, 1000)):
        client.write(lbn * BLOCK, os.urandom(BLOCK))
    b.flush()
    b.write(2000 * BLOCK, b"x" * BLOCK)
    failing.once()
    assert a.error(FLUSH) == errno.EIO
    assert failing.has()
    # The write of b may be lost, too.
    assert [client.error(FLUSH) for client in (b, a)] == [errno.EIO] * 2
    assert b.error(WRITE, 0, data=bytes(BLOCK), flags=FUA) == errno.EIO
    remote = serve.connect()
    with pytest.raises(ss.SledsimError, match="could not be flushed"):
        remote.flush()
    with pytest.raises(ss.SledsimError, match="Input/output error"):
        remote.batch([("write", 0, bytes(BLOCK), True)])
    if fuse:
        with (point / "g2").open("r+b", buffering=0) as file:
            with pytest.raises(OSError, match="Input/output error"):
                os.fsync(file.fileno())
            assert file.write(bytes(BLOCK)) == BLOCK
    failed = 6 + len(fuse)
    # As of a disk, reads and plain writes go on.
    a.write(3000 * BLOCK, b"y" * BLOCK)
    assert b.read(3000 * BLOCK, BLOCK) == b"y" * BLOCK

    (control,) = servers()
    assert control.is_relative_to(runtime)
    (export,) = json.loads(ask(control))["exports"]
    said = export["store_failed"]
    assert export["summary"]["errors"] == failed
    assert str(failing.file) in said
    assert main(["top", "--once"]) == 0
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if line.startswith("g2 "))
    assert row.split()[-1] == str(failed)
    assert f"g2: {said}" in out
    found = {sample.name: sample.value for sample in samples(ask(control, "/metrics"))}
    names = ("errors_total", "store_failed", "recording_failed")
    assert [found[f"sledsim_{name}"] for name in names] == [failed, 1, 0]

    remote.close()
    code, out, errors = server.ended()
    assert (code, errors) == (2, f"sledsim: error: export 'g2': {said}\n")
    assert f"g2: {said}" in out

    # Opened anew, it is as good as any.
    server = Command("--device=g2", *words)
    client = serve.client()
    client.flush()
    client.ask(WRITE, 0, data=bytes(BLOCK), flags=FUA)
    server.end()


def test_the_last_flush_of_a_server_can_fail(failing: Failing, serve: Serve) -> None:
    words = (f"--file={failing.file}", f"--nbd=unix:{serve.nbd}", "--name=late")
    server = Command("--device=g2", *words)
    failing.once()
    code, out, errors = server.ended()
    assert code == 2
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


def test_a_recording_that_failed_is_named(serve: Serve) -> None:
    """A full device takes no recording; the server says so when it ends."""
    export = ss.emulator.Export(device="g2", record=Path("/dev/full"))
    server = ss.serve(export, nbd=f"unix:{serve.nbd}")
    serve.client().write(0, bytes(BLOCK))
    with pytest.raises(ss.SledsimError, match="'g2': the recording: /dev/full: No space left"):
        server.stop()
    assert "No space left" in server.status()["exports"][0]["recording_failed"]
