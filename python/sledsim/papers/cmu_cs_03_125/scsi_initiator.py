"""An iSCSI initiator that is just enough for the items: one session, no digests, immediate data."""

from __future__ import annotations

import itertools
import socket
import struct
from typing import Self

from sledsim._core import SledsimError

COMMAND, LOGIN, LOGOUT = 0x01, 0x03, 0x06
RESPONSE, LOGIN_RESPONSE, DATA_IN, LOGOUT_RESPONSE = 0x21, 0x23, 0x25, 0x26
IMMEDIATE, FINAL, READ, WRITE, HAS_STATUS = 0x40, 0x80, 0x40, 0x20, 0x01
LOGIN_FLAGS = FINAL | 1 << 2 | 3  # from the operational stage to the full feature phase
HEADER = struct.Struct(">4B4sQIIII16s")
GOOD, CHECK_CONDITION, INTERMEDIATE = 0x00, 0x02, 0x10
PATIENCE_S = 60.0

_sessions = itertools.count(1)

Answer = tuple[int, bytes]
"""The status of a command, and its data or its sense data."""


class Initiator:
    """A session with logical unit 0 of a target, as ``iscsi://HOST:PORT/NAME``."""

    def __init__(self, uri: str) -> None:
        portal, _, target = uri.removeprefix("iscsi://").partition("/")
        host, _, port = portal.rpartition(":")
        self._socket = socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S)
        self._tag = self._next = self._seen = 0
        self._data: dict[int, bytes] = {}
        self._answers: dict[int, Answer] = {}
        keys = {
            "InitiatorName": "iqn.2026-11.com.example.sledsim:papers",
            "TargetName": target,
            "SessionType": "Normal",
            "MaxRecvDataSegmentLength": "262144",
        }
        text = b"".join(f"{key}={value}\0".encode() for key, value in keys.items())
        isid = (
            0x80 << 56 | next(_sessions) << 16
        )  # sessions of the same number would end each other
        self._send(LOGIN | IMMEDIATE, LOGIN_FLAGS, text, lun=isid)
        opcode, flags, head, _ = self._receive()
        if opcode != LOGIN_RESPONSE or flags != LOGIN_FLAGS or head[36:38] != bytes(2):
            raise SledsimError(f"{uri}: refuses the login: status {head[36:38].hex()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _send(
        self,
        opcode: int,
        flags: int,
        data: bytes = b"",
        *,
        lun: int = 0,
        size: int = 0,
        cdb: bytes = b"",
    ) -> int:
        """Send a message; return its tag."""
        self._tag += 1
        length = len(data).to_bytes(4, "big")
        numbers = (self._tag, size, self._next, self._seen)
        head = HEADER.pack(opcode, flags, 0, 0, length, lun, *numbers, cdb)
        self._socket.sendall(head + data + bytes(-len(data) % 4))
        self._next += not opcode & IMMEDIATE
        return self._tag

    def _receive(self) -> tuple[int, int, bytes, bytes]:
        """Return code, flags, header and data of the next message."""
        head = self._exactly(48)
        length = int.from_bytes(head[5:8], "big")
        data = self._exactly(length + -length % 4)[:length]
        if head[0] != DATA_IN or head[1] & HAS_STATUS:
            self._seen = int.from_bytes(head[24:28], "big") + 1
        return head[0], head[1], head, data

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += (part := self._socket.recv(size - len(data)))
            if not part:
                raise SledsimError("the target has ended the session")
        return data

    def begin(self, cdb: bytes, data: bytes = b"", *, expected: int = 0) -> int:
        """Send a command with data, or for so many bytes of data; return its tag."""
        flags = FINAL | (WRITE if data else READ if expected else 0)
        return self._send(COMMAND, flags, data, size=len(data) or expected, cdb=cdb)

    def end(self, tag: int) -> Answer:
        """Wait for the answer to a command."""
        while tag not in self._answers:
            opcode, flags, head, data = self._receive()
            of = int.from_bytes(head[16:20], "big")
            if opcode == DATA_IN:
                self._data[of] = self._data.get(of, b"") + data
                if flags & HAS_STATUS:
                    self._answers[of] = head[3], self._data.pop(of)
            elif opcode == RESPONSE:
                read = self._data.pop(of, b"")
                self._answers[of] = head[3], data if head[3] == CHECK_CONDITION else read
        return self._answers.pop(tag)

    def command(self, cdb: bytes, data: bytes = b"", *, expected: int = 0) -> bytes:
        """Execute a command; return its data."""
        status, answer = self.end(self.begin(cdb, data, expected=expected))
        if status != GOOD:
            raise SledsimError(f"command {cdb.hex()}: status {status:#04x}, sense {answer.hex()}")
        return answer
