"""Statistics of the device during a run of an application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    known: dict[str, list[Any]] = {name: rows[name].to_pylist() for name in columns}
    late = (
        rows["lateness_ns"].to_pylist() if "lateness_ns" in rows.column_names else [0] * len(rows)
    )
    ops = dict.fromkeys(("read", "write", "flush"), 0)
    blocks = hits = response_ns = 0
    spans = []
    first, last = None, 0
    for index in range(len(rows)):
        op, arrival = known["op"][index], known["arrival_ns"][index]
        completion = known["completion_ns"][index]
        ops[op] = ops.get(op, 0) + 1
        spans.append((arrival, completion))
        first = arrival if first is None else min(first, arrival)
        last = max(last, completion + late[index])
        if op in ("read", "write"):
            blocks += known["blocks"][index]
            response_ns += completion - arrival
        if op == "read":
            hits += not any(known[name][index] for name in _MOVES)
    accesses = ops["read"] + ops["write"]
    busy_s = _covered(spans) / 1e9
    return Facts(
        requests=len(rows),
        reads=ops["read"],
        writes=ops["write"],
        flushes=ops["flush"],
        mean_blocks=blocks / accesses if accesses else None,
        response_ms=response_ns / accesses / 1e6 if accesses else None,
        busy_s=busy_s,
        access_ms=busy_s / accesses * 1e3 if accesses else None,
        read_hits=hits / ops["read"] if ops["read"] else None,
        duration_s=(last - (first or 0)) / 1e9,
    )


def _covered(spans: list[tuple[int, int]]) -> int:
    """Return how much of the time at least one span covers."""
    covered, end = 0, 0
    for begin, until in sorted(spans):
        covered += max(until - max(begin, end), 0)
        end = max(end, until)
    return covered
