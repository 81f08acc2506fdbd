"""PostMark: many small files, as a mail server has them (Katcher, TR3022, 1997)."""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from sledsim._core import SledsimError
from sledsim.programs.keys import PlainNumber, refuse
from sledsim.programs.processes import pinned, run
from sledsim.programs.program import Benchmark, Ran

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from sledsim.programs.keys import Value

_FIGURES = {
    "seconds": r"Time:\s+(\d+) seconds total",
    "transactions_s": r"(\d+) seconds of transactions",
    "files_created": r"(\d+) created",
    "files_read": r"(\d+) read \(",
    "files_appended": r"(\d+) appended",
    "files_deleted": r"(\d+) deleted",
}
"""Figures of its report, by pattern."""


class PostMark(Benchmark):
    """PostMark on a file system that writes everything at once, as those of 2000 wrote metadata."""

    name = "postmark"
    title = "PostMark"
    about = (
        "Creates files, does transactions (one read or append, then one create or delete) and "
        "deletes all, on ext4 without a journal, mounted with sync and dirsync."
    )
    keys: ClassVar = {
        "files": PlainNumber(500, 1, 1_000_000, "files at the beginning"),
        "transactions": PlainNumber(500, 0, 10_000_000, "transactions"),
        "least_bytes": PlainNumber(500, 1, 1 << 24, "bytes of the smallest file"),
        "most_bytes": PlainNumber(10_000, 1, 1 << 24, "bytes of the largest file"),
        "subdirectories": PlainNumber(0, 0, 10_000, "folders for the files"),
        "seed": PlainNumber(42, 0, 2**31 - 1, "seed of its random numbers"),
    }
    file_system = "ext4_without_journal"
    mount_options = "sync,dirsync"
    packages: ClassVar = {"postmark": "the package postmark"}

    def __init__(self, given: Mapping[str, Value]) -> None:
        """As the base class; sizes must be in order."""
        super().__init__(given)
        least, most = self.number("least_bytes"), self.number("most_bytes")
        if least > most:
            refuse(self.name, "least_bytes", least, f"at most most_bytes, which is {most}")

    def fill(self, place: Path) -> None:
        """Make an empty folder for it."""
        (place / "postmark").mkdir()

    @contextmanager
    def start(self, place: Path) -> Iterator[Callable[[], Ran]]:
        """Give the run: PostMark from its start to its end."""
        values = self.values
        script = [
            f"set location {place / 'postmark'}",
            f"set number {values['files']}",
            f"set transactions {values['transactions']}",
            f"set size {values['least_bytes']} {values['most_bytes']}",
            f"set seed {values['seed']}",
            "set report verbose",
        ]
        if values["subdirectories"]:  # PostMark refuses 0
            script.append(f"set subdirectories {values['subdirectories']}")
        script += ["run", "quit"]

        def ran() -> Ran:
            command = [self.executable("postmark")]
            how = pinned() | {"stderr": subprocess.STDOUT}
            said, compute_s = run("postmark", command, given="\n".join(script), **how)
            found = {name: re.search(pattern, said) for name, pattern in _FIGURES.items()}
            # Its exit code is always 0.
            errors = re.findall(r"Error: (.*)", said)
            if errors or found["seconds"] is None:
                told = f"{errors[0]} (of {len(errors)} errors)" if errors else "did not finish"
                raise SledsimError(f"postmark: {told}")
            report = {name: int(match[1]) for name, match in found.items() if match}
            return Ran(compute_s, report)

        yield ran
