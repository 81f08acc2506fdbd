"""Servers of the benchmarks of the emulator: sledsim, and nbdkit with nbdfuse beside it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import subprocess
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SLEDSIM = str(Path(sysconfig.get_path("scripts")) / "sledsim")
BYTES = 1 << 30
PATIENCE_S = 20


@dataclasses.dataclass(frozen=True)
class Running:
    """A server that runs."""

    socket: Path
    """Where it serves NBD."""
    file: Path | None
    """The file that it shows through FUSE."""
    pids: tuple[int, ...]
    """The processes of which it consists."""


@contextlib.contextmanager
def sledsim(
    folder: Path, latency_ms: int, *, fuse: bool, python_path: str | None = None
) -> Iterator[Running]:
    """Serve a device of constant latency; of another build if its Python path is given."""
    socket, point = folder / "s.sock", folder / "point"
    command = [SLEDSIM, "serve", "--json", "--device=memory", f"--nbd=unix:{socket}"]
    command += [f"--set=device.latency_ms={latency_ms}", "--set=device.ms_per_block=0"]
    if fuse:
        point.mkdir()
        command.append(f"--fuse={point}")
    file = point / "memory" if fuse else None
    with started(command, file or socket, python_path) as pid:
        yield Running(socket, file, (pid,))


@contextlib.contextmanager
def nbdkit(folder: Path, latency_ms: int, *, fuse: bool) -> Iterator[Running]:
    """Serve memory; with its delay filter if reads shall take time, with nbdfuse as a file."""
    socket, file = folder / "s.sock", folder / "file"
    command = ["nbdkit", "--foreground", f"--unix={socket}"]
    filters = ["--filter=delay"] if latency_ms else []
    delay = [f"rdelay={latency_ms}ms"] if latency_ms else []
    with started([*command, *filters, "memory", str(BYTES), *delay], socket) as pid:
        if not fuse:
            yield Running(socket, None, (pid,))
            return
        file.touch()
        with started(["nbdfuse", str(file), "--unix", str(socket)], file) as second:
            yield Running(socket, file, (pid, second))


@contextlib.contextmanager
def started(command: list[str], ready: Path, python_path: str | None = None) -> Iterator[int]:
    """Start a program, wait until a socket or a file of some size is there, and end it."""
    environment = os.environ | ({"PYTHONPATH": python_path} if python_path else {})
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=silent, stderr=silent, env=environment) as server:
        until = time.monotonic() + PATIENCE_S
        try:
            while not (ready.is_socket() or (ready.is_file() and ready.stat().st_size > 0)):
                if server.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"did not start: {' '.join(command)}")
                time.sleep(0.02)
            yield server.pid
        finally:
            server.terminate()


@contextlib.contextmanager
def loop_device(file: Path) -> Iterator[Path]:
    """Attach a loop device as `sledsim mount` does."""
    made = ["losetup", "--find", "--show", "--direct-io=on", "--sector-size=512", str(file)]
    done = subprocess.run(made, capture_output=True, text=True, check=True)
    path = Path(done.stdout.strip())
    try:
        yield path
    finally:
        subprocess.run(["losetup", "--detach", path], check=True)
        time.sleep(0.2)
