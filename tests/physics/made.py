"""Disks of data sheets, and loads request by request."""

from __future__ import annotations

from typing import Any

import sledsim as ss

SHEET: dict[str, Any] = {
    "capacity_tb": 22,
    "platters": 10,
    "rpm": 7200,
    "outer_mb_s": 291,
    "inner_mb_s": 145,
    "seek_track_ms": 0.25,
    "seek_average_ms": 7.6,
    "seek_full_ms": 15,
}


def sheet_disk(**changed: Any) -> ss.Disk:
    """Make a disk of the sheet, with some numbers changed."""
    return ss.disk(**(SHEET | changed))


def requests(*given: tuple[float, int, int, str]) -> ss.Load:
    """Make a load of requests: ms, LBN, blocks, op."""
    rows = [dict(zip(("ms", "lbn", "n", "op"), one, strict=True)) for one in given]
    return ss.read_trace(rows, columns="time=ms:ms, offset=lbn:512B, bytes=n:512B, op=op")
