"""SQLite: a program with its database in a file, as in a telephone or a browser."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from sledsim.programs.program import Program

_PROCESS = Path(__file__).with_name("sqlite_process.py")
FILE = "records.db"


class SqliteProgram(Program):
    """Base class of programs that use SQLite, in a process of their own."""

    name = "sqlite"
    title = "SQLite"

    def command(self, what: str, place: Path, **more: Any) -> list[str]:
        """Return a command that does ``fill``, ``measure``, ``work`` or ``check``."""
        told = json.dumps(self.values | {"file": str(place / FILE)} | more)
        return [sys.executable, "-I", str(_PROCESS), what, told]
