"""Mounts of emulated devices in tests, and what runs of programs leave behind; needs root."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sledsim.cli import main

from tests.waiting import alone, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

CAP_SYS_ADMIN = 1 << 21


def may_mount(*devices: str) -> bool:
    """Whether this process may mount, and these devices are there."""
    if sys.platform != "linux" or not all(map(os.path.exists, ("/dev/fuse", *devices))):
        return False
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    rights = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(rights.split()[1], 16) & CAP_SYS_ADMIN) and os.geteuid() == 0


needs_fuse = pytest.mark.skipif(not may_mount(), reason="FUSE needs Linux, /dev/fuse and root")
needs_root = pytest.mark.skipif(
    not may_mount("/dev/loop-control"), reason="mounting needs root, /dev/fuse and loop devices"
)
needs_xfs = pytest.mark.skipif(shutil.which("mkfs.xfs") is None, reason="mkfs.xfs is missing")
POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
needs_postgres = pytest.mark.skipif(not POSTGRES, reason="PostgreSQL is not installed")

DEVICE = """\
title = "A memory of half a GiB"
kind = "memory"
blocks = 1_048_576
latency_ms = 0.02
ms_per_block = 0.0001
"""
RUN = Path("/run/sledsim")
CHECKS = {"ext4": ["e2fsck", "-fn"], "xfs": ["xfs_repair", "-n"], "btrfs": ["btrfs", "check"]}


def mounts() -> str:
    return Path("/proc/self/mounts").read_text(encoding="utf-8")


def command_lines() -> Iterator[tuple[int, bytes]]:
    """Find the processes of this machine, with their commands."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            yield int(path.parent.name), path.read_bytes()


def left_behind() -> set[str]:
    """Find what runs and mounts leave: mounts, loop devices, files in memory, servers."""
    found = {line for line in mounts().splitlines() if "sled" in line}
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):  # it was let go
            file = path.read_text("utf-8")
            # Of a server that ended in good order just the name of the file is left.
            found |= (
                {f"{path}: {file}"}
                if any(name in file for name in ("sled", "disk.img", "/half"))
                else set()
            )
    for folder in (Path("/dev/shm"), Path("/tmp")):
        found |= {
            str(path)
            for path in folder.glob("*sledsim*")
            # Studies and frames of tests beside these keep folders for as long as they live.
            if not path.name.startswith(("sledsim-study-", "sledsim-parts-", "sledsim-frames-"))
        }
    found |= {str(path) for path in RUN.iterdir()} if RUN.exists() else set()
    return found | {f"{pid}" for pid, each in command_lines() if b"sledsim.emulator.mount" in each}


class Place:
    """A folder to mount on, a device, and a backing file."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.directory = folder / "mnt with a blank"
        self.directory.mkdir()
        self.device = folder / "half.toml"
        self.device.write_text(DEVICE, encoding="utf-8")
        self.file = folder / "disk.img"
        self._capsys = capsys

    def mount(self, *options: str, file: bool = True) -> dict[str, Any]:
        backing = [f"--file={self.file}"] if file else []
        device = [f"--device={self.device}"] if "--device" not in " ".join(options) else []
        words = ["mount", "--json", *device, *backing, *options]
        made: dict[str, Any] = json.loads(
            self._ran(*words, *([] if "--fs=none" in options else [str(self.directory)]))
        )
        return made

    def umount(self, *options: str) -> dict[str, Any]:
        out = self._ran("umount", "--json", *(options or (str(self.directory),)))
        document: dict[str, Any] = json.loads(out) if out else {}
        return document

    def _ran(self, *words: str) -> str:
        code = main(list(words))
        out, errors = self._capsys.readouterr()
        assert code == 0, errors
        return out

    def refused(self, *words: str) -> str:
        """Return the message of a command that is refused."""
        assert main(list(words)) == 2
        out, errors = self._capsys.readouterr()
        assert out == ""
        assert errors.count("\n") == 1
        return errors

    @property
    def is_mounted(self) -> bool:
        return str(self.directory).replace(" ", "\\040") in mounts()

    def check(self, kind: str) -> None:
        """See that the file system in the backing file is sound, as its own checker has it."""
        command = [*CHECKS[kind], str(self.file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@contextlib.contextmanager
def nothing_left(*folders: Path) -> Iterator[None]:
    """Check that nothing is left behind; remove what a failed test has left mounted on folders."""
    with alone():
        before = left_behind()
        yield
        try:
            eventually(lambda: left_behind() <= before, say=lambda: left_behind() - before)
        finally:
            for path in {*RUN.glob("mount-*.json")} if left_behind() - before else ():
                state = json.loads(path.read_bytes())
                if state["directory"] in {None, *map(str, folders)}:
                    pid = state["supervisor"]["pid"]
                    if pid != os.getpid():
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                    main(["umount", state["directory"] or state["loop"]])


@contextlib.contextmanager
def small_disk(point: Path, size: str) -> Iterator[Path]:
    """Mount a file system in memory that is full soon."""
    point.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(point)]
    if os.geteuid() != 0 or subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("a small file system needs root")
    try:
        yield point
    finally:
        subprocess.run(["umount", "-l", point], check=True)
