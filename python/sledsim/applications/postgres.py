"""A private PostgreSQL server with its data on a device."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sledsim._core import SledsimError
from sledsim.applications.application import Application, Key, Ran
from sledsim.applications.processes import children_s, end, run, tree_compute_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PACKAGE = "the package postgresql"
"""The source of its programs."""
_USERS = ("postgres", "nobody")
"""Its user where the caller is root, which it refuses."""
_ROLE = "sledsim"
_PATIENCE_S = 120.0
_SETTINGS = (
    "listen_addresses=",
    "max_connections=20",
    "autovacuum=off",  # at times of its own choice
    "jit=off",
    "max_parallel_workers_per_gather=0",
    "effective_io_concurrency=0",
    "checkpoint_timeout=1h",
    "log_min_messages=fatal",
    "timezone=UTC",
)


class PostgresApplication(Application):
    """Base class of applications of PostgreSQL."""

    file_system = "ext4"
    mount_options = ""
    folders = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/postgresql/*/bin")
    keys: ClassVar = {
        "shared_buffers_mib": Key(16, 1, 4096, "MiB of PostgreSQL's own cache"),
    }
    programs: ClassVar = dict.fromkeys(("postgres", "initdb", "psql"), PACKAGE)

    def server(self, folder: Path) -> Server:
        """Return a server for the data in a folder."""
        return Server(self, folder / "pgdata", int(self.values["shared_buffers_mib"]))


class Server:
    """A server that listens on a socket in a folder of its own, and nowhere else."""

    def __init__(self, application: Application, data: Path, buffers_mib: int) -> None:
        """Store the folder of its data; nothing is started yet."""
        self._application = application
        self._data = data
        self._buffers_mib = buffers_mib
        self._how: dict[str, Any] = {"cwd": "/"}
        self._owner: tuple[int, int] | None = None
        if os.geteuid() == 0:
            self._owner = _unprivileged_user()
            user, group = self._owner
            self._how |= {"user": user, "group": group, "extra_groups": []}
        self._socket = ""
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """Make an empty cluster.

        Raises
        ------
        SledsimError
            If that fails.
        """
        self._data.mkdir(mode=0o700)
        if self._owner is not None:
            os.chown(self._data, *self._owner)
        words = ["-U", _ROLE, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"]
        self._run("initdb", *words, str(self._data))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Run it.

        Raises
        ------
        SledsimError
            If one runs on these data already, or it does not start.
        """
        if (self._data / "postmaster.pid").exists():
            msg = f"{self._data}: another server runs on this database; stop it first"
            raise SledsimError(msg)
        folder = Path(tempfile.mkdtemp(prefix="sledsim-pg-", dir="/tmp"))
        try:
            if self._owner is not None:
                os.chown(folder, *self._owner)
            self._socket = str(folder)
            settings = (
                *_SETTINGS,
                f"unix_socket_directories={folder}",
                f"shared_buffers={self._buffers_mib}MB",
            )
            command = [self._application.program("postgres"), "-D", str(self._data)]
            for setting in settings:
                command += ["-c", setting]
            with (folder / "log").open("wb") as log:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._how
                )
            try:
                self._await(folder / "log")
                yield
            finally:
                end(self._process, signal.SIGINT, _PATIENCE_S)  # "fast": a checkpoint, no clients
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _await(self, log: Path) -> None:
        assert self._process is not None
        until = time.monotonic() + _PATIENCE_S
        ready = self._data / "postmaster.pid"
        while time.monotonic() < until:
            if self._process.poll() is not None:
                said = log.read_text(encoding="utf-8", errors="replace").split("\n")
                msg = f"postgres: did not start: {' '.join(filter(None, said[-4:])) or 'no word'}"
                raise SledsimError(msg)
            with contextlib.suppress(OSError):
                lines = ready.read_text(encoding="ascii").splitlines()
                if len(lines) > 7 and lines[7].strip() == "ready":
                    return
            time.sleep(0.02)
        msg = f"postgres: is not ready after {_PATIENCE_S:g} s"
        raise SledsimError(msg)

    def psql(self, script: str) -> str:
        """Run a script of SQL; return its output, columns separated by ``|``.

        Raises
        ------
        SledsimError
            At the first statement that fails.
        """
        words = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        return self.client("psql", *words, given=script)

    def client(self, program: str, *words: str, given: str = "") -> str:
        """Run a client to its end; return its output.

        Raises
        ------
        SledsimError
            If it fails.
        """
        out, _ = self._run(
            program, "-h", self._socket, "-U", _ROLE, *words, *_DATABASE[program], given=given
        )
        return out

    def timed(self, work: Callable[[], dict[str, Any]]) -> Ran:
        """Run an action and count the processor time of the server and its clients."""
        assert self._process is not None
        server = self._process.pid
        before, clients = tree_compute_s(server), children_s()
        report = work()
        clients = children_s() - clients
        return Ran(tree_compute_s(server) - before + clients, report)

    def _run(self, program: str, *words: str, given: str = "") -> tuple[str, float]:
        command = [self._application.program(program), *words]
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "PGTZ": "UTC"}
        return run(program, command, given=given, env=environment, **self._how)


_DATABASE: dict[str, Sequence[str]] = {"psql": ("-d", "postgres"), "pgbench": ("postgres",)}


def _unprivileged_user() -> tuple[int, int]:
    """Find a user without rights."""
    for name in _USERS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    msg = f"postgres refuses to run as root, and there is no user {' or '.join(_USERS)}"
    raise SledsimError(msg)
