"""Journals of file systems: where they lie, and whether they hold anything."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.emulator.mounting import system

if TYPE_CHECKING:
    from pathlib import Path

    from sledsim.programs.spans import Span

_JBD2_MAGIC = 0xC03B_3998


def of_ext4(image: Path) -> list[Span]:
    """Return where the journal of an ext4 lies."""
    block = struct.unpack_from("<I", _read(image, 1024, 1024), 24)[0]
    size = 1024 << block
    done = system.run_to_end("debugfs", "-R", "dump_extents -l <8>", str(image))
    spans = []
    for line in done.stdout.splitlines()[1:]:
        # level/levels, entry/entries, first - last logical, first - last physical, length
        fields = line.replace("/", " ").replace("-", " ").split()
        if len(fields) >= 8 and all(field.isdecimal() for field in fields[:8]):
            first, last = int(fields[6]), int(fields[7])
            spans.append((first * size, (last + 1) * size))
    if not spans:
        raise SledsimError(
            f"{image}: debugfs does not tell where the journal is: {done.stderr.strip()}"
        )
    return spans


def of_xfs(image: Path) -> Span:
    """Return where the log of an xfs lies."""
    head = _read(image, 0, 512)
    if head[:4] != b"XFSB":
        raise SledsimError(f"{image}: has no superblock of xfs")
    (size,) = struct.unpack_from(">I", head, 4)
    (start,) = struct.unpack_from(">Q", head, 48)
    group_blocks, _, _, blocks = struct.unpack_from(">IIII", head, 84)
    shift = head[124]
    first = (start >> shift) * group_blocks + (start & ((1 << shift) - 1))
    return first * size, (first + blocks) * size


def holds_transactions(image: Path, journal: list[Span]) -> bool:
    """Return whether a journal of ext4 has a transaction that is not written back.

    Its first block tells where the log begins; there stands a block of the journal with the number
    that is expected, if anything was logged after that.
    """
    begin, _ = journal[0]
    try:
        head = _read(image, begin, 4096)
        size, _, _, sequence, start = struct.unpack_from(">IIIII", head, 12)
        if not start or not size:
            return False
        place = start * size
        for first, last in journal:
            if place < last - first:
                magic, _, found = struct.unpack_from(">III", _read(image, first + place, 4096))
                return bool(magic == _JBD2_MAGIC and found == sequence)
            place -= last - first
    except (OSError, struct.error):  # a block of it is unreadable: the mount will tell
        return True
    return False


def _read(image: Path, at: int, count: int) -> bytes:
    with image.open("rb", buffering=0) as file:
        file.seek(at)
        return file.read(count)
