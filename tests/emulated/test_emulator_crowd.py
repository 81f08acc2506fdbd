"""Many, silent and slow clients of the metrics port, and a system without resources."""

from __future__ import annotations

import contextlib
import errno
import http.client
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim.emulator import control
from sledsim.emulator.control import Control

from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 16


@pytest.fixture
def port(tmp_path: object) -> Iterator[int]:
    """Serve the status of a server at a port."""
    with ss.serve("g2", nbd=f"unix:{tmp_path}/s.sock") as server:
        told = Control(server, ("127.0.0.1", 0))
        try:
            yield told.port
        finally:
            told.close()


def connected(port: int, said: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), LONG_S)
    client.sendall(said)
    return client


def status(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONG_S)
    with contextlib.closing(connection):
        connection.request("GET", "/status")
        return connection.getresponse().status


@pytest.mark.parametrize("said", [b"", b"GET /stat", b"GET /status HTTP/1.1\r\nHost: x\r\n"])
def test_silent_clients_give_way(port: int, said: bytes) -> None:
    before = threading.active_count()
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(connected(port, said)) for _ in range(10 * MOST)]
        assert status(port) == 200
        for client in crowd[: 9 * MOST]:  # the oldest are closed: this ends
            assert client.recv(1) == b""
        # A thread may end a while after its connection.
        eventually(lambda: threading.active_count() <= before + MOST + 1)


def test_silent_clients_time_out(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control._Handler, "timeout", 0.2)
    for said in (b"", b"GET /stat", b"GET /status HTTP/1.1\r\nHost: x\r\n"):
        with connected(port, said) as client:
            assert client.recv(1) == b""


def test_a_port_waits_where_no_client_can_be_accepted(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def refuse(_listener: socket.socket) -> None:
        tries.append(1)
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(socket.socket, "accept", refuse)
        client = connected(port)
        time.sleep(1)
        assert 1 <= len(tries) <= 30  # without a pause they are thousands
    client.close()
    assert status(port) == 200
