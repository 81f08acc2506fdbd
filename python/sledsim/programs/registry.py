"""The programs by name; each is imported when it is asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError, SpecError

if TYPE_CHECKING:
    from sledsim.programs.program import Benchmark, CrashProgram

BENCHMARKS = {
    "postmark": "postmark.PostMark",
    "tpch-q4": "tpch_q4.TpchQ4",
    "pgbench": "pgbench.PgBench",
    "sqlite": "sqlite.Sqlite",
}
CRASH_PROGRAMS = {
    "sqlite": "sqlite.Sqlite",
    "postgres": "postgres.Postgres",
    "scripts": "scripts.Scripts",
}


def benchmark(name: str) -> type[Benchmark]:
    """Return a program that is run on several devices.

    Raises
    ------
    SledsimError
        If there is none of that name, or this is not Linux.
    """
    if sys.platform != "linux":
        raise SledsimError("applications run on Linux only")
    kind: type[Benchmark] = _kind(name, BENCHMARKS, "benchmarks", "application")
    return kind


def crash_program(name: str) -> type[CrashProgram]:
    """Return a program whose data must survive a failure of power."""
    kind: type[CrashProgram] = _kind(name, CRASH_PROGRAMS, "crashes", "program")
    return kind


def _kind(name: str, places: dict[str, str], folder: str, what: str) -> Any:
    if name not in places:
        raise SpecError(f"unknown {what} '{name}': must be one of {', '.join(places)}")
    module, kind = places[name].split(".")
    return getattr(import_module(f"sledsim.programs.{folder}.{module}"), kind)
