"""Shapes of public trace files, as a few invented lines each; and requests in any format."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_READ, _WRITE, _FLUSH = "read", "write", "flush"


class Shape(NamedTuple):
    """A file, the options it needs, and the requests in it."""

    text: str
    hint: str | None
    """Part of what is said without the options; a caution, if the file is read."""
    options: dict[str, str]
    requests: list[tuple[int, str, int, int]]
    """Time in ns, operation, first byte and length."""


_BIOSNOOP = """\
Tracing block device I/O... Hit Ctrl-C to end.
TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)
5.000000    jbd2/vda2      211    vda     W 16         8192      0.91
5.001204    postgres       3120   vda     R 24         8192      1.15
5.001310    postgres       3121   vda     R 32         16384     9.80
5.020015    fsync          992    vda     FF 0         0         2.10
"""
_OF_BIOSNOOP = (
    '"TIME(s)":s, offset=SECTOR:512B, bytes=BYTES:B, op=T, device=DISK, response="LAT(ms)":ms'
)

SHAPES = {
    "five columns in seconds": Shape(
        "242.504709548 0 264719034 16 0\n"
        "242.518310127 0 264719050 16 0\n"
        "242.531117733 0 52011264 8 1\n",
        "each time was read in ms, but may be in s: times have digits below 1 ns",
        {"time_unit": "s"},
        [
            (242_504_709_548, _WRITE, 264_719_034 * 512, 8192),
            (242_518_310_127, _WRITE, 264_719_050 * 512, 8192),
            (242_531_117_733, _READ, 52_011_264 * 512, 4096),
        ],
    ),
    "completions, below a preamble": Shape(
        _BIOSNOOP,
        f"--columns '?={_OF_BIOSNOOP}' (guessed",
        {"columns": f"completion={_OF_BIOSNOOP}"},
        [
            (4_991_510_000, _READ, 16_384, 16_384),
            (4_999_090_000, _WRITE, 8192, 8192),
            (5_000_054_000, _READ, 12_288, 8192),
            (5_017_915_000, _FLUSH, 0, 0),
        ],
    ),
    "arrivals with a response": Shape(
        _BIOSNOOP,
        None,
        {"columns": f"time={_OF_BIOSNOOP}"},
        [
            (5_000_000_000, _WRITE, 8192, 8192),
            (5_001_204_000, _READ, 12_288, 8192),
            (5_001_310_000, _READ, 16_384, 16_384),
            (5_020_015_000, _FLUSH, 0, 0),
        ],
    ),
    "one code per operation": Shape(
        "0.1,0,4096,1\n0.2,4096,4096,3\n0.3,8192,512,5\n0.4,65536,4096,6\n",
        '--columns "time=?:?, offset=?:?, bytes=?:?, op=?',
        {"columns": "time=1:s, offset=2:B, bytes=3:B, op=4:1|2|5/3|4|6"},
        [
            (100_000_000, _READ, 0, 4096),
            (200_000_000, _WRITE, 4096, 4096),
            (300_000_000, _READ, 8192, 512),
            (400_000_000, _WRITE, 65_536, 4096),
        ],
    ),
    "dates, hexadecimal numbers, letters of blktrace": Shape(
        "when,device,addr,len,rwbs\n"
        "2024-01-15 10:30:45.123456,0,0x2c1a0e0000,0x1000,WFS\n"
        "2024-01-15T10:30:45.125Z,0,0x2c1a0e1000,0x2000,RAM\n"
        "2024-01-15 11:30:46+01:00,0,0x10000,0x1000,FWSM\n",
        '"time=when:date, origin=first, offset=addr:B, bytes=len:B, op=rwbs, device=device"',
        {"columns": "time=when:date, origin=first, offset=addr:B, bytes=len:B, op=rwbs"},
        [
            (0, _WRITE, 189_415_686_144, 4096),
            (1_544_000, _READ, 189_415_690_240, 8192),
            (876_544_000, _WRITE, 65_536, 4096),
        ],
    ),
    "a header that begins with #": Shape(
        "# time_us, op, offset, bytes\n1, read, 0, 512\n20, write, 512, 1024\n30, r, 4096, 512\n",
        '"time=time_us:us, offset=offset:B, bytes=bytes:B, op=op"',
        {"columns": "time=time_us:us, offset=offset:B, bytes=bytes:B, op=op"},
        [(1000, _READ, 0, 512), (20_000, _WRITE, 512, 1024), (30_000, _READ, 4096, 512)],
    ),
    "events of several kinds, below their headers": Shape(
        "BeginHeader\n"
        "DiskRead,  TimeStamp, Process Name (PID), ByteOffset, IOSize, DiskNum\n"
        "FileIoRead, TimeStamp, Process\n"
        "EndHeader\n"
        "DiskRead, 1200, app.exe (88), 0x00000c0000, 0x00001000, 0\n"
        "FileIoRead, 1250, app.exe\n"
        "DiskWrite, 2100, app.exe (88), 0x00000d0000, 0x00002000, 0\n",
        '--columns "time=?:?, offset=?:?, bytes=?:?, op=?, skip=4',
        {
            "columns": "time=2:us, offset=4:B, bytes=5:B, op=1:DiskRead/DiskWrite, device=6, "
            "only=1:DiskRead|DiskWrite, skip=4"
        },
        [(1_200_000, _READ, 0xC0000, 4096), (2_100_000, _WRITE, 0xD0000, 8192)],
    ),
    "two logs of fio": Shape(
        "fio version 3 iolog\n0 f add\n1 f open\n10 f read 0 4096\n"
        "fio version 3 iolog\n0 g add\n10 g write 0 4096\n",
        ":5: a second log begins here, of another job (numjobs)",
        {},
        [],
    ),
}

KINDS = {
    "blktrace": (b"\x07taea" + bytes(40), "blktrace's binary: run blkparse"),
    "blktrace of a big-endian host": (b"ea\x74\x07" + bytes(40), "blktrace's binary"),
    "perf": (b"PERFILE2" + bytes(96), "perf's data: run perf script"),
    "tar": (b"a.csv".ljust(257, b"\0") + b"ustar\x0000" + bytes(250), "a tar archive: unpack it"),
    "compress": (b"\x1f\x9d\x90ab", "data of compress (.Z)"),
    "zip": (b"PK\x03\x04\x14\0\0\0\x08\0" + bytes(16) + b"a.csv", "a zip archive: unpack it"),
    "xlsx": (b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml", "an Excel workbook (.xlsx)"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\x04", "a 7z archive: unpack it"),
    "pcap": (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", "a network capture (pcap)"),
    "pcapng": (b"\n\r\r\n\x1c\0\0\0\x4d\x3c\x2b\x1a", "a network capture (pcap)"),
    "a page": (b"<!DOCTYPE html><title>404</title>", "a page of HTML: the download may have"),
}
"""First bytes of files that are no traces, and what is said."""


Request = tuple[int, str, int, int, int, int]
"""Time in ns, operation, first byte, length, response in ns, and device."""


class Format(NamedTuple):
    """A text format: the units of its numbers, and a line of it."""

    units: tuple[str, str, str]
    line: str
    words: tuple[str, str] = ("R", "W")
    head: str = ""

    def text(
        self,
        requests: Iterable[Request],
        units: tuple[str, ...] = (),
        *,
        whole: bool,
        since_s: int = 0,
    ) -> str:
        """Write requests in these units, or its own; ``whole`` rounds times to whole ones."""
        time, place, length = units or self.units

        def spelt(ns: int) -> str:
            exact = Decimal(ns) / FACTORS[time]
            return str(round(exact)) if whole else f"{exact:f}"

        lines = (
            self.line.format(
                t=spelt(at + since_s * 10**9),
                op=self.words[op == "write"],
                p=round(Decimal(start) / SIZES[place]),
                n=round(Decimal(size) / SIZES[length]),
                r=spelt(took),
                d=device,
            )
            for at, op, start, size, took, device in requests
        )
        return self.head + "\n".join(lines) + "\n"


FACTORS = {"s": 10**9, "ms": 10**6, "us": 1000, "100ns": 100, "ns": 1}
SIZES = {"B": 1, "512B": 512, "KiB": 1024}
FORMATS = {
    "disksim_ascii": Format(("ms", "512B", "512B"), "{t} {d} {p} {n} {op}", ("1", "0")),
    "mqsim": Format(("ns", "512B", "512B"), "{t} {d} {p} {n} {op}", ("1", "0")),
    "spc": Format(("s", "512B", "B"), "{d},{p},{n},{op},{t}"),
    "msr": Format(("100ns", "B", "B"), "{t},src,{d},{op},{p},{n},{r}", ("Read", "Write")),
    "systor": Format(("s", "B", "B"), "{t},{r},{op},{d},{p},{n}"),
    "alibaba": Format(("us", "B", "B"), "{d},{op},{p},{n},{t}"),
    "tencent": Format(("s", "512B", "512B"), "{t},{p},{n},{op},{d}", ("0", "1")),
    "blkparse": Format(("s", "512B", "512B"), "8,{d} 1 7 {t} 99 Q {op} {p} + {n} [x]"),
    "fio_iolog": Format(
        ("us", "B", "B"), "{t} f{d} {op} {p} {n}", ("read", "write"), "fio version 3 iolog\n"
    ),
}
WHOLE = {"mqsim", "msr", "alibaba", "tencent", "fio_iolog"}
"""Formats whose times are whole numbers."""
DATED = {"systor": 0, "alibaba": 0, "tencent": 0, "msr": 11_644_473_600}
"""Formats whose times are dates: seconds from their origin to 1970."""
