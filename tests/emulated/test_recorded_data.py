"""Recordings with data: damage anywhere is found, and a full disk leaves no complete one."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim.emulator import DataRecording, Export
from sledsim.programs.crashes import sealed

from tests.mounted import small_disk
from tests.served import WRITE, Client, Serve

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK, BLOCKS = 512, 4100
DEVICE = f"memory(blocks={BLOCKS})"
"""Small, and no multiple of 4 KiB."""
FILES = ("about.json", "base.img", "data.bin", "requests.parquet")


def serve(record: Path, file: Path | None = None) -> ss.emulator.Server:
    export = Export(device=DEVICE, name="d", record_data=record, file=file)
    return ss.serve(export, rpc=f"unix:{record}.sock", nbd=f"unix:{record}.nbd")


def write(device: ss.emulator.RemoteDevice, count: int) -> None:
    """Write so many different blocks."""
    for number in range(count):
        data = random.Random(number).randbytes(BLOCK)
        device.batch([("write", 70 * number % BLOCKS, data)])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record a device that had data at first, also at its end, and is mostly holes."""
    folder = tmp_path_factory.mktemp("made")
    image = folder / "image"
    with image.open("wb") as file:
        file.truncate(BLOCK * BLOCKS)
        for place in (0, 300 * BLOCK, (BLOCKS - 1) * BLOCK):
            os.pwrite(file.fileno(), random.Random(place).randbytes(BLOCK), place)
    record = folder / "recording"
    with serve(record, image) as server, ss.connect(server.uris[-1]) as device:
        write(device, 12)
        device.flush()
    return record


@pytest.fixture
def recording(made: Path, tmp_path: Path) -> Path:
    """Copy the recording."""
    folder = tmp_path / "recording"
    subprocess.run(["cp", "-r", "--sparse=always", made, folder], check=True)
    DataRecording.load(folder)
    return folder


def refused(path: Path) -> None:
    """Check that the recording of this file is refused, with its name."""
    with pytest.raises(ss.SledsimError) as caught:
        DataRecording.load(path.parent)
    assert str(caught.value).startswith(f"{path}: is damaged: "), caught.value


