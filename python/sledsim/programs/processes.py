"""Programs and the time that they compute."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
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
    """
    places = [os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)]
    for pattern in folders:
        places += [str(path) for path in sorted(Path("/").glob(pattern), reverse=True)]
    found = shutil.which(name, path=os.pathsep.join(places))
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
    """Return a command that gets a signal when the thread that starts it ends or is killed."""
    system.need("setpriv")
    return ["setpriv", "--pdeathsig", how, *command]


def run_to_end(
    name: str,
    command: Sequence[str],
    *,
    given: str = "",
    patience_s: float | None = None,
    **how: Any,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, which may be a failure.

    Parameters
    ----------
    name
        Its name in messages.
    command
        The program and its arguments.
    given
        Its standard input.
    patience_s
        How long it may take; by default an hour.
    how
        For `subprocess.Popen`. In a session of its own, all that the program has started ends with
        it.
    """
    pipe = subprocess.PIPE
    how = {"stdin": pipe, "stdout": pipe, "stderr": pipe} | how
    patience_s = _PATIENCE_S if patience_s is None else patience_s
    bound = ending_with_us(command)
    try:
        started = subprocess.Popen(bound, text=True, errors="replace", **how)
    except OSError as error:
        raise SledsimError(f"{name}: cannot be run: {error.strerror}") from None
    with started as process:
        try:
            printed, complaints = process.communicate(given, patience_s)
        except BaseException as error:
            process.kill()
            process.wait()  # until it has ended, it uses files that the caller removes
            if isinstance(error, subprocess.TimeoutExpired):
                raise TookTooLongError(f"{name}: took more than {patience_s:g} s") from None
            raise
        finally:
            if how.get("start_new_session"):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(command, process.returncode, printed, complaints)


def run(name: str, command: Sequence[str], **how: Any) -> tuple[str, float]:
    """Run a program to its good end, with the arguments of `run_to_end`.

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
    done = run_to_end(name, command, **how)
    compute_s = children_s() - before
    if done.returncode != 0:
        said = ((done.stderr or "").strip() or done.stdout.strip()).splitlines()
        raise SledsimError(
            f"{name}: ended with {done.returncode}: {' '.join(said[-3:]) or 'no word'}"
        )
    return done.stdout, compute_s


def end(process: subprocess.Popen[Any], number: int, patience_s: float) -> None:
    """End a process by a signal, or by force if that takes too long."""
    process.send_signal(number)
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
