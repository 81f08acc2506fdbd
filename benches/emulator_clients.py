"""Clients of the benchmarks of the emulator: reads one at a time, timed by this very process."""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import socket
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BYTES = 4096
"""Bytes of a read."""
SPAN = 1 << 28
"""Reads are from the first bytes of the device, so many."""


@contextlib.contextmanager
def nbd_reader(path: Path, *, writes: bool = False) -> Iterator[Callable[[int], None]]:
    """Connect to the first export of an NBD server at a Unix socket; yield a function that reads.

    A client of its own: the same few calls of the system for each server. With `writes` the
    function writes.
    """
    data = random.Random(1).randbytes(BYTES) if writes else b""
    size = 16 if writes else 16 + BYTES
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(str(path))
        greeting = _receive(server, 18)
        (flags,) = struct.unpack(">H", greeting[16:])
        server.sendall(struct.pack(">I", flags & 3))
        server.sendall(b"IHAVEOPT" + struct.pack(">II", 1, 0))  # the export without a name
        _receive(server, 10 if flags & 2 else 134)
        answer = bytearray(size)

        def read(offset: int) -> None:
            kind = int(writes)
            server.sendall(struct.pack(">IHHQQI", 0x25609513, 0, kind, 7, offset, BYTES) + data)
            got = server.recv_into(answer, len(answer), socket.MSG_WAITALL)
            if got != len(answer) or answer[4:8] != b"\0\0\0\0":
                msg = f"a request for {BYTES} bytes failed: {got} bytes came"
                raise OSError(msg)

        yield read


def _receive(server: socket.socket, count: int) -> bytes:
    return server.recv(count, socket.MSG_WAITALL)


@contextlib.contextmanager
def file_reader(path: Path) -> Iterator[Callable[[int], None]]:
    """Open a file or a block device for direct I/O; yield a function that reads."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, BYTES) as buffer:

            def read(offset: int) -> None:
                if os.preadv(file, [buffer], offset) != BYTES:
                    msg = f"{path}: a read of {BYTES} bytes failed"
                    raise OSError(msg)

            yield read
    finally:
        os.close(file)


def latencies_us(read: Callable[[int], None], count: int, seed: int) -> list[float]:
    """Time reads at random places, one at a time; return the times in order of size."""
    places = random.Random(seed)
    clock = time.perf_counter_ns
    took = []
    for _ in range(count):
        offset = places.randrange(SPAN // BYTES) * BYTES
        start = clock()
        read(offset)
        took.append((clock() - start) / 1e3)
    return sorted(took)


def cpu_s(pid: int) -> float:
    """Return the CPU time that a process has used, of all its threads."""
    return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3) makes it
