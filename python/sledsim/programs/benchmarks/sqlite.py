"""SQLite with a database on each device."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from sledsim.programs.keys import PlainNumber
from sledsim.programs.processes import pinned, run
from sledsim.programs.program import Benchmark, Ran
from sledsim.programs.sqlite import SqliteProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Sqlite(SqliteProgram, Benchmark):
    """Small transactions in one file, each durable before the next."""

    about = (
        "Each transaction changes one record at random and adds one; synchronous = full, and a "
        "journal that is deleted or, with wal = 1, a log that is written ahead. On ext4, cold."
    )
    keys: ClassVar = {
        "rows": PlainNumber(100_000, 1, 100_000_000, "records at the beginning, of 100 bytes each"),
        "transactions": PlainNumber(300, 1, 10_000_000, "transactions"),
        "wal": PlainNumber(0, 0, 1, "1 for a log that is written ahead"),
        "cache_kib": PlainNumber(2000, 100, 1 << 22, "KiB of SQLite's own cache"),
        "seed": PlainNumber(42, 0, 2**31 - 1, "seed of its random numbers"),
    }

    def fill(self, place: Path) -> None:
        """Make the table."""
        journal = "wal" if self.values["wal"] else "delete"
        run("sqlite", self.command("fill", place, journal=journal, page_size=4096), **pinned())

    @contextmanager
    def start(self, place: Path) -> Iterator[Callable[[], Ran]]:
        """Give the run: a program that opens the database and does all transactions."""

        def ran() -> Ran:
            said, compute_s = run("sqlite", self.command("measure", place), **pinned())
            return Ran(compute_s, json.loads(said))

        yield ran
