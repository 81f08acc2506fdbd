"""A private PostgreSQL server with its data on a device."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sledsim._core import SledsimError
from sledsim.emulator.mounting.work import working
from sledsim.programs.processes import (
    TookTooLongError,
    children_s,
    end,
    ending_with_us,
    run,
    tree_compute_s,
)
from sledsim.programs.program import Program, Ran

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

_CAUSE = re.compile(r"FATAL:|PANIC:|ERROR:|was terminated by|exited with")
"""Messages that tell why it does not start; those after them tell what it does then."""


class PostgresProgram(Program):
    """Base class of programs that use PostgreSQL."""

    packages: ClassVar = dict.fromkeys(("postgres", "initdb", "psql"), PACKAGE)
    folders = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/postgresql/*/bin")

    def server(self, place: Path, *settings: str) -> Server:
        """Return a server for the data in a folder, with further settings."""
        data, buffers_mib = place / "pgdata", self.number("shared_buffers_mib")
        return Server(self.executable, data, buffers_mib, *settings)


class Server:
    """A server that listens on a socket in a folder of its own, and nowhere else."""

    def __init__(
        self, executable: Callable[[str], str], data: Path, buffers_mib: int, *settings: str
    ) -> None:
        """Store what it is run with; nothing is started yet.

        Parameters
        ----------
        executable
            Finds an executable by its name.
        data
            The folder of its data.
        buffers_mib
            MiB of its own cache.
        settings
            ``name=value`` of ``postgresql.conf``, over those of every server here.
        """
        self._executable = executable
        self._data = data
        self._settings = (*_SETTINGS, f"shared_buffers={buffers_mib}MB", *settings)
        self._how: dict[str, Any] = {"cwd": "/"}
        self._owner = (-1, -1)  # as it is
        if os.geteuid() == 0:
            user, group = self._owner = _unprivileged_user()
            self._how |= {"user": user, "group": group, "extra_groups": []}
        self._socket = ""
        self._process: subprocess.Popen[bytes] | None = None

    def make(self, *options: str) -> None:
        """Make an empty cluster, with further options of ``initdb``."""
        self._data.mkdir(mode=0o700)
        os.chown(self._data, *self._owner)
        words = ["-U", _ROLE, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"]
        self._run("initdb", *options, *words, str(self._data))

    @contextlib.contextmanager
    def running(
        self, *, patience_s: float = _PATIENCE_S, after_crash: bool = False
    ) -> Iterator[Path]:
        """Run it; yield the file of its messages.

        Parameters
        ----------
        patience_s
            How long it may take to start, and to end.
        after_crash
            Whether the data are those of a server that was cut off: its traces do not stand in the
            way, and at the end the server is stopped at once, as the data are not needed.

        Raises
        ------
        SledsimError
            If one runs on these data already, or it does not start.
        """
        if after_crash:
            (self._data / "postmaster.pid").unlink(missing_ok=True)
        elif (self._data / "postmaster.pid").exists():
            raise SledsimError(f"{self._data}: another server runs on this database; stop it first")
        with working("sledsim-pg-", Path("/tmp")) as folder:
            os.chown(folder, *self._owner)
            self._socket = str(folder)
            command = [self._executable("postgres"), "-D", str(self._data)]
            for setting in (*self._settings, f"unix_socket_directories={folder}"):
                command += ["-c", setting]
            # Killed by SIGKILL, it would leave processes of its own.
            command = ending_with_us(command, "QUIT")
            with (folder / "log").open("wb") as log:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._how
                )
            try:
                self._await(folder / "log", patience_s)
                yield folder / "log"
            finally:
                # "Fast" ends clients and makes a checkpoint, "immediate" does not.
                number = signal.SIGQUIT if after_crash else signal.SIGINT
                end(self._process, number, patience_s)

    def _await(self, log: Path, patience_s: float) -> None:
        assert self._process is not None
        until = time.monotonic() + patience_s
        ready = self._data / "postmaster.pid"
        while time.monotonic() < until:
            if self._process.poll() is not None:
                said = log.read_text(encoding="utf-8", errors="replace").splitlines()
                said = [line for line in said if _CAUSE.search(line)] or said[-3:]
                raise SledsimError(f"postgres: did not start: {' '.join(said) or 'no word'}")
            with contextlib.suppress(OSError):
                lines = ready.read_text(encoding="ascii").splitlines()
                if len(lines) > 7 and lines[7].strip() == "ready":
                    return
            time.sleep(0.02)
        raise TookTooLongError(f"postgres: is not ready after {patience_s:g} s")

    def psql(self, script: str, patience_s: float | None = None) -> str:
        """Run a script of SQL; return its output, columns separated by ``|``.

        Raises
        ------
        SledsimError
            At the first statement that fails, or if it takes longer than the patience.
        """
        return self.client("psql", *_SCRIPT, given=script, patience_s=patience_s)

    @contextlib.contextmanager
    def session(self) -> Iterator[subprocess.Popen[str]]:
        """Give a psql that reads SQL from a pipe, and whose warnings come by another at once."""
        command = [self._executable("psql"), *self._there("psql", *_SCRIPT)]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command,
            stdin=pipe,
            stdout=subprocess.DEVNULL,
            stderr=pipe,
            text=True,
            env=self._environment(),
            **self._how,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def client(
        self, program: str, *words: str, given: str = "", patience_s: float | None = None
    ) -> str:
        """Run a client to its end; return its output."""
        there = self._there(program, *words)
        out, _ = self._run(program, *there, given=given, patience_s=patience_s)
        return out

    def _there(self, program: str, *words: str) -> list[str]:
        return ["-h", self._socket, "-U", _ROLE, *words, *_DATABASE[program]]

    def timed(self, work: Callable[[], dict[str, Any]]) -> Ran:
        """Run an action and count the processor time of the server and its clients."""
        assert self._process is not None
        server = self._process.pid
        before, clients = tree_compute_s(server), children_s()
        report = work()
        clients = children_s() - clients
        return Ran(tree_compute_s(server) - before + clients, report)

    def _run(self, program: str, *words: str, **how: Any) -> tuple[str, float]:
        command = [self._executable(program), *words]
        return run(program, command, env=self._environment(), **self._how, **how)

    @staticmethod
    def _environment() -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "PGTZ": "UTC"}


_SCRIPT = ("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1")
_DATABASE: dict[str, Sequence[str]] = {"psql": ("-d", "postgres"), "pgbench": ("postgres",)}


def _unprivileged_user() -> tuple[int, int]:
    """Find a user without rights."""
    for name in _USERS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise SledsimError(
        f"postgres refuses to run as root, and there is no user {' or '.join(_USERS)}"
    )
