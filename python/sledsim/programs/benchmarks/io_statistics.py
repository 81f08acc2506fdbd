"""Statistics of the device during a run of an application."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim.programs.spans import union

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Facts:
    """Statistics of the requests of a run, in time of the device."""

    requests: int
    reads: int
    writes: int
    flushes: int
    mean_blocks: float | None
    """Of reads and writes, in blocks of 512 bytes."""
    response_ms: float | None
    """The mean of reads and writes, from arrival to completion."""
    busy_s: float
    """Time with a request in the device."""
    access_ms: float | None
    """`busy_s` for each read or write: the cost of one for a program that waits for each."""
    read_hits: float | None
    """Share of reads served from a buffer, without media access."""
    duration_s: float
    """From the first arrival to the last answer."""


_MOVES = ("seek_ns", "settle_ns", "turnaround_ns", "rotation_ns", "head_switch_ns", "transfer_ns")


def facts_of(rows: pa.Table) -> Facts:
    """Compute the statistics of the rows of a run, which are those of the host's requests."""
    columns = ["op", "blocks", "arrival_ns", "completion_ns", *_MOVES]
    late = ["lateness_ns"] if "lateness_ns" in rows.column_names else []
    each: list[dict[str, Any]] = rows.select([*columns, *late]).to_pylist()
    ops = Counter(row["op"] for row in each)
    accesses = [row for row in each if row["op"] in ("read", "write")]
    blocks = sum(row["blocks"] for row in accesses)
    response_ns = sum(row["completion_ns"] - row["arrival_ns"] for row in accesses)
    hits = sum(row["op"] == "read" and not any(row[name] for name in _MOVES) for row in accesses)
    spans = [(row["arrival_ns"], row["completion_ns"]) for row in each]
    busy_s = sum(end - begin for begin, end in union(spans)) / 1e9
    first = min((begin for begin, _ in spans), default=0)
    last = max((row["completion_ns"] + row.get("lateness_ns", 0) for row in each), default=0)
    count = len(accesses)
    return Facts(
        requests=len(each),
        reads=ops["read"],
        writes=ops["write"],
        flushes=ops["flush"],
        mean_blocks=blocks / count if count else None,
        response_ms=response_ns / count / 1e6 if count else None,
        busy_s=busy_s,
        access_ms=busy_s / count * 1e3 if count else None,
        read_hits=hits / ops["read"] if ops["read"] else None,
        duration_s=(last - first) / 1e9,
    )
