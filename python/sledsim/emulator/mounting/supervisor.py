"""The supervisor of a mount: sets it up, waits, tears it down."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sledsim._core import SledsimError
from sledsim.emulator.control import control_path
from sledsim.emulator.mounting import system
from sledsim.emulator.mounting.state import RUN, Process, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    Document: TypeAlias = dict[str, Any]

_LOOK_S = 0.2
_PATIENCE_S = 15.0
"""Timeout for the end of a process."""
_USERS_S = 5.0
"""Time for the users of a file system to finish after a signal."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Options of a mount."""

    directory: str | None
    """Absolute and without links; ``None`` for a block device alone."""
    name: str
    """Of the file that the server shows."""
    file_system: str | None
    """``None``: the type that is there, else ext4."""
    make: bool
    """Make a new file system, also over one that the device holds."""
    options: str | None
    """For ``mount -o``."""
    serve: Document
    """The export, as options of ``sledsim serve``."""

    @property
    def read_only(self) -> bool:
        """Whether writes are refused."""
        return bool(self.serve["read_only"])


class Supervisor:
    """One mount, from its set-up to its end."""

    def __init__(self, wanted: Wanted) -> None:
        """Store the options; nothing is done yet."""
        self.wanted = wanted
        self.state = State(
            key=State.key_of(wanted.directory),
            directory=wanted.directory,
            supervisor=Process.of(os.getpid()),
        )
        self._server: subprocess.Popen[str] | None = None
        self._claimed = False
        self._signals = 0

    def run(self, tell: Callable[[Document], None]) -> Document | None:
        """Mount, report it, wait for the end, and undo everything.

        Parameters
        ----------
        tell
            Called with the record of the mount.

        Returns
        -------
        dict or None
            The final statistics of the server; ``None`` if it was killed.
        """
        with self._listening():
            try:
                tell(self._mount())
                self._wait()
            finally:
                document = self._undo()
        return document

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        """Take signals as requests to end; they are checked between steps."""

        def on_signal(_number: int, _frame: FrameType | None) -> None:
            self._signals += 1

        kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = [signal.signal(kind, on_signal) for kind in kinds]
        try:
            yield
        finally:
            for kind, handler in zip(kinds, before, strict=True):
                signal.signal(kind, handler)

    def _check_interrupt(self) -> None:
        if self._signals:
            raise SledsimError(f"{self.state.name}: interrupted")

    def _mount(self) -> Document:
        wanted, state = self.wanted, self.state
        self._claim()
        state.point.mkdir(mode=0o700, exist_ok=True)
        facts = self._serve()
        file = state.point / wanted.name
        about = file.stat().st_dev
        state.number = f"{os.major(about)}:{os.minor(about)}"
        state.save()
        self._check_interrupt()
        loop = state.loop = system.attach(file, read_only=wanted.read_only)
        state.save()
        made, kind, options = False, None, None
        if wanted.directory is not None:
            made, kind = self._file_system(loop, facts)
            self._check_interrupt()
            said = [wanted.options, "ro" if wanted.read_only else None]
            options = ",".join(each for each in said if each) or None
            more = ["-o", options] if options else []
            try:
                system.run("mount", "-t", kind, *more, loop, wanted.directory)
            except system.FailedError as error:
                raise SledsimError(f"{error} (options: {options or 'none'})") from None
            self._check_interrupt()
        return {
            "directory": wanted.directory,
            "device": wanted.serve["device"],
            "bytes": facts["bytes"],
            "file_system": kind,
            "made": made,
            "options": options,
            "loop": loop,
            "fuse": str(file),
            "file": wanted.serve["file"],
            "supervisor": state.supervisor.pid,
            "server": state.server and state.server.pid,
        }

    def _claim(self) -> None:
        """Record that the mount point is in use; clean up after a dead supervisor first."""
        state = self.state
        if state.directory is not None:
            other = State.named(state.directory)
            if other is not None and not other.supervisor.is_alive():
                clean(other)
        with contextlib.suppress(FileExistsError):
            state.save(new=True)
            self._claimed = True
            return
        raise SledsimError(
            f"{state.name}: is mounted already, or about to be, by another sledsim mount"
        )

    def _serve(self) -> Document:
        """Start the server; return its description of the device."""
        # In a session of its own: Ctrl-C is for the supervisor, which stops it last.
        self._server = subprocess.Popen(
            [sys.executable, "-m", "sledsim.emulator.mounting.server_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        stdin, stdout, stderr = self._server.stdin, self._server.stdout, self._server.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        wanted = self.wanted
        said = {"serve": wanted.serve, "name": wanted.name, "point": str(self.state.point)}
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(said) + "\n")
            stdin.flush()
        line = stdout.readline()
        if not line:
            raise SledsimError(stderr.read().strip() or "the server ended before it served")
        self.state.server = Process.of(self._server.pid)
        facts: Document = json.loads(line)
        return facts

    def _file_system(self, loop: str, facts: Document) -> tuple[bool, str]:
        """Find or make a file system; return whether it was made, and its type."""
        wanted = self.wanted
        there = system.contents(loop)
        source = wanted.serve["file"] or "the device"
        if there is None and facts["allocated_bytes"] and not wanted.make:
            raise SledsimError(
                f"{source}: holds data, but no file system that is known; --mkfs overwrites it"
            )
        kept = there if there in system.MAKERS and not wanted.make else None
        kind = wanted.file_system or kept or "ext4"
        if there is not None and not wanted.make:
            if there != kind:
                raise SledsimError(
                    f"{source}: holds {there}, not {kind}; --mkfs makes a new {kind} over it"
                )
            return False, kind
        if wanted.read_only:
            raise SledsimError(
                f"{source}: holds no file system, and none can be made on a read-only device"
            )
        least = system.LEAST_BYTES[kind]
        if facts["bytes"] < least:
            raise SledsimError(
                f"{wanted.serve['device']}: has {facts['bytes']} bytes, too few for {kind}, "
                f"which needs {least}"
            )
        self._check_interrupt()
        system.run(*system.MAKERS[kind], loop)
        return True, kind

    def _wait(self) -> None:
        """Wait for a signal, an unmount or the end of the server."""
        assert self._server is not None
        with Path("/proc/self/mountinfo").open("rb") as mounts:
            poll = select.poll()
            poll.register(mounts, select.POLLPRI | select.POLLERR)
            poll.register(os.pidfd_open(self._server.pid), select.POLLIN)
            while not self._signals and self._server.poll() is None and self._is_mounted():
                poll.poll(_LOOK_S * 1e3)

    def _is_mounted(self) -> bool:
        loop = self.state.loop
        assert loop is not None
        if self.wanted.directory is None:
            return system.is_attached(loop, self.state.point)
        return any(
            (point, source) == (self.wanted.directory, loop) for point, _, source in system.mounts()
        )

    def _undo(self) -> Document | None:
        """Undo all steps in reverse order, even if one of them fails."""
        if not self._claimed:
            return None
        server, document = self._server, None
        works = server is not None and server.poll() is None
        take_off(self.state, works=works)
        if server is not None:
            # Processes that still use a lazily unmounted file system may finish.
            if works and self.state.loop is not None:
                self._await_users(server)
            out, _ = self._ended(server)
            with contextlib.suppress(ValueError):
                document = json.loads(out.splitlines()[-1] if out else "")
        remove(self.state)
        if document is not None and self.state.closing.exists():
            _leave(self.state.closing, document)
        return document

    def _await_users(self, server: subprocess.Popen[str]) -> None:
        loop = self.state.loop
        assert loop is not None
        end = time.monotonic() + _USERS_S if self._signals else None
        while system.is_attached(loop, self.state.point) and server.poll() is None:
            if self._signals and end is None:
                end = time.monotonic() + _USERS_S
            if self._signals > 1 or (end is not None and time.monotonic() > end):
                break
            time.sleep(0.02)

    def _ended(self, server: subprocess.Popen[str]) -> tuple[str, str]:
        """Stop the server, or kill it if it does not stop."""
        try:
            return server.communicate("stop\n", timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            server.kill()
            return server.communicate()


def take_off(state: State, *, works: bool) -> None:
    """Unmount the file system, and detach the loop device or ask for it."""
    if state.directory is not None and state.loop is not None:
        for point, _, source in list(system.mounts()):
            if (point, source) == (state.directory, state.loop):
                with contextlib.suppress(SledsimError):
                    _unmount(point, works=works)
    with contextlib.suppress(SledsimError):
        for loop in list(system.loops_on(state.number, state.point, state.loop)):
            with contextlib.suppress(SledsimError):
                system.detach(loop)


def _unmount(point: str, *, works: bool) -> None:
    if works:
        try:
            system.unmount(point)
        except SledsimError:
            os.sync()
        else:
            return
    system.unmount(point, lazily=True)


def remove(state: State) -> None:
    """Remove the FUSE mount, its folder and the record."""
    point = str(state.point)
    while (found := system.mounted_at(point)) and found[0].startswith("fuse"):
        try:
            system.run("umount", "--force", "--lazy", "--no-canonicalize", point)
        except SledsimError:
            break
    with contextlib.suppress(OSError):
        state.point.rmdir()
    if state.server is not None:  # killed, it leaves that
        control_path(state.server.pid).unlink(missing_ok=True)
    state.remove()


def clean(state: State) -> None:
    """Clean up after a supervisor that has ended."""
    server = state.server
    works = server is not None and server.is_alive()
    take_off(state, works=works)
    if server is not None and works:
        server.signal(signal.SIGTERM)
        end = time.monotonic() + _PATIENCE_S
        while server.is_alive() and time.monotonic() < end:
            time.sleep(0.02)
        server.signal(signal.SIGKILL)
    remove(state)
    state.closing.unlink(missing_ok=True)


def _leave(path: Path, document: Document) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(document), encoding="utf-8")
    draft.replace(path)


def background(wanted: Wanted) -> Document:
    """Start a supervisor in the background; return the record of its mount."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sledsim.emulator.mounting.supervisor"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        with process.stdin, process.stdout, process.stderr:
            process.stdin.write(json.dumps(asdict(wanted)))
            process.stdin.close()
            out, errors = process.stdout.read(), process.stderr.read()
    except BaseException:
        process.terminate()  # it cleans up
        raise
    process.returncode = 0  # it keeps running: no ResourceWarning for that
    if not out:
        raise SledsimError(errors.strip() or "the supervisor ended before it had mounted")
    made: Document = json.loads(out)
    return made


def main() -> int:
    """Run the supervisor in the background; return the exit code."""
    wanted = Wanted(**json.loads(sys.stdin.read()))
    os.chdir("/")

    def tell(made: Document) -> None:
        print(json.dumps(made), flush=True)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # its starter reads to the end
            os.dup2(null, stream)
        os.close(null)

    try:
        Supervisor(wanted).run(tell)
    except SledsimError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())


__all__ = ["RUN", "Supervisor", "Wanted", "background", "clean"]
