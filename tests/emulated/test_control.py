"""Control sockets and metrics ports: other users, many and silent clients, no resources left."""

from __future__ import annotations

import contextlib
import errno
import http.client
import re
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim.emulator import control

from tests.served import Serve
from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST = 16
SILENT = [b"", b"GET /stat", b"GET /status HTTP/1.1\r\nHost: x\r\n"]


def test_the_folder_of_the_sockets_is_private_to_the_user(runtime: Path) -> None:
    home = runtime / "sledsim"
    assert control.folder() == home
    assert home.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("what", ["group may write", "others may write", "a link", "a file"])
def test_another_folder_is_refused(runtime: Path, what: str) -> None:
    """Other users cannot place a socket there; the target of a link may be another one later."""
    home = runtime / "sledsim"
    says = "must be a folder that you own"
    if what == "a file":
        home.touch()
        says = "File exists"
    elif what == "a link":
        (runtime / "elsewhere").mkdir(mode=0o700)
        home.symlink_to(runtime / "elsewhere")
    else:
        home.mkdir()
        home.chmod(0o770 if what == "group may write" else 0o702)
    with pytest.raises(ss.SledsimError, match=re.escape(f"{home}: {says}")):
        control.folder()


@pytest.fixture
def port(serve: Serve) -> Iterator[int]:
    """Serve the status of a server at a port."""
    told = control.Control(serve()[0], ("127.0.0.1", 0))
    with contextlib.closing(told):
        yield told.port


def connected(port: int, said: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), LONG_S)
    client.sendall(said)
    return client


def status(port: int, method: str = "GET", what: str = "/status") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONG_S)
    with contextlib.closing(connection):
        connection.request(method, what)
        return connection.getresponse().status


@pytest.mark.parametrize("said", SILENT)
def test_silent_clients_give_way(port: int, said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control._Handler, "timeout", 10 * LONG_S)
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
    for said in SILENT:
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
        with connected(port):
            time.sleep(0.5)
        assert 1 <= len(tries) <= 20  # without a pause they are thousands
    assert status(port) == 200


def test_a_port_takes_no_commands(serve: Serve) -> None:
    server = serve.at("cmu2003", name="d", power_cut="manual", rpc=f"unix:{serve.rpc}")
    with contextlib.closing(control.Control(server, ("127.0.0.1", 0))) as own:
        assert status(own.port, "POST", "/power-cut?export=d") == 404
    assert server.status()["exports"][0]["power"]["on"]
