"""Served devices as files, from Python: mappings, users without rights, servers that die."""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
import sledsim as ss
from sledsim.emulator import DataRecording, Export

from tests.mounted import mounts, needs_fuse
from tests.served import Command, Serve
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = needs_fuse

GONE = {errno.EIO, errno.ENOTCONN, errno.ECONNABORTED}


@pytest.fixture
def point(tmp_path: Path) -> Iterator[Path]:
    point = tmp_path / "devices"
    point.mkdir()
    yield point
    assert str(point) not in mounts()


def test_an_export_is_a_file(point: Path) -> None:
    memory = ss.device("memory")
    with ss.serve([memory, Export(device="g2", read_only=True)], fuse=point) as server:
        assert sorted(os.listdir(point)) == ["g2", "memory"]  # noqa: PTH208
        file = point / "memory"
        assert file.stat().st_size == memory.blocks * 512
        with file.open("r+b", buffering=0) as device:
            assert device.write(b"sledsim") == 7
            device.seek(0)
            assert device.read(9) == b"sledsim\0\0"
            # Pages that are shared would be written without the device: refused. Private ones work.
            with pytest.raises(OSError) as refused:  # noqa: PT011 (the number says it)
                mmap.mmap(device.fileno(), 4096)
            assert refused.value.errno == errno.ENODEV
            with mmap.mmap(device.fileno(), 4096, mmap.MAP_PRIVATE) as pages:
                assert pages[:7] == b"sledsim"
        with pytest.raises(OSError, match="Read-only file system"):
            (point / "g2").open("r+b")
        assert server.is_alive
        subprocess.run(["umount", str(point)], check=True)
        assert not server.is_alive


SYNCHRONOUS = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
int main(int count, char **words) {
    char block[512] = {1};
    struct iovec data = {block, sizeof block};
    int plain = open(words[1], O_WRONLY);
    int kinds[] = {plain, open(words[1], O_WRONLY | O_DSYNC), open(words[1], O_WRONLY | O_SYNC)};
    for (int kind = 0; kind < 3; kind++)
        if (pwrite(kinds[kind], block, 512, 512 * kind) != 512) return 1;
    if (pwritev2(plain, &data, 1, 512 * 3, RWF_DSYNC) != 512) return 1;
    return pwritev2(plain, &data, 1, 512 * 4, RWF_SYNC) != 512;
}
"""
"""Writes blocks 0 to 4, as the headers of the C library name the ways."""


def write_by_c(file: Path, folder: Path) -> None:
    source, program = folder / "writes.c", folder / "writes"
    source.write_text(SYNCHRONOUS, encoding="utf-8")
    subprocess.run(["cc", "-Wall", "-Werror", "-o", program, source], check=True)
    subprocess.run([program, file], check=True)


def write_by_python(file: Path, _: Path) -> None:
    block = bytes(512)
    for number, flags in enumerate((0, os.O_DSYNC, os.O_SYNC)):
        opened = os.open(file, os.O_WRONLY | flags)
        assert os.pwrite(opened, block, 512 * number) == 512
        if not flags:
            assert os.pwritev(opened, [block], 512 * 3, os.RWF_DSYNC) == 512
            assert os.pwritev(opened, [block], 512 * 4, os.RWF_SYNC) == 512
        os.close(opened)


@pytest.mark.parametrize("write", [write_by_python, write_by_c])
def test_synchronous_writes_are_promised(
    write: Callable[[Path, Path], None], serve: Serve, point: Path, tmp_path: Path
) -> None:
    """By the numbers that Python and the C library know, not by those of the server."""
    recording = tmp_path / "recording"
    server = serve.at("atlas10k", fuse=point, name="d", speed=100, record_data=recording)
    write(point / "d", tmp_path)
    server.stop()
    rows = pa.table(DataRecording.load(recording).rows)
    found = dict(zip(rows["lbn"].to_pylist(), rows["fua"].to_pylist(), strict=True))
    assert found == {0: False, 1: True, 2: True, 3: True, 4: True}


def test_a_file_as_the_mount_point(tmp_path: Path) -> None:
    point = tmp_path / "disk"
    point.touch()
    with ss.serve("g2", fuse=point):
        assert point.stat().st_size == ss.device("g2").blocks * 512
        data = os.urandom(10_000)
        with point.open("r+b") as file:
            file.seek(12_345)
            file.write(data)
        with point.open("rb") as file:
            file.seek(12_345)
            assert file.read(10_000) == data
    assert point.stat().st_size == 0


SCRIPT = """
import os, sys
import sledsim as ss
point = sys.argv[1]
assert os.geteuid() == 65534
server = ss.serve("memory", fuse=point)
with open(f"{point}/memory", "r+b", buffering=0) as file:
    file.write(b"mine")
    print(os.stat(f"{point}/memory").st_uid, flush=True)
    sys.stdin.readline()
    server.stop()  # while it is open
    try:
        file.write(b"no more")
    except OSError as error:
        print(error.errno)
with open("/proc/self/mounts") as mounts:
    print(point in mounts.read())
"""

# /dev/fuse is for everybody on most machines; in a name space of its own it is so on all.
EVERYBODY = """
mknod -m 666 "$1/fuse" c 10 229 && mount --bind "$1/fuse" /dev/fuse && shift &&
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
"""


def test_without_root() -> None:
    """An ordinary user mounts through fusermount3, for himself; busy, it ends all the same."""
    for program in ("fusermount3", "setpriv", "unshare"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is missing")
    ours = ["setpriv", "--reuid=65534", sys.executable, "-c", "import sledsim"]
    if subprocess.run(ours, capture_output=True, check=False).returncode != 0:
        pytest.skip("an ordinary user cannot read this checkout")
    with tempfile.TemporaryDirectory() as folder:  # pytest's folders are closed to others
        point = Path(folder) / "mnt"
        point.mkdir()
        for path in (folder, point):
            os.chown(path, 65534, 65534)
        become = ["unshare", "--mount", "sh", "-c", EVERYBODY, "sh", folder]
        pipe = subprocess.PIPE
        server = subprocess.Popen(
            [*become, sys.executable, "-c", SCRIPT, str(point)],
            # An ordinary user may not write the data of `make coverage`.
            env={k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")},
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )
        assert server.stdout is not None
        first = server.stdout.readline()
        # Not even root sees the mounts of a user.
        with pytest.raises(PermissionError):
            Path("/proc", str(server.pid), "root", str(point).lstrip("/"), "memory").stat()
        out, errors = server.communicate("\n", timeout=LONG_S)
        assert (first, errors) == ("65534\n", "")
        error, is_mounted = out.split()
        assert int(error) in GONE
        assert is_mounted == "False"


@pytest.mark.usefixtures("runtime")
def test_a_killed_server_is_replaced(point: Path) -> None:
    server = Command("--device=g2", f"--fuse={point}").process
    with (point / "g2").open("rb", buffering=0) as file:
        server.kill()
        server.communicate()
        with pytest.raises(OSError) as gone:  # noqa: PT011
            file.read(512)
        assert gone.value.errno in GONE
    with pytest.raises(OSError, match="Transport endpoint is not connected"):
        os.listdir(point)  # noqa: PTH208
    with ss.serve("g2", fuse=point):
        assert (point / "g2").exists()
