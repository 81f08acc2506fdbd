"""Files that cases read: written once, below `out/bench`, and the same on every machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FOLDER = Path("out/bench/inputs")


def place(index: int) -> int:
    """Return a block of g2, by a multiplicative sequence."""
    return index * 2654435761 % 6_749_000


LINES: dict[str, Callable[[int], str]] = {
    "disksim_ascii": lambda i: (
        f"{i * 2000003 // 1000000}.{i * 2000003 % 1000000:06d} 0 {place(i)} 8 {i & 1}\n"
    ),
    "mqsim": lambda i: f"{i * 2000003} 0 {place(i)} 8 {i & 1}\n",
    "disksim_validate": lambda i: f"{'RW'[i & 1]} Hit {place(i):>9} 8 663.0000 {i % 50000}.0\n",
    "fio_iolog": lambda i: (
        f"{i * 2000} /dev/sda {('read', 'write')[i & 1]} {512 * place(i)} 4096\n"
    ),
    "blkparse": lambda i: (
        f"  8,0    1 {i:8d} {i // 500:5d}.{i % 500 * 2000000:09d}  1234  {'QGID'[i & 3]}"
        f"  {'RW'[i & 1]} {place(i)} + 8 [cat]\n"
    ),
    "csv": lambda i: (
        f"{i // 500}.{i % 500 * 2000000:09d},sda,{'RW'[i & 1]},{512 * place(i)},4096\n"
    ),
}
"""The lines of each text format, by their index."""
HEADS = {"fio_iolog": "fio version 3 iolog\n", "csv": "s,device,op,byte,bytes\n"}


def trace(trace_format: str, lines: int) -> Path:
    """Return a trace of so many lines: one request of 4 KiB every 2 ms."""
    path = FOLDER / f"{trace_format}-{lines}.{trace_format.rpartition('_')[2]}"
    line = LINES[trace_format]
    return written(path, [HEADS.get(trace_format, ""), *map(line, range(lines))])


COLUMNS = "time=s:s, offset=byte:B, bytes=bytes:B, op=op, device=device"
"""The columns of the CSV."""


def array(kind: str, children: int) -> Path:
    """Return the file of a device: an array of so many sleds."""
    keys = f'kind = "{kind}"\nchildren = {children}\nunit_blocks = 128\n[child]\nbase = "g2"\n'
    return written(FOLDER / f"{kind}-{children}.toml", [keys])


def written(path: Path, lines: Iterable[str]) -> Path:
    """Write a file unless it is there: whole, or not at all."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        unfinished.write_text("".join(lines), encoding="ascii")
        unfinished.replace(path)
    return path
