"""SQLite in its journal modes."""

from __future__ import annotations

import contextlib
import json
import subprocess
from typing import TYPE_CHECKING, Any, ClassVar

from sledsim.programs.crashes.outcomes import Verdict, counted
from sledsim.programs.crashes.watchdog import Watchdog
from sledsim.programs.keys import Choice, Number, refuse
from sledsim.programs.processes import ending_with_us, run
from sledsim.programs.program import CrashProgram
from sledsim.programs.sqlite import FILE, SqliteProgram

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sledsim.programs.crashes.outcomes import Inspection
    from sledsim.programs.keys import Value

_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""The first bytes of a rollback journal that is not finished."""


class Sqlite(SqliteProgram, CrashProgram):
    """Small transactions in one file; each changes some records and adds one."""

    about = (
        "Each transaction changes some records at random and adds one. The check opens the "
        "database, which recovers it, runs integrity_check and compares every record."
    )
    keys: ClassVar = {
        "journal": Choice(
            "delete",
            ("delete", "truncate", "persist", "wal", "memory", "off"),
            "journal_mode; memory and off do not survive a failure of power",
        ),
        "synchronous": Choice(
            "extra",
            ("extra", "full", "normal", "off"),
            "how often SQLite waits for the device; full loses a transaction if the power fails "
            "right after it, where the journal is deleted",
        ),
        "transactions": Number(100, 1, 1_000_000, "transactions"),
        "rows": Number(1000, 1, 10_000_000, "records at the beginning, of 100 bytes each"),
        "updates": Number(4, 0, 10_000, "records that a transaction changes"),
        "page_size": Number(4096, 512, 65_536, "bytes of a page, a power of two"),
        "checkpoint_pages": Number(50, 1, 1_000_000, "pages of a log that is copied back (wal)"),
        "seed": Number(42, 0, 2**31 - 1, "seed of what the transactions write"),
    }
    mib = 32
    data_files = (FILE,)
    log_files = (f"{FILE}-journal", f"{FILE}-wal")

    def __init__(self, given: Mapping[str, Value]) -> None:
        """As the base class; the size of a page must be a power of two."""
        super().__init__(given)
        size = self.number("page_size")
        if size & (size - 1):
            refuse(self.name, "page_size", size, "a power of two from 512 to 65,536")

    def fill(self, place: Path) -> None:
        """Make the table."""
        run("sqlite", self.command("fill", place))

    def run(self, place: Path, acknowledged: Path) -> None:
        """Do the transactions in a process of their own."""
        run("sqlite", self.command("work", place, acknowledged=str(acknowledged)))

    def check(self, place: Path, inspection: Inspection) -> Verdict:
        """Open the database and compare it with the state after each number of transactions."""
        inspection.had_work = _is_hot(place)
        found: dict[str, Any] | None = None
        pipe = subprocess.PIPE
        command = ending_with_us(self.command("check", place))
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            try:
                with Watchdog(inspection.patience_s, process.kill) as watch:
                    for line in process.stdout:
                        match line.strip():
                            case "opens":
                                inspection.begins()
                            case "recovered":
                                inspection.ends()
                            case told:
                                found = json.loads(told)
                    complaint = process.stderr.read()
            finally:
                process.kill()
        if watch.has_bitten:
            return inspection.hung()
        if found is None:
            said = " ".join(complaint.split()[-30:]) or f"ended with {process.returncode}"
            return Verdict("check_failed", said)
        if found["outcome"] is not None:
            return Verdict(found["outcome"], found["text"], found["transactions"])
        total = self.number("transactions")
        return counted(found["transactions"], inspection.count(), total)


def _is_hot(place: Path) -> bool:
    """Return whether there is a journal to roll back, or a log to read."""
    with contextlib.suppress(OSError), (place / f"{FILE}-journal").open("rb") as journal:
        if journal.read(len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC:
            return True
    with contextlib.suppress(OSError):
        return (place / f"{FILE}-wal").stat().st_size > 0
    return False
