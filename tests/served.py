"""Servers of emulated devices in tests: their clients, their commands, what they record."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl
import sledsim as ss
from prometheus_client.parser import text_string_to_metric_families

from tests.waiting import LONG_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.samples import Sample

BLOCK = 512
READ, WRITE, FLUSH, TRIM, CACHE, WRITE_ZEROES = 0, 1, 3, 4, 5, 6
FUA = 1


class Client:
    """An NBD client of few words: the oldest way of opening the first export."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LONG_S)
        self.socket.connect(str(path))
        assert self.take(16) == b"NBDMAGICIHAVEOPT"
        self.take(2)
        self.socket.sendall(struct.pack(">I", 3))
        self.socket.sendall(b"IHAVEOPT" + struct.pack(">II", 1, 0))
        self.bytes, self.flags = struct.unpack(">QH", self.take(10))

    def take(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            some = self.socket.recv(count - len(taken))
            assert some, "the server hung up"
            taken += some
        return taken

    def send(
        self, kind: int, offset: int = 0, count: int = 0, data: bytes = b"", flags: int = 0
    ) -> None:
        """Ask for something, and wait for no reply."""
        head = struct.pack(">IHHQQI", 0x25609513, flags, kind, 7, offset, count or len(data))
        self.socket.sendall(head + data)

    def reply(self) -> int:
        """Return the number of the error of a reply. What is read stays in the socket."""
        magic, error, handle = struct.unpack(">IIQ", self.take(16))
        assert (magic, handle) == (0x67446698, 7)
        return int(error)

    def error(self, kind: int, *what: Any, **more: Any) -> int:
        self.send(kind, *what, **more)
        return self.reply()

    def ask(self, kind: int, *what: Any, **more: Any) -> None:
        assert self.error(kind, *what, **more) == 0

    def read(self, offset: int, count: int) -> bytes:
        self.ask(READ, offset, count)
        return self.take(count)

    def write(self, offset: int, data: bytes) -> None:
        self.ask(WRITE, offset, data=data)

    def flush(self) -> None:
        self.ask(FLUSH)

    def close(self) -> None:
        self.socket.close()


class Serve:
    """Starts servers in this process, at sockets in a folder; they and their clients end with it.

    Keys are those of `Export`, and of `serve`.
    """

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.nbd, self.rpc = folder / "s.sock", folder / "r.sock"
        self._stack = stack

    def at(self, devices: Any = "g2", **keys: Any) -> ss.emulator.Server:
        """Serve a device, or several exports, at the addresses that are given."""
        names = {field.name for field in dataclasses.fields(ss.emulator.Export)}
        own = {name: value for name, value in keys.items() if name in names}
        if not isinstance(devices, list):
            devices = ss.emulator.Export(device=devices, **own)
        others = {name: value for name, value in keys.items() if name not in names}
        return self._stack.enter_context(ss.serve(devices, **others))

    def __call__(self, devices: Any = "g2", **keys: Any) -> tuple[ss.emulator.Server, Client]:
        """Serve to a client of NBD."""
        return self.at(devices, nbd=f"unix:{self.nbd}", **keys), self.client()

    def client(self) -> Client:
        return self._stack.enter_context(contextlib.closing(Client(self.nbd)))

    def remote(
        self, devices: Any = "cmu2003", **keys: Any
    ) -> tuple[ss.emulator.Server, ss.emulator.RemoteDevice]:
        """Serve to a client of RPC."""
        server = self.at(devices, rpc=f"unix:{self.rpc}", **keys)
        return server, self.connect()

    def connect(self, name: str = "") -> ss.emulator.RemoteDevice:
        named = [name] if name else []
        return self._stack.enter_context(ss.connect(f"unix:{self.rpc}", *named))


class Command:
    """The command ``serve`` at work in a process of its own."""

    running: ClassVar[list[subprocess.Popen[str]]] = []
    """Those that have not ended."""

    @classmethod
    def kill_all(cls) -> None:
        """Kill what a failed test has left."""
        while cls.running:
            process = cls.running.pop()
            process.kill()
            process.communicate()

    def __init__(self, *words: object) -> None:
        command = [sys.executable, "-m", "sledsim", "serve", *map(str, words)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.running.append(self.process)
        self._json = "--json" in words
        self.said: list[list[str]] = []
        lines = self.process.stderr if self._json else self.process.stdout
        assert lines is not None
        for line in lines:
            if line == "Ctrl-C ends it\n":
                return
            self.said.append(line.split())
        raise AssertionError(self.process.communicate())

    def uris(self, kind: str) -> list[str]:
        return [words[1] for words in self.said if words[0] == kind]

    def ended(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Ask it to end; return its exit code and what it says."""
        self.process.send_signal(number)
        out, errors = self.process.communicate(timeout=LONG_S)
        return self.process.returncode, out, errors

    def end(self, number: int = signal.SIGTERM) -> str:
        code, out, errors = self.ended(number)
        assert code == 0, errors
        assert self._json or not errors
        return out

    def document(self, number: int = signal.SIGTERM) -> list[dict[str, Any]]:
        """End it; return what it says of its exports."""
        exports: list[dict[str, Any]] = json.loads(self.end(number))["exports"]
        return exports


def rows(of: Path | ss.Run) -> pl.DataFrame:
    """Return the rows of a recording or of a run in the order of their ids."""
    return (pl.read_parquet(of) if isinstance(of, Path) else pl.DataFrame(of.rows)).sort("id")


def same(one: pl.DataFrame, other: pl.DataFrame, columns: Iterable[str]) -> None:
    for column in columns:
        assert one[column].to_list() == other[column].to_list(), column


def samples(text: bytes) -> list[Sample]:
    """Read what the address for metrics says."""
    families = text_string_to_metric_families(text.decode())
    return [sample for family in families for sample in family.samples]


def troubles(server: ss.emulator.Server) -> dict[str, int]:
    """Count the errors of clients, by kind."""
    kinds = [front["troubles"] for front in server.status()["front_ends"]]
    return {kind: sum(each[kind]["count"] for each in kinds) for kind in kinds[0]}


def replayed(recorded: pl.DataFrame, folder: Path) -> ss.Load:
    """Return a recording as a load: requests that arrived at one instant are one batch."""
    path = folder / "rows.csv"
    together = (pl.col("arrival_ns") == pl.col("arrival_ns").shift(-1)).fill_null(value=False)
    recorded.select("arrival_ns", "op", "lbn", "blocks", linked=together).write_csv(path)
    columns = "time=arrival_ns:ns, offset=lbn:512B, bytes=blocks:512B, op=op, linked=linked"
    return ss.read_trace(path, columns=columns, time_origin="file")
