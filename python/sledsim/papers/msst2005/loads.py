"""The loads of Table 2, whole or in part, and traces in their place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._load import Load
from sledsim.loads import workload, workload_spec
from sledsim.papers import external_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.papers import Setup

LOADS = {"tpcd": "TPCD", "tpcc": "TPCC", "cello": "cello", "hplajw": "hplajw"}
"""The workloads by name, and as the paper writes them."""
PARTS = {"tpcd": 24, "tpcc": 24, "cello": 8, "hplajw": 4}
"""A quick run has such a part of the requests, of the set and of the MEMS, so that as much is found
as in the whole. Rates, bursts, buffers and the disk are whole."""
FILES = Path(__file__).parent / "workloads"
"""Workloads in the place of those that come with sledsim."""
KEYS = ("max_queue", "loads", "workloads")
"""The keys of a set-up that generators depend on."""
WEEK = "hplajw-1992-week.srt"
"""The public trace of hplajw of 1992; :func:`sledsim.papers.external_file` finds it."""


def note() -> str:
    """Return what is to be said if the public trace is missing."""
    missing = f"{WEEK} is not there: under the reading week_1992 the generator stays."
    return missing if external_file(WEEK) is None else ""


def trace(setup: Setup, name: str) -> Path | None:
    """Return the trace in place of a generator, if the set-up names one that is there."""
    named = setup["traces"].get(name, {}).get("file")
    return external_file(named) if named else None


def load(setup: Setup, name: str, *, quick: bool) -> Load:
    """Return a generated workload of Table 2.

    Parameters
    ----------
    setup
        That of the paper, or of a reading.
    name
        As in :data:`LOADS`.
    quick
        Whether to take the part that :data:`PARTS` says.
    """
    source = str(FILES / setup["workloads"][name]) if name in setup["workloads"] else name
    own = {key: entry["value"] for key, entry in workload_spec(source)["parameters"].items()}
    given: dict[str, Any] = {"max_queue": setup["max_queue"]}
    part = PARTS[name] if quick else 1
    for key, value in own.items():
        last = key.rpartition(".")[2]
        if last == "set_mib":
            _put(given, key, value / part)
        if last == "requests":
            _put(given, key, value // part)
    for path, value in _flat(setup["loads"][name]):
        _put(given, path, value)
    return workload(source, **given)


def _flat(tables: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what tables in tables have, by dotted keys."""
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{at}{key}.")
        else:
            yield f"{at}{key}", value


def _put(tables: dict[str, Any], key: str, value: object) -> None:
    """Set a dotted key."""
    *path, last = key.split(".")
    for name in path:
        tables = tables.setdefault(name, {})
    tables[last] = value
