"""The device of the report, by the set-up of the paper, and reads on it without tables."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import hardware
from sledsim.hardware import Device, Sled
from sledsim.loads import read_trace
from sledsim.papers import run_of
from sledsim.results.summaries import Summary
from sledsim.simulation import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledsim.papers import Setup

Read = tuple[float, int, int, int, bool]
"""Arrival (us), host, first LBN, blocks, and whether the host's next one is of the same batch."""


def memstore(setup: Setup, **keys: object) -> Sled:
    """Return the device of a set-up, with other keys if need be."""
    own: dict[str, Any] = setup["device"] | keys
    device: Sled = hardware.device(own.pop("base"), **own)
    return device


def run(reads: Iterable[Read], device: Device, depth: int | None = None) -> Run:
    """Serve reads as they arrive; with a depth, each when fewer than that are outstanding."""
    lines = ["us,host,lbn,blocks,linked"]
    lines += [
        f"{at:.3f},{host},{lbn},{blocks},{int(more)}" for at, host, lbn, blocks, more in reads
    ]
    columns = "time=us:us, device=host, offset=lbn:512B, bytes=blocks:512B, op=:read, linked=linked"
    keys = {"time_origin": "file"} if depth is None else {"queue_depth": depth}
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "reads.csv"
        trace.write_text("\n".join(lines) + "\n", encoding="ascii")
        load = read_trace(trace, columns=columns, trace_device="all", **keys)
        return run_of(load, device)


def times_ns(run: Run) -> list[tuple[int, int]]:
    """Return when the sled began to move for each read and when it was complete, in their order."""
    import pyarrow as pa  # an extra

    rows = pa.table(run.rows).sort_by("id")
    return list(zip(rows["start_ns"].to_pylist(), rows["completion_ns"].to_pylist(), strict=True))


def replay(blocks: Iterable[tuple[int, int, bool]], device: Device, depth: int = 1) -> Summary:
    """Return the summary of a closed replay of reads (LBN, blocks, linked), so many at a time."""
    reads = ((at, 0, lbn, count, more) for at, (lbn, count, more) in enumerate(blocks))
    return run(reads, device, depth).summary
