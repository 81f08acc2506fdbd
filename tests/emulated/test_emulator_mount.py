"""File systems on served devices: durability, end, refusals; needs root."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sledsim.cli import main
from sledsim.emulator.mounting import system
from sledsim.emulator.mounting.state import Process, State

from tests.mounted import DEVICE, RUN, Place, mounts, needs_root, needs_xfs
from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = needs_root


def plant(folder: Path, seed: int) -> dict[str, str]:
    """Write a tree of files; return their digests."""
    rng = random.Random(seed)
    digests = {}
    for n in range(60):
        path = folder / f"d{n % 7}" / f"f{n}"
        path.parent.mkdir(exist_ok=True)
        data = rng.randbytes(rng.choice([0, 1, 100, 4096, 70_000, 1_000_000]))
        path.write_bytes(data)
        digests[str(path.relative_to(folder))] = hashlib.sha256(data).hexdigest()
    return digests


def found(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("f*")
        if path.is_file() and path.name != "fio"
    }


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_a_file_system_keeps_what_is_written(place: Place, kind: str) -> None:
    """Trees come back from the backing file, fio verifies its own, and the checkers agree."""
    if shutil.which(f"mkfs.{kind}") is None:
        pytest.skip(f"mkfs.{kind} is missing")
    made = place.mount(f"--fs={kind}")
    assert (made["file_system"], made["made"]) == (kind, True)
    assert os.path.ismount(place.directory)
    loop = Path("/sys/block", Path(made["loop"]).name)
    assert (loop / "loop/dio").read_text(encoding="ascii").strip() == "1"
    assert (loop / "queue/logical_block_size").read_text(encoding="ascii").strip() == "512"
    written = plant(place.directory, 1)
    if shutil.which("fio"):
        command = ["fio", "--name=v", f"--filename={place.directory}/fio", "--size=8m"]
        command += ["--rw=randwrite", "--bs=4k", "--direct=1", "--ioengine=libaio", "--iodepth=16"]
        command += ["--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0"]
        subprocess.run(command, check=True, timeout=LONG_S)
    (export,) = place.umount()["exports"]
    assert export["name"] == "half"
    assert export["summary"]["writes"] > 60
    assert export["summary"]["flushes"] > 0
    assert export["summary"]["errors"] == 0
    assert not place.is_mounted
    place.check(kind)
    made = place.mount()
    assert (made["file_system"], made["made"]) == (kind, False)
    assert found(place.directory) == written
    place.umount()
    place.check(kind)


def test_a_mount_takes_the_time_of_the_device(place: Place, tmp_path: Path) -> None:
    slow = tmp_path / "slow.toml"
    slow.write_text(DEVICE.replace("0.02", "20.0"), encoding="utf-8")
    place.mount(f"--device={slow}", "--speed=1000", "--fs=ext4")
    place.umount()
    place.mount(f"--device={slow}")
    begun = time.monotonic()
    (place.directory / "x").write_bytes(b"x")
    descriptor = os.open(place.directory / "x", os.O_RDONLY)
    os.fsync(descriptor)  # the data, the journal, its commit
    os.close(descriptor)
    assert time.monotonic() - begun >= 0.06
    place.umount()


WRITER = """
import hashlib, itertools, os, sys
os.chdir(sys.argv[1])  # what lies below the mount is never seen from here
with open(sys.argv[2], "w") as promised:
    for n in itertools.count():
        data = os.urandom(1000 + n * 37)
        file = os.open(f"f{n}", os.O_WRONLY | os.O_CREAT)
        os.write(file, data)
        os.fsync(file)
        os.close(file)
        folder = os.open(".", os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        promised.write(f"f{n} {hashlib.sha256(data).hexdigest()}.\\n")
        promised.flush()
"""


def kept_by(journal: Path, stop: Callable[[], None], place: Place) -> dict[str, str]:
    """Write and sync files until the server ends; return the promised files.

    The journal is elsewhere: a name and a digest are in it once the file and its folder are synced.
    """
    silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    writes = [sys.executable, "-c", WRITER, str(place.directory), str(journal)]
    processes = [subprocess.Popen(writes, **silent)]
    if shutil.which("fio"):
        (place.directory / "fio").write_bytes(bytes(16 << 20))
        os.sync()
        command = ["fio", "--name=load", "--filename=fio", "--size=16m", "--thread", "--time_based"]
        command += ["--rw=randrw", "--bs=4k", "--ioengine=psync", "--numjobs=4", "--direct=1"]
        command += [f"--runtime={4 * LONG_S:.0f}"]
        # It opens its file again and again.
        processes.append(subprocess.Popen(command, cwd=place.directory, **silent))
    try:
        eventually(lambda: journal.exists() and journal.read_text("utf-8").count("\n") >= 15)
        stop()
        for process in processes:
            assert process.wait(LONG_S) != 0  # an error, and no hang
    finally:
        for process in processes:
            process.kill()
            process.wait()
    lines = journal.read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if line.endswith("."))


def is_undone(made: dict[str, Any]) -> bool:
    """Return whether the supervisor has undone everything: it removes its record last."""
    point = Path(made["fuse"]).parent
    return not point.exists() and not point.with_name(f"{point.name}.json").exists()


def is_there(place: Place, written: dict[str, str], kind: str = "ext4") -> None:
    """Mount again, which recovers the journal: files are there, the file system is sound."""
    place.mount()
    there = found(place.directory)
    assert {name: there.get(name) for name in written} == written
    place.umount()
    place.check(kind)


@pytest.mark.parametrize(
    ("kind", "who", "number"),
    [
        ("ext4", "server", signal.SIGKILL),
        pytest.param("xfs", "server", signal.SIGKILL, marks=needs_xfs),
        ("ext4", "server", signal.SIGTERM),
        ("ext4", "supervisor", signal.SIGTERM),
    ],
)
def test_signals_under_load_lose_nothing_that_was_synced(
    place: Place, tmp_path: Path, kind: str, who: str, number: int
) -> None:
    made = place.mount(f"--fs={kind}")
    promised = kept_by(tmp_path / "journal", lambda: os.kill(made[who], number), place)
    eventually(lambda: not place.is_mounted)
    eventually(lambda: is_undone(made))
    assert len(promised) >= 15
    is_there(place, {name: digest.rstrip(".") for name, digest in promised.items()}, kind)


@pytest.mark.parametrize("how", ["supervisor", "server", "umount"])
def test_another_end_loses_nothing(place: Place, how: str) -> None:
    """Not even unsynced data: the file system is unmounted before the server ends."""
    made = place.mount("--fs=ext4")
    written = plant(place.directory, 2)
    server = Process.of(made["server"])
    if how == "umount":
        subprocess.run(["umount", str(place.directory)], check=True)
    else:
        os.kill(made[how], signal.SIGTERM)
    eventually(lambda: is_undone(made))
    assert not server.is_alive()
    place.check("ext4")
    is_there(place, written)


def test_a_busy_file_system(place: Place) -> None:
    """The error names the users; after a lazy unmount the last user may finish."""
    made = place.mount("--fs=ext4")
    path = place.directory / "open"
    with path.open("wb", buffering=0) as file:
        file.write(b"1")
        message = place.refused("umount", str(place.directory))
        assert "is in use by" in message
        assert f"({os.getpid()})" in message
        assert "--lazy" in message
        assert place.is_mounted
        assert main(["umount", "--lazy", str(place.directory)]) == 0
        assert not place.is_mounted
        file.write(b"2")
        os.fsync(file.fileno())
        assert Path(made["fuse"]).exists()
    eventually(lambda: is_undone(made))
    place._capsys.readouterr()
    place.check("ext4")
    place.mount()
    assert path.read_bytes() == b"12"
    place.umount()


@pytest.mark.parametrize(
    "how", ["umount", "umount --all --stale", "mount", "server dies, umount", "server ends, umount"]
)
def test_mounts_of_a_killed_supervisor_are_cleaned_up(place: Place, how: str) -> None:
    made = place.mount("--fs=ext4")
    written = plant(place.directory, 4)
    supervisor = Process.of(made["supervisor"])
    supervisor.signal(signal.SIGKILL)
    eventually(lambda: not supervisor.is_alive())
    assert place.is_mounted  # the server goes on
    assert found(place.directory) == written
    if how.startswith("server"):
        os.sync()
        os.kill(made["server"], signal.SIGKILL if "dies" in how else signal.SIGTERM)
    if how.startswith("server ends"):
        eventually(lambda: str(Path(made["fuse"]).parent) not in mounts())
    if how == "mount":
        again = place.mount()
        assert again["made"] is False
        assert again["server"] != made["server"]
    else:
        place.umount(*(["--all", "--stale"] if "--all" in how else []))
        assert not place.is_mounted
        assert not Path(made["fuse"]).parent.exists()
        place.mount()
    assert found(place.directory) == written
    place.umount()
    place.check("ext4")


def test_a_reused_process_number_is_not_taken_for_the_supervisor(place: Place) -> None:
    made = place.mount("--fs=ext4")
    supervisor = Process.of(made["supervisor"])
    supervisor.signal(signal.SIGKILL)
    eventually(lambda: not supervisor.is_alive())
    (path,) = [p for p in RUN.glob("mount-*.json") if str(place.directory) in p.read_text("utf-8")]
    state = json.loads(path.read_bytes())
    state["supervisor"]["pid"] = os.getpid()  # lives, but was not started then
    path.write_text(json.dumps(state), encoding="utf-8")
    place.umount("--all", "--stale")
    assert not place.is_mounted


def test_a_block_device_alone(place: Place) -> None:
    made = place.mount("--fs=none")
    loop = made["loop"]
    assert made["directory"] is None
    data = os.urandom(8192)
    with Path(loop).open("r+b", buffering=0) as device:
        device.seek(4096)
        device.write(data)
        os.fsync(device.fileno())
    subprocess.run(["mkfs.ext4", "-q", loop, "50m"], check=True)
    subprocess.run(["mount", loop, str(place.directory)], check=True)
    assert "mounted on" in place.refused("umount", loop)
    subprocess.run(["umount", str(place.directory)], check=True)
    assert place.umount(loop)["exports"][0]["summary"]["requests"] > 0
    # By hand, too.
    loop = place.mount("--fs=none")["loop"]
    subprocess.run(["losetup", "--detach", loop], check=True)


def test_a_mount_that_ends_does_not_take_the_loop_device_of_the_next(place: Place) -> None:
    """A detached loop device is reused at once, while its old record still exists."""
    made = place.mount("--fs=none")
    own = Process.of(os.getpid())
    mount = str(place.directory)  # found first is "mount-0"
    ending = State("mount-0", mount, supervisor=own, loop=made["loop"], number="0:0")
    ending.save()
    try:
        assert not system.is_attached(made["loop"], ending.point)
        assert list(system.loops_on("0:0", ending.point, made["loop"])) == []
        about = os.stat(made["fuse"]).st_dev  # noqa: PTH116
        reused = f"{os.major(about)}:{os.minor(about)}"
        assert list(system.loops_on(reused, ending.point, made["loop"])) == []
        assert list(system.loops_on(reused, Path(made["fuse"]).parent, None)) == [made["loop"]]
        assert place.umount(made["loop"])
    finally:
        ending.remove()
    assert not system.is_attached(made["loop"], Path(made["fuse"]).parent)


def test_a_plain_umount_during_umount(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(point: str, **_options: bool) -> None:
        subprocess.run(["umount", point], check=True)
        unmount(point)

    place.mount("--fs=ext4")
    unmount = system.unmount
    monkeypatch.setattr(system, "unmount", too_late)
    assert place.umount()
    assert not place.is_mounted


def test_in_the_foreground_ctrl_c_ends_it(place: Place) -> None:
    words = ["mount", f"--device={place.device}", "--foreground", str(place.directory)]
    process = subprocess.Popen(
        [sys.executable, "-m", "sledsim", *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(4)]
    assert lines[0].strip() == f"{place.device}, 536.9 MB: a new ext4 on {place.directory}"
    assert lines[-1] == "Ctrl-C ends it\n"
    assert place.is_mounted
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=LONG_S)
    assert process.returncode == 0
    assert "late by p50 us" in out
    assert not place.is_mounted


def test_nothing_is_overwritten_silently(place: Place) -> None:
    place.mount("--fs=ext4")
    written = plant(place.directory, 5)
    place.umount()
    words = ("mount", f"--device={place.device}", f"--file={place.file}", str(place.directory))
    assert "holds ext4, not xfs; --mkfs makes a new xfs" in place.refused(*words, "--fs=xfs")
    made = place.mount("--read-only")
    assert found(place.directory) == written
    with pytest.raises(OSError, match="Read-only"):
        (place.directory / "x").write_bytes(b"x")
    # One server to a backing file.
    message = place.refused(*words[:3], "--fs=none")
    assert "disk.img: is in use by another server" in message
    assert "is mounted already by sledsim" in place.refused(*words)
    place.umount()
    assert made["options"] == "ro"
    place.mount("--mkfs")
    assert found(place.directory) == {}
    place.umount()
    # Data that are no file system.
    with place.file.open("r+b") as file:
        file.truncate(0)
        file.truncate(536_870_912)
        file.seek(12345678)
        file.write(b"precious")
    assert "no file system that is known; --mkfs overwrites it" in place.refused(*words)
    assert not place.is_mounted


@needs_xfs
def test_refusals(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device, directory = f"--device={place.device}", str(place.directory)
    small = tmp_path / "small.toml"
    small.write_text(DEVICE.replace("1_048_576", "204_800"), encoding="utf-8")
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").touch()
    for words, says in [
        ([device, str(tmp_path / "none")], "none: No such file or directory; give an empty folder"),
        ([device, str(small)], "small.toml: Not a directory; give an empty folder"),
        ([device, str(full)], "full: is not empty"),
        ([device, "/proc"], "/proc: is a mount point already, of proc"),
        ([device], "give an empty folder, or --fs none"),
        ([device, "--fs=none", directory], "DIR: --fs none gives a block device alone"),
        ([device, "--fs=ntfs", directory], "unknown name 'ntfs'; did you mean 'btrfs'?"),
        (["--device=g9", directory], "unknown device 'g9'"),
        ([device, "--speed=0", directory], "speed = 0: must be from"),
        ([device, "--file=/none/d.img", directory], "/none/d.img: No such file"),
        ([f"--device={small}", "--fs=xfs", directory], "too few for xfs, which needs 314572800"),
        ([device, "--options=colour=red", directory], "mount: "),
        ([device, "--read-only", directory], "none can be made on a read-only device"),
        (["--device=g2", "--set=rate=5", directory], "must begin with device., scheduler."),
    ]:
        assert says in place.refused("mount", *words), words
        assert not place.is_mounted
    assert "give a directory or a loop device, or --all" in place.refused("umount")
    assert "sledsim has not mounted that" in place.refused("umount", directory)
    monkeypatch.setenv("PATH", str(tmp_path))
    message = place.refused("mount", device, directory)
    assert "losetup is missing: install the package mount" in message
    for name in ("losetup", "blkid", "mount", "umount", "sync"):
        (tmp_path / name).touch(mode=0o700)
    message = place.refused("mount", device, "--fs=btrfs", directory)
    assert "mkfs.btrfs is missing: install the package btrfs-progs" in message
