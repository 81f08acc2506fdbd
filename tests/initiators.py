"""Common clients of NBD and iSCSI in tests, and what qemu does with both."""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MIB = 1 << 20
SIZE = 64 * MIB


def memory(blocks: int = SIZE // 512, latency_ms: float = 0.0) -> ss.Device:
    """Make a device that takes no time, or so long for every request, one at a time."""
    return ss.device("memory", blocks=blocks, latency_ms=latency_ms, ms_per_block=0.0)


def run(*command: str | Path, ok: bool = True) -> str:
    """Run a client, which must be installed and succeed; return its output."""
    program = str(command[0])
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done.stdout + done.stderr


def noise_and_holes(path: Path) -> Path:
    """Write a file of SIZE: data, a long hole, data that is zero, data."""
    noise = random.Random(1)
    with path.open("wb") as file:
        file.write(noise.randbytes(10 * MIB))
        file.seek(40 * MIB)
        file.write(bytes(3 * MIB) + noise.randbytes(5 * MIB))
        file.truncate(SIZE)
    return path


def maps_holes(extents: Iterable[tuple[int, int, object, object]], content: Path) -> None:
    """Check the map of a device: its offsets, lengths, whether they are zero, and holes."""
    extents, data = list(extents), content.read_bytes()
    assert sum(length for _, length, _, _ in extents) == SIZE
    for offset, length, is_zero, _ in extents:
        assert not is_zero or not any(data[offset : offset + length])
    # Blocks beyond the data.
    assert sum(length for _, length, _, is_hole in extents if is_hole) >= 46 * MIB


def copied_and_compared(content: Path, uri: str, backing: Path | None = None) -> None:
    """Copy a file there and back by qemu-img, which then sees a difference."""
    raw = ("-f", "raw", "-F", "raw")
    run("qemu-img", "convert", "-n", "-W", "-m", "8", "-f", "raw", "-O", "raw", content, uri)
    assert "identical" in run("qemu-img", "compare", *raw, content, uri)
    assert backing is None or backing.read_bytes() == content.read_bytes()
    copy = content.with_suffix(".qcow2")
    run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", uri, copy)
    assert "identical" in run("qemu-img", "compare", "-f", "raw", content, copy)
    place = content.stat().st_size * 45 // 64
    with content.open("r+b") as file:
        file.seek(place)
        file.write(b"different")
    assert f"offset {place}" in run("qemu-img", "compare", *raw, content, uri, ok=False)


def written_and_discarded(uri: str, backing: Path | None) -> None:
    """Write, discard and read by qemu-io."""
    steps = (
        *("write -P 7 0 1M", "read -P 7 0 1M", "write -f -P 8 4096 4096"),
        *("discard 64k 64k", "read -P 0 64k 64k", "write -z 128k 64k", "write -z -u 256k 64k"),
        *("aio_write -P 10 512k 4k", "aio_read -P 8 4096 4096", "aio_flush", "flush"),
        *("read -P 7 0 4k", "read -P 8 4096 4096", "read -P 0 128k 64k", "read -P 0 256k 64k"),
        "read -P 10 512k 4k",
    )
    told = run("qemu-io", "-f", "raw", *(word for step in steps for word in ("-c", step)), uri)
    assert "verification failed" not in told.lower()
    assert told.count("wrote 65536/65536") == 2
    if backing is not None:
        image = backing.read_bytes()
        assert image[:4096] == bytes([7]) * 4096
        assert image[4096:8192] == bytes([8]) * 4096
        assert not any(image[64 << 10 : 192 << 10])
        assert not any(image[256 << 10 : 320 << 10])
        assert image[512 << 10 : 516 << 10] == bytes([10]) * 4096