@pytest.mark.parametrize("name", FILES)
def test_a_pipe_in_place_of_a_file_is_refused(recording: Path, name: str) -> None:
    """Opening it would wait for ever: a process does, which has a minute."""
    (recording / name).unlink()
    os.mkfifo(recording / name)
    done = subprocess.run(
        [sys.executable, "-m", "sledsim", "ledger", str(recording), "--at", "1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"sledsim: error: {recording / name}: must be a regular file")


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_an_error_that_names_the_file(recording: Path, name: str) -> None:
    path, rng = recording / name, random.Random(45)
    size = path.stat().st_size
    places = [*range(0, min(size, 8000), 5), *rng.choices(range(size), k=400), size - 1]
    with path.open("r+b") as file:
        for place in places:
            good = os.pread(file.fileno(), 1, place)
            os.pwrite(file.fileno(), bytes([good[0] ^ 1 << rng.randrange(8)]), place)
            refused(path)
            os.pwrite(file.fileno(), good, place)
    DataRecording.load(recording)


@pytest.mark.parametrize("name", FILES)
def test_a_cut_or_a_longer_file_is_refused(recording: Path, name: str) -> None:
    path = recording / name
    good = path.read_bytes()
    for damaged in (b"", good[:1], good[: len(good) // 2], good[:-1], good + b"\0", good + b"\n"):
        path.write_bytes(damaged)
        refused(path)
    path.unlink()
    with pytest.raises(ss.SledsimError, match=f"{path}: No such file"):
        DataRecording.load(recording)


def test_a_copy_without_holes_is_the_same(recording: Path, tmp_path: Path) -> None:
    cut = DataRecording.load(recording).cut(0)
    digest = cut.save(tmp_path / "sparse")
    for name in ("base.img", "data.bin"):
        path = recording / name
        had = path.stat().st_blocks
        path.write_bytes(path.read_bytes())
        assert name != "base.img" or path.stat().st_blocks > 10 * had
    assert DataRecording.load(recording).cut(0).save(tmp_path / "whole") == digest
    assert (tmp_path / "whole").read_bytes() == (recording / "base.img").read_bytes()


def digest_of(path: Path) -> str:
    """Return the digest of a file as docs/howto/serve.md describes it."""
    found, data = hashlib.sha256(), path.read_bytes()
    for number, begin in enumerate(range(0, len(data), 4096)):
        unit = data[begin : begin + 4096]
        if any(unit):
            found.update(struct.pack("<Q", number) + unit)
    found.update(struct.pack("<Q", len(data)))
    return found.hexdigest()


def test_digests_are_those_that_are_described(recording: Path, tmp_path: Path) -> None:
    first, second, *others = (recording / "about.json").read_bytes().splitlines(keepends=True)
    digest = hashlib.sha256(b"".join([first, *others])).hexdigest()
    assert second == f'  "sha256": "{digest}",\n'.encode()
    about = json.loads((recording / "about.json").read_text("utf-8"))
    assert about["files"] == {
        name: {"bytes": (recording / name).stat().st_size, "sha256": digest_of(recording / name)}
        for name in FILES[1:]
    }
    cut = DataRecording.load(recording).cut(10**9)
    assert cut.save(tmp_path / "image") == digest_of(tmp_path / "image")


def test_a_recording_without_digests_is_refused(recording: Path) -> None:
    path = recording / "about.json"
    about = json.loads(path.read_text("utf-8"))
    del about["sha256"], about["files"]
    about["format"] = "sledsim data recording 1"
    path.write_text(json.dumps(about, indent=2), "utf-8")
    with pytest.raises(ss.SledsimError, match=r"about\.json: .*record anew, with sledsim serve"):
        DataRecording.load(recording)


def test_a_flipped_bit_in_a_recording_without_data_is_found(serve: Serve, tmp_path: Path) -> None:
    path, rng = tmp_path / "rec.parquet", random.Random(45)
    server, device = serve.remote(DEVICE, record=path)
    write(device, 40)
    server.stop()
    good = path.read_bytes()
    assert ss.trace_info(path)["requests"] == 40
    head = b"PAR1\nsledsim sha256 "
    begin, end = len(head), len(head) + 64
    digest = hashlib.sha256(good[:begin] + b"0" * 64 + good[end:]).hexdigest()
    assert good.startswith(head + digest.encode() + b"\nsledsim\n")
    places = [*range(120), *rng.choices(range(len(good)), k=500), len(good) - 1]
    flipped = [
        good[:place] + bytes([good[place] ^ 1 << rng.randrange(8)]) + good[place + 1 :]
        for place in places
    ]
    for damaged in (*flipped, good[:-1], good[:200], good + b"\0"):
        path.write_bytes(damaged)
        with pytest.raises(ss.TraceError, match=r"rec\.parquet: is damaged: its digest"):
            ss.trace_info(path)
    # Another program writes none.
    pq.write_table(pq.read_table(io.BytesIO(good)), path)
    assert ss.trace_info(path)["requests"] == 40


def test_a_flipped_bit_in_a_document_of_an_experiment_is_found(tmp_path: Path) -> None:
    path, rng = tmp_path / "a.json", random.Random(45)
    document = {"text": "é\r\n", "numbers": [1, 2.5, None], "more": {}}
    sealed.write(path, document)
    good = path.read_bytes()
    assert sealed.read(path) == document
    assert json.loads(good) == document | {"sha256": json.loads(good)["sha256"]}
    flipped = [
        good[:place] + bytes([good[place] ^ 1 << rng.randrange(8)]) + good[place + 1 :]
        for place in range(len(good))
    ]
    for damaged in (*flipped, b"", good[:-1], good + b"\n", json.dumps(document).encode()):
        path.write_bytes(damaged)
        with pytest.raises(ss.SledsimError, match=r"a\.json: (is damaged|has no digest)"):
            sealed.read(path)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 128 KiB."""
    with small_disk(tmp_path / "small", "128k") as point:
        yield point


def error_of(server: ss.emulator.Server) -> str:
    """Stop a server; return what it says."""
    try:
        server.stop()
    except ss.SledsimError as error:
        return str(error)
    return ""


def not_complete(record: Path) -> None:
    """Check that a recording that failed does not pass for a complete one."""
    assert {path.name for path in record.iterdir()} <= set(FILES[1:])
    with pytest.raises(ss.SledsimError, match=r"about\.json: .*stopped in good order"):
        DataRecording.load(record)


def test_a_write_that_a_full_disk_cannot_keep_fails(small: Path) -> None:
    record = small / "recording"
    server = serve(record)
    with ss.connect(server.uris[-1]) as device:
        with pytest.raises(ss.RemoteError, match="No space left"):
            write(device, 300)
        with closing(Client(Path(f"{record}.nbd"))) as client:
            assert client.error(WRITE, data=bytes(BLOCK)) == errno.ENOSPC
        # Room again does not make the recording complete.
        (data,) = device.batch([("read", 0, 1)]).data
        assert data == random.Random(0).randbytes(BLOCK)
    subprocess.run(["mount", "-o", "remount,size=1m", small], check=True)
    with pytest.raises(ss.SledsimError, match=r"data\.bin: No space left .*is not complete"):
        server.stop()
    not_complete(record)


def test_a_disk_that_is_full_at_the_end_leaves_no_complete_recording(small: Path) -> None:
    failed, said = set(), ""
    for pages in range(10):
        record = small / "recording"
        server = serve(record)
        with ss.connect(server.uris[-1]) as device:
            write(device, 20)
        free = shutil.disk_usage(small).free
        (small / "filler").write_bytes(bytes(free - 4096 * pages))
        said = error_of(server)
        (small / "filler").unlink()
        if not said:
            assert len(DataRecording.load(record).rows) == 20
            break
        assert "No space left" in said
        failed |= {name for name in FILES if f"{record / name}: " in said}
        not_complete(record)
        shutil.rmtree(record)
    assert not said
    assert failed == {"about.json", "requests.parquet"}
