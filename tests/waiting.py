"""Waits for conditions with a time limit; no test sleeps for a fixed time."""

import contextlib
import fcntl
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

LONG_S = 120.0
"""When the wait for anything is given up."""


def eventually(
    is_so: Callable[[], object],
    seconds: float = LONG_S,
    say: Callable[[], object] = lambda: "it never came",
) -> None:
    """Wait until it is so; the failure says what is there instead."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, say()
        time.sleep(0.02)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Wait until no other run of the tests on this machine mounts; theirs wait for this."""
    with Path(tempfile.gettempdir(), "sledsim-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def interrupted_at_work(*words: str) -> tuple[int, str]:
    """Run a command at a terminal, press Ctrl-C once its bar shows that it works.

    Returns its exit code, and what it says after the bar.
    """
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "sledsim", *words], stdout=subprocess.DEVNULL, stderr=slave
    ) as process:
        os.close(slave)
        said = b""
        try:
            while b"\r" not in said:
                said += os.read(master, 4096)
            process.send_signal(signal.SIGINT)
            while more := _read(master):  # to the end, else it may wait for room
                said += more
            code = process.wait(LONG_S)
        finally:
            process.kill()
            os.close(master)
    # The last thing that becomes of the bar is that it is cleared.
    return code, said.decode().replace("\r\n", "\n").rpartition("\r")[2]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # as Linux says at its end
        return b""
