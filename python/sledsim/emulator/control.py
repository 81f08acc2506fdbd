"""The control socket of a server: HTTP, on this machine only.

``/status`` is the JSON of :meth:`sledsim.Server.status`, ``/metrics`` the same for Prometheus. On
the socket of its user, not at an address, ``POST /power-cut`` and ``POST /power-on`` do what their
methods do; ``?export=NAME`` names the export.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import socketserver
import stat
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from sledsim._core import SledsimError, SpecError
from sledsim.emulator import metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.emulator.server import Server

_ENDING = ".control"
_TIMEOUT_S = 5.0
_SILENT_S = 10.0
"""How long a client may be silent."""
_MOST_CLIENTS = 16
_PAUSE_S = 0.05


def folder() -> Path:
    """Return the folder for the sockets of this user's servers; make it if it is missing."""
    home = os.environ.get("XDG_RUNTIME_DIR")
    if home:
        path = Path(home) / "sledsim"
    elif os.geteuid() == 0:
        path = Path("/run/sledsim")
    else:
        path = Path(tempfile.gettempdir()) / f"sledsim-{os.geteuid()}"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = path.lstat()
    except OSError as error:
        raise SledsimError(f"{path}: {error.strerror}") from None
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise SledsimError(f"{path}: must be a folder that you own and no one else may write to")
    return path


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SILENT_S
    server: _Http

    def parse_request(self) -> bool:
        is_whole = super().parse_request()
        self.server.set_waiting(self.connection, waiting=False)
        return is_whole

    def handle_one_request(self) -> None:
        self.server.set_waiting(self.connection, waiting=True)
        super().handle_one_request()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/status":
            self._say(200, "application/json", json.dumps(self.server.reported.status()).encode())
        elif path == "/metrics":
            try:
                kind, text = metrics.exposition(self.server.reported.status())
            except SledsimError as error:
                self._say(501, "text/plain; charset=utf-8", f"{error}\n".encode())
            else:
                self._say(200, kind, text)
        else:
            self._say(404, "text/plain; charset=utf-8", b"there are /status and /metrics\n")

    def do_POST(self) -> None:
        path, _, query = self.path.partition("?")
        name = parse_qs(query, keep_blank_values=True).get("export", [""])[0]
        served = self.server.reported
        orders = {"/power-cut": served.power_cut, "/power-on": served.power_on}
        if path not in orders or not self.server.takes_orders:
            self._say(404, "text/plain; charset=utf-8", b"there is no such command here\n")
            return
        try:
            said = json.dumps(orders[path](name))
        except SledsimError as error:
            self._say(409, "text/plain; charset=utf-8", f"{error}\n".encode())
        else:
            self._say(200, "application/json", said.encode())

    def _say(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "here"

    def log_message(self, *_: object) -> None:
        pass


class _Http(ThreadingHTTPServer):
    """Where no place is free, the oldest client that has not sent a request gives way."""

    daemon_threads = True
    request_queue_size = 128
    reported: Server
    takes_orders = False

    def __init__(self, *arguments: Any) -> None:
        self._lock = threading.Lock()
        self._clients: dict[socket.socket, bool] = {}  # whether it waits for a request
        super().__init__(*arguments)

    def set_waiting(self, client: socket.socket, *, waiting: bool) -> None:
        """Note whether a client may give way."""
        with self._lock:
            if client in self._clients:
                self._clients[client] = waiting

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a client; wait a little where the system has no resources for one."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_PAUSE_S)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a client in a thread, if there is a place, or one that waits gives way."""
        with self._lock:
            clients = self._clients
            if len(clients) >= _MOST_CLIENTS:
                oldest = next((each for each, waits in clients.items() if waits), None)
                if oldest is not None:
                    del clients[oldest]
                    with contextlib.suppress(OSError):  # it has gone by itself
                        oldest.shutdown(socket.SHUT_RDWR)
            has_place = len(clients) < _MOST_CLIENTS
            if has_place:
                clients[request] = True
        if has_place:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """Free the place of a client whose thread ends."""
        super().shutdown_request(request)
        with self._lock:
            self._clients.pop(request, None)

    def handle_error(self, *_: object) -> None:
        """Ignore the error: the client has disconnected."""


class _UnixHttp(_Http):
    address_family = socket.AF_UNIX
    takes_orders = True

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer's asks for the name of the host
        self.server_name, self.server_port = "sledsim", 0
        Path(str(self.server_address)).chmod(0o600)


class Control:
    """Serves the status of a server until it is closed."""

    def __init__(self, server: Server, address: str | Path | tuple[str, int]) -> None:
        """Listen.

        Parameters
        ----------
        server
            The server whose status it serves.
        address
            The path of a socket, or a host and a port.
        """
        self.path = None if isinstance(address, tuple) else Path(address)
        kind: type[_Http] = _Http if self.path is None else _UnixHttp
        where: Any = address if self.path is None else str(self.path)
        try:
            self._http = kind(where, _Handler)
        except (OSError, OverflowError) as error:
            raise SledsimError(
                f"{where}: cannot listen there: {getattr(error, 'strerror', None) or error}"
            ) from None
        self._http.reported = server
        self.port = 0 if self.path else int(self._http.server_address[1])
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def control_path(pid: int | None = None) -> Path:
    """Return the path of the control socket of a process.

    By default that is this process, and sockets that ended processes left behind are removed.
    """
    if pid is None:
        list(servers())
    return folder() / f"{pid or os.getpid()}{_ENDING}"


def local_address(text: str, *, anywhere: bool) -> tuple[str, int]:
    """Read ``HOST:PORT`` or ``:PORT``."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not colon or not port.isdecimal() or int(port) > 65_535:
        raise SpecError(f"'{text}': must be HOST:PORT or :PORT, with a port from 0 to 65535")
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, int(port))}
    except OSError as error:
        raise SledsimError(f"'{text}': {error.strerror}") from None
    if not anywhere and not all(ip_address(each).is_loopback for each in found):
        raise SledsimError(
            f"'{text}': is beyond this machine, and anyone could read there; "
            "--allow-unauthenticated-remote permits it"
        )
    return min(found), int(port)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("sledsim", timeout=_TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def ask(path: Path, what: str = "/status") -> bytes:
    """Request the status of a server."""
    return _request(path, "GET", what)


def order(path: Path, what: str, export: str = "") -> bytes:
    """Give a server a command: ``/power-cut`` or ``/power-on``."""
    return _request(path, "POST", f"{what}?{urlencode({'export': export})}")


def _request(path: Path, method: str, what: str) -> bytes:
    connection = _UnixConnection(path)
    try:
        connection.request(method, what)
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise SledsimError(
            f"{path}: no server answers there: {getattr(error, 'strerror', None) or error}"
        ) from None
    finally:
        connection.close()
    if answer.status != 200:
        raise SledsimError(f"{path}: {body.decode(errors='replace').strip()}")
    return body


def servers() -> Iterator[Path]:
    """Find the running servers of this user; sockets of ended ones are removed."""
    for path in sorted(folder().glob(f"*{_ENDING}")):
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as probe:
            probe.settimeout(_TIMEOUT_S)
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)
                continue
            except OSError:  # busy, or removed meanwhile
                continue
        yield path
