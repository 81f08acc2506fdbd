"""SQLite: a program with its database in a file, as in a telephone or a browser."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sledsim.applications.application import Application, Key, Ran
from sledsim.applications.processes import pinned, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOAD = Path(__file__).with_name("sqlite_load.py")


class Sqlite(Application):
    """Small transactions in one file, each durable before the next."""

    name = "sqlite"
    title = "SQLite"
    about = (
        "Each transaction changes one record at random and adds one; synchronous = full, and a "
        "journal that is deleted or, with wal = 1, a log that is written ahead. On ext4, cold."
    )
    keys: ClassVar = {
        "rows": Key(100_000, 1, 100_000_000, "records at the beginning, of 100 bytes each"),
        "transactions": Key(300, 1, 10_000_000, "transactions"),
        "wal": Key(0, 0, 1, "1 for a log that is written ahead"),
        "cache_kib": Key(2000, 100, 1 << 22, "KiB of SQLite's own cache"),
        "seed": Key(42, 0, 2**31 - 1, "seed of its random numbers"),
    }
    file_system = "ext4"
    mount_options = ""
    programs: ClassVar = {}

    def fill(self, folder: Path) -> None:
        """Make the table."""
        self._run("fill", folder)

    @contextmanager
    def started(self, folder: Path) -> Iterator[Callable[[], Ran]]:
        """Give the run: a program that opens the database and does all transactions."""

        def ran() -> Ran:
            said, compute_s = self._run("work", folder)
            return Ran(compute_s, json.loads(said))

        yield ran

    def _run(self, what: str, folder: Path) -> tuple[str, float]:
        told = json.dumps(self.values | {"file": str(folder / "records.db")})
        return run("sqlite", [sys.executable, "-I", str(_LOAD), what, told], **pinned())
