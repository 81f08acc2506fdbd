"""Programs and the time that they compute."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim.emulator.mounting import system

if TYPE_CHECKING:
    from collections.abc import Sequence

_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE_S = 3600.0
"""How long a program may take."""


class TookTooLongError(SledsimError):
    """A program did not end, or was not ready, in the time that it had."""


def find(name: str, package: str, folders: Sequence[str] = (), *, owner: str) -> str:
    """Return the path of a program: in ``PATH``, beside Python, or in further folders.

    Parameters
    ----------
    name
        Its name.
    package
        How it is installed, for the message.
    folders
        Patterns below the root; of several that match, the last in order comes first.
    owner
        Who needs it, for the message.

    Raises
    ------
    SledsimError
        If it is missing.
    """
    beside = [str(Path(sys.executable).parent)]
    for pattern in folders:
        beside += [str(path) for path in sorted(Path("/").glob(pattern), reverse=True)]
    found = shutil.which(name)
    for folder in beside:
        found = found or shutil.which(name, path=folder)
    if found is None:
        raise SledsimError(f"{owner}: {name} is missing: install {package}")
    return found


def tree_compute_s(root: int) -> float:
    """Return the processor time of a process, its descendants, and those that ended, in s."""
    times, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        times[pid] = sum(map(int, fields[11:15])) / _TICKS

    def is_below(pid: int) -> bool:
        while pid not in (root, 0):
            pid = parents.get(pid, 0)
        return pid == root

    return sum(time_s for pid, time_s in times.items() if is_below(pid))


def children_s() -> float:
    """Return the processor time of all children that have ended, in s."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def pinned() -> dict[str, Any]:
    """Return the arguments of `run` that keep a program on one processor.

    On which processor a file is written decides where some file systems put it. With one only, a
    program does the same on every device.
    """
    last = max(os.sched_getaffinity(0))
    return {"preexec_fn": lambda: os.sched_setaffinity(0, {last})}


def ending_with_us(command: Sequence[str], how: str = "KILL") -> list[str]:
    """Return a command that gets a signal when the thread that starts it has ended, or is killed.

    Raises
    ------
    SledsimError
        If setpriv is missing.
    """
    system.need("setpriv")
    return ["setpriv", "--pdeathsig", how, *command]


def run(name: str, command: Sequence[str], *, given: str = "", **how: Any) -> tuple[str, float]:
    """Run a program to its end.

    Parameters
    ----------
    name
        Its name in messages.
    command
        The program and its arguments.
    given
        Its standard input.
    how
        For `subprocess.Popen`, and ``timeout`` in s.

    Returns
    -------
    str, float
        Its output, and its processor time in s.

    Raises
    ------
    SledsimError
        If it fails; the message has the end of its output.
    """
    before = children_s()
    pipe = subprocess.PIPE
    how = {"stdin": pipe, "stdout": pipe, "stderr": pipe} | how
    timeout_s = how.pop("timeout", _PATIENCE_S)
    bound = ending_with_us(command)
    with subprocess.Popen(bound, text=True, errors="replace", **how) as process:
        try:
            printed, complaints = process.communicate(given, timeout_s)
        except BaseException as error:
            process.kill()
            process.wait()  # until it has ended, it uses files that the caller removes
            if isinstance(error, subprocess.TimeoutExpired):
                raise TookTooLongError(f"{name}: took more than {timeout_s:g} s") from None
            raise
    compute_s = children_s() - before
    if process.returncode != 0:
        said = ((complaints or "").strip() or printed.strip()).splitlines()
        raise SledsimError(
            f"{name}: ended with {process.returncode}: {' '.join(said[-3:]) or 'no word'}"
        )
    return printed, compute_s


def end(process: subprocess.Popen[Any], number: int, patience_s: float) -> None:
    """End a process by a signal, or by force if that takes too long."""
    if process.poll() is None:
        process.send_signal(number)
        until = time.monotonic() + patience_s
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
    if process.poll() is None:
        process.kill()
    process.wait()
