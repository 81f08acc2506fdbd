"""System calls of mounting: util-linux, mkfs programs, ``/proc`` and ``/sys``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim._core import SledsimError

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 512

MAKERS = {
    # Everything is made now: nothing that the kernel does later disturbs a measurement.
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f", "-K"],
    "btrfs": ["mkfs.btrfs", "-q", "-f", "-K"],
}
"""How each file system is made."""

PACKAGES = {
    "blkid": "util-linux",
    "cp": "coreutils",
    "debugfs": "e2fsprogs",
    "e2fsck": "e2fsprogs",
    "fusermount3": "fuse3",
    "losetup": "mount",
    "mkfs.btrfs": "btrfs-progs",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mount": "mount",
    "setpriv": "util-linux",
    "sync": "coreutils",
    "umount": "mount",
    "xfs_repair": "xfsprogs",
}
"""The Debian package of each program."""

LEAST_BYTES = {"ext4": 2 << 20, "xfs": 300 << 20, "btrfs": 109 << 20}
"""The smallest devices that the makers accept."""


class FailedError(SledsimError):
    """A system program failed."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def need(program: str) -> None:
    """Check that a program is installed."""
    if shutil.which(program) is None:
        raise SledsimError(f"{program} is missing: install the package {PACKAGES[program]}")


def need_root(what: str, instead: str = "") -> None:
    """Check that this is Linux and the user is root."""
    if sys.platform != "linux":
        raise SledsimError(f"{what} needs Linux")
    if os.geteuid() != 0:
        raise SledsimError(f"{what} needs root{instead}")


def need_mounting(maker: str | None) -> None:
    """Check the requirements of mounting: programs, mkfs, loop devices."""
    for program in ("losetup", "blkid", "mount", "umount", "sync"):
        need(program)
    if maker is not None:
        need(maker)
    if not Path("/dev/loop-control").exists():
        raise SledsimError("there are no loop devices: load the module (modprobe loop)")


def run_to_end(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, which may be a failure; return its exit code and outputs."""
    need(command[0])
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def run(*command: str) -> str:
    """Run a program and return its output.

    Raises
    ------
    FailedError
        If it fails; the message is its error output.
    """
    done = run_to_end(*command)
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        if not said.startswith(command[0]):
            said = f"{command[0]}: {said}"
        raise FailedError(said, done.returncode)
    return done.stdout


def mounts() -> Iterator[tuple[str, str, str]]:
    """Yield mount point, type and source of each file system, as they were mounted."""
    for line in Path("/proc/self/mountinfo").read_bytes().splitlines():
        fields = line.split()
        kind, source = fields[fields.index(b"-", 6) + 1 :][:2]
        point = fields[4].decode("unicode_escape").encode("latin-1")
        yield os.fsdecode(point), kind.decode(), os.fsdecode(source)


def mounted_at(point: str) -> tuple[str, str] | None:
    """Return type and source of the topmost mount at a path without links."""
    found = [(kind, source) for where, kind, source in mounts() if where == point]
    return found[-1] if found else None


def attach(file: Path, *, read_only: bool) -> str:
    """Attach a loop device to a file with direct I/O."""
    options = ["--find", "--show", "--direct-io=on", f"--sector-size={BLOCK}"]
    try:
        loop = run("losetup", *options, *(["--read-only"] if read_only else []), str(file)).strip()
    except FailedError as error:
        raise SledsimError(
            f"no loop device: {error} (modprobe loop; a container must be given /dev/loop*)"
        ) from None
    direct = Path("/sys/block", Path(loop).name, "loop", "dio").read_text(encoding="ascii")
    if direct.strip() != "1":
        detach(loop)
        raise SledsimError(
            f"{loop}: this kernel gives no direct I/O, and its page cache would hide the device"
        )
    return loop


def detach(loop: str) -> None:
    """Detach a loop device; it goes when its last user closes it."""
    try:
        run("losetup", "--detach", loop)
    except FailedError:
        if _file_of(loop) is not None:
            raise


def _file_of(loop: str) -> str | None:
    """Return the backing file of a loop device as in sysfs; ``None`` if it has none."""
    try:
        said = Path("/sys/block", Path(loop).name, "loop", "backing_file").read_bytes()
    except OSError:
        return None
    return os.fsdecode(said).rstrip("\n")


def is_attached(loop: str, folder: Path) -> bool:
    """Whether a loop device has a file that is, or was, in a folder.

    The next mount may reuse a detached loop device at once: its number proves nothing.
    """
    file = _file_of(loop)
    return file is not None and _may_be_in(file, folder)


def _may_be_in(file: str, folder: Path) -> bool:
    """Whether a file is in a folder, or was: unmounted, it is at the root of what was mounted."""
    return file.startswith(f"{folder}/") or Path(file).parent == Path("/")


def loops_on(number: str | None, folder: Path, dead: str | None) -> Iterator[str]:
    """Find the loop devices on files of a file system, or in a folder; and one if it is dead."""
    said = run("losetup", "--json", "--output", "NAME,BACK-FILE,BACK-MAJ:MIN")
    for each in json.loads(said or '{"loopdevices": []}')["loopdevices"]:
        # Of a file whose server is gone no number is known, once unmounted not even where it was.
        # Both may have been given anew since; the name of the file tells.
        there, file = (each["back-maj:min"] or "").strip(), each["back-file"] or "/"
        ours = there == number if there else each["name"] == dead
        if file.startswith(f"{folder}/") or (ours and _may_be_in(file, folder)):
            yield each["name"]


def loops_named(name: str) -> Iterator[str]:
    """Find the loop devices on files of which the name, or that of a folder above, is this one."""
    said = run("losetup", "--json", "--output", "NAME,BACK-FILE")
    for each in json.loads(said or '{"loopdevices": []}')["loopdevices"]:
        if name in Path(each["back-file"] or "/").parts:
            yield each["name"]


def contents(device: str) -> str | None:
    """Return the kind of content of a device: file system, partition table; ``None`` if unknown."""
    try:
        said = run("blkid", "--probe", "--output", "export", device)
    except FailedError as error:
        if error.code == 2:  # nothing found
            return None
        if error.code == 8:
            return "several things at once"
        raise
    facts = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    if "TYPE" in facts:
        return facts["TYPE"]
    return f"a {facts['PTTYPE']} partition table" if "PTTYPE" in facts else None


def unmount(point: str, *, lazily: bool = False) -> None:
    """Unmount the topmost mount at a path."""
    run("umount", *(["--lazy"] if lazily else []), "--no-canonicalize", point)


def users(point: str) -> list[str]:
    """Name the processes that keep a mount busy: open files, mappings, current directories."""
    number = os.stat(point).st_dev  # noqa: PTH116
    found = []
    for process in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
        links = [process / name for name in ("cwd", "root", "exe")]
        try:
            links += list((process / "fd").iterdir())
            links += list((process / "map_files").iterdir())
            name = (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue  # it has ended
        if any(_is_on(link, number) for link in links):
            found.append(f"{name} ({process.name})")
    return found


def _is_on(link: Path, number: int) -> bool:
    try:
        return link.stat().st_dev == number
    except OSError:
        return False
