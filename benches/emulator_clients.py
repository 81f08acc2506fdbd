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
def nbd_reader(at: Path | int, *, writes: bool = False) -> Iterator[Callable[[int], None]]:
    """Connect to the first export of an NBD server; yield a function that reads.

    The server is at a Unix socket, or at a port of this machine.

    A client of its own: the same few calls of the system for each server. With `writes` the
    function writes.
    """
    data = random.Random(1).randbytes(BYTES) if writes else b""
    size = 16 if writes else 16 + BYTES
    with _connected(at) as server:
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
                raise OSError(f"a request for {BYTES} bytes failed: {got} bytes came")

        yield read


def _connected(at: Path | int) -> socket.socket:
    if isinstance(at, int):
        server = socket.create_connection(("127.0.0.1", at))
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return server
    server = socket.socket(socket.AF_UNIX)
    server.connect(str(at))
    return server


TARGET = "iqn.2026-11.com.example.sledsim:target"


@contextlib.contextmanager
def iscsi_reader(port: int, *, writes: bool = False) -> Iterator[Callable[[int], None]]:
    """Connect to LUN 0 of an iSCSI target; yield a function that reads, as :func:`nbd_reader`."""
    data = random.Random(1).randbytes(BYTES) if writes else b""
    opcode, flags, blocks = (0x8A, 0xA1, BYTES // 512) if writes else (0x88, 0xC1, BYTES // 512)
    keys = "InitiatorName=iqn.b", f"TargetName={TARGET}", "MaxRecvDataSegmentLength=262144"
    text = "".join(f"{key}\0" for key in keys).encode()
    with _connected(port) as server:
        head = struct.pack(">BBxxIQIxxxxI20x", 0x43, 0x87, len(text), 0x80 << 56, 0, 1)
        server.sendall(head + text + bytes(-len(text) % 4))
        said = _receive(server, 48)
        (size,) = struct.unpack_from(">I", said, 4)
        _receive(server, -(-size // 4) * 4)
        if said[36]:
            raise OSError(f"the login failed: status {said[36]}")
        number = 1
        answer = bytearray(48 if writes else 48 + BYTES)

        def execute(cdb: bytes, wanted: int) -> int:
            nonlocal number
            head = struct.pack(
                ">BBxxIQIII4x16s", 1, flags, len(data), 0, 7, BYTES, number, cdb.ljust(16, b"\0")
            )
            number += 1
            server.sendall(head + data)
            got = server.recv_into(answer, wanted, socket.MSG_WAITALL)
            return got if answer[3] == 0 else -answer[3]

        def read(offset: int) -> None:
            cdb = struct.pack(">BBQIxx", opcode, 0, offset // 512, blocks)
            if execute(cdb, len(answer)) != len(answer):
                raise OSError(f"a request for {BYTES} bytes failed")

        execute(b"", 48)  # it tells that the target was powered on
        _receive(server, struct.unpack_from(">I", answer, 4)[0])
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
                    raise OSError(f"{path}: a read of {BYTES} bytes failed")

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
