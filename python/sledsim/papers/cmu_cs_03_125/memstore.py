"""The device of the report, by the set-up of the paper, and closed replays of reads on it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim.papers import run_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledsim.papers import Setup

Command = tuple[int, int, bool]
"""First LBN, blocks, and whether the next command belongs to the same batch."""


def memstore(setup: Setup, **keys: object) -> ss.Sled:
    """Return the device of a set-up, with other keys if need be."""
    own = setup["device"] | keys
    return ss.device(own.pop("base"), **own)


def replay(commands: Iterable[Command], device: ss.Sled) -> dict[str, Any]:
    """Return the summary of reads, each handed over when the one before is complete."""
    lines = ["us,lbn,blocks,linked"]
    lines += [f"{at},{lbn},{blocks},{int(more)}" for at, (lbn, blocks, more) in enumerate(commands)]
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "reads.csv"
        trace.write_text("\n".join(lines) + "\n", encoding="ascii")
        columns = "time=us:us, offset=lbn:512B, bytes=blocks:512B, op=:read, linked=linked"
        load = ss.read_trace(trace, columns=columns, queue_depth=1)
        summary: dict[str, Any] = run_of(load, device, requests=False).summary
    return summary
