"""The programs by name; they are imported when one is asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

from sledsim._core import SledsimError, SpecError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.programs.program import Benchmark, CrashProgram, Program

    Kind = TypeVar("Kind", bound=Program)

BENCHMARKS = ("postmark", "tpch-q4", "pgbench", "sqlite")
CRASH_PROGRAMS = ("sqlite", "postgres", "scripts")


def benchmark(name: str) -> type[Benchmark]:
    """Return a program that is run on several devices."""
    if sys.platform != "linux":
        raise SledsimError("applications run on Linux only")
    from sledsim.programs.benchmarks import pgbench, postmark, sqlite, tpch_q4  # Linux only

    kinds = [postmark.PostMark, tpch_q4.TpchQ4, pgbench.PgBench, sqlite.Sqlite]
    return _kind("application", name, kinds)


def crash_program(name: str) -> type[CrashProgram]:
    """Return a program whose data must survive a failure of power."""
    from sledsim.programs.crashes import postgres, scripts, sqlite  # rarely needed

    return _kind("program", name, [sqlite.Sqlite, postgres.Postgres, scripts.Scripts])


def _kind(what: str, name: str, kinds: Sequence[type[Kind]]) -> type[Kind]:
    names = {each.name: each for each in kinds}
    if name not in names:
        raise SpecError(f"unknown {what} '{name}': must be one of {', '.join(names)}")
    return names[name]
