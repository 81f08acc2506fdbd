"""Small files that would unpack to much, or declare much, are read within bounds or refused."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss

from tests.waiting import LONG_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRACE = b"".join(b"%d 0 %d 8 1\n" % (at, 8 * at) for at in range(100))
MIB = 1 << 20

CHILD = """
import sys
import sledsim as ss

def peak():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
try:
    print(ss.trace_info(sys.argv[1], format="disksim_ascii")["requests"])
except ss.SledsimError as error:
    print(error)
print((peak() - before) >> 10)
"""


def read(folder: Path, data: bytes) -> tuple[str, int]:
    """Read a trace in a process of its own; return what it says, and the MiB it took."""
    path = folder / "packed.trace"
    path.write_bytes(data)
    command = [sys.executable, "-c", CHILD, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG_S, check=True)
    said, _, mib = done.stdout.strip().rpartition("\n")
    return said, int(mib)


def xz(dictionary: int) -> bytes:
    """Compress the trace, declaring a dictionary by its code in the .xz format."""
    small = [{"id": lzma.FILTER_LZMA2, "dict_size": 4096}]
    file = bytearray(lzma.compress(TRACE, filters=small))
    header = slice(12, 12 + 4 * file[12])
    file[file.index(b"\x21\x01", 12) + 2] = dictionary
    file[header.stop : header.stop + 4] = struct.pack("<I", zlib.crc32(file[header]))
    return bytes(file)


def zstd(window: int, *, zeros: int = 0) -> bytes:
    """Frame the trace (RFC 8878), with a window of 2**window bytes, and so many MiB after it."""
    head = b"\x28\xb5\x2f\xfd\0" + bytes([(window - 10) << 3])
    block = struct.pack("<I", len(TRACE) << 3 | (not zeros))[:3] + TRACE
    run = struct.pack("<I", 131_072 << 3 | 1 << 1)[:3] + b"\n"
    last = struct.pack("<I", 1 << 3 | 1 << 1 | 1)[:3] + b"\n"
    return head + block + (run * (8 * zeros) + last if zeros else b"")


@pytest.mark.parametrize(
    "compress", [lzma.compress, gzip.compress, bz2.compress, lambda data: zstd(17) if data else b""]
)
def test_any_number_of_empty_streams_is_read(
    folder: Path, compress: Callable[[bytes], bytes]
) -> None:
    empty = compress(b"") or b"\x28\xb5\x2f\xfd\0\x38\1\0\0"
    said, mib = read(folder, empty * 20_000 + compress(TRACE) + empty * 20_000)
    assert said == "100"
    assert mib < 100


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (xz(40), "the xz data declare a dictionary of 4096 MiB: at most 256 MiB"),
        (xz(34), "the xz data declare a dictionary of 512 MiB: at most 256 MiB"),
        (zstd(28, zeros=400), "the zstd data declare a window of 256 MiB: at most 128 MiB"),
        (zstd(41, zeros=2000), "the zstd data declare a window of 2097152 MiB: at most 128 MiB"),
        (zstd(17) + zstd(41), "the zstd data declare a window of 2097152 MiB: at most 128 MiB"),
    ],
    ids=["xz 40", "xz 34", "zstd 28", "zstd 41", "two of zstd"],
)
def test_too_large_a_window_is_refused_before_memory_is_taken(
    folder: Path, data: bytes, says: str
) -> None:
    said, mib = read(folder, data)
    assert str(folder / "packed.trace") in said
    assert says in said
    assert mib < 100


@pytest.mark.parametrize(
    "data",
    [xz(28), xz(32), zstd(27), lzma.compress(TRACE, preset=9)],
    ids=str.split("xz28 xz32 zstd27 preset9"),
)
def test_the_largest_windows_allowed_are_read(folder: Path, data: bytes) -> None:
    assert read(folder, data)[0] == "100"


def test_a_page_of_parquet_has_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "page.parquet"
    count = 36 * MIB
    column = pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(bytes(8 * count))])
    groups: dict[str, Any] = dict.fromkeys(
        ("row_group_size", "write_batch_size", "max_rows_per_page"), count
    )
    kept = pa.table({"t": column})
    whole: dict[str, Any] = {"use_dictionary": False, "data_page_size": 1 << 30, **groups}
    pq.write_table(kept, path, compression="zstd", **whole)
    assert path.stat().st_size < MIB
    with pytest.raises(ss.SledsimError, match=r"page\.parquet.*claims to be 30\d{7} bytes"):
        ss.trace_info(path, columns="time=t:ns, offset=t:B, bytes=t:512B, op=t:0/1")
