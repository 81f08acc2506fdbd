"""The loads and the architectures of the paper, and the outcomes of runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim.papers import external_file, once, summary_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LOADS = {"tpcd": "TPCD", "tpcc": "TPCC", "cello": "cello", "hplajw": "hplajw"}
"""The workloads by name, and as the paper writes them."""
MEAN_SEGMENT_KIB = {"tpcd": 64, "tpcc": 8, "cello": 8, "hplajw": 8}
"""Section 6.1: the first power of two that is not below the mean request."""
SEGMENT_KIB = {"tpcd": 256, "tpcc": 8, "cello": 8, "hplajw": 64}
"""Section 6.4."""
MEMS_MIB = 256
INFINITE_MIB = 3072
"""Section 6.3: 3 GB, which hold everything."""
OFF: dict[str, Any] = {"shortcut": False, "immediate_report": False, "partial_write": False}
TECHNIQUES: dict[str, dict[str, Any]] = {
    "NONE": OFF,
    "SHORTCUT": OFF | {"shortcut": True},
    "IREPORT": OFF | {"immediate_report": True},
    "PWRITE": OFF | {"partial_write": True},
    "ALL": dict.fromkeys(OFF, True),
}
"""Keys of a MEMS caching disk by the labels of Figure 4."""
CLEANING: dict[str, Any] = {"clean_after_idle_ms": 20, "clean_above": 0.5}
"""Of a cache: what is dirty is written while the disk rests, and while more than half is."""
LINE_BY_LINE: dict[str, Any] = {"exchange_kib": 4}
"""Of a controller's cache: what it gives up is written without its neighbours."""
ARCHITECTURES = ("DISK", "MEMS", "DISK-RAM", "MWB", "MCD NONE", "MCD ALL")
"""As Figure 6 labels them."""
PARTS = {"tpcd": 24, "tpcc": 24, "cello": 8, "hplajw": 4}
"""A quick run has such a part of the requests, of the set and of the MEMS, so that as much is found
as in the whole. Rates, bursts, buffers and the disk are whole."""
CACHE_MIB, QUICK_CACHE_MIB = 4.0, 1.0
"""Section 6, and in a quick run: a part of the set would ask for less, whole bursts for all."""
WEEK = "hplajw-1992-week.srt"
"""The public trace of hplajw of 1992; :func:`sledsim.papers.external_file` finds it."""
WEEK_PART = 12.5
"""In that week 30.1 MB were accessed, in that of Table 2 376: of MEMS and caches, one part of so
many is taken."""
MAX_QUEUE = 500
"""Outstanding requests at which a run ends as saturated."""
STRIPE = Path(__file__).parent / "devices" / "stripe.toml"
_PRESETS = {"DISK": "disk", "MEMS": "mems", "DISK-RAM": "disk_ram", "MWB": "mwb", "MCD": "mcd"}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    mean_ms: float
    """Mean response time; of a saturated run, up to its end."""
    p99_ms: float
    saturated: bool
    back_busy: float
    """Share of the time for which the disk was busy."""
    caution: str | None = None
    """Why the mean is unreliable."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts of the MEMS tier, if there is one."""

    def found(self) -> float:
        """Return the hit ratio of the tier, by segments."""
        counts = self.counts
        asked = counts["segments_read"] + counts["segments_written"]
        return (counts["segments_read_found"] + counts["segments_written_found"]) / asked


def load(
    name: str,
    *,
    quick: bool,
    shift: Mapping[str, float] | None = None,
    times: int = 1,
    **keys: Any,
) -> ss.Load:
    """Return a workload of Table 2.

    Parameters
    ----------
    name
        As in :data:`LOADS`.
    quick
        Whether to take the part that :data:`PARTS` says.
    shift
        What is added to keys of the workload, in each part that has them.
    times
        Number of users, which multiplies the rate and the working set.
    **keys
        Keys of the workload.
    """
    own = {key: entry["value"] for key, entry in ss.workload_spec(name)["parameters"].items()}
    given: dict[str, Any] = {"max_queue": MAX_QUEUE}
    part = part_of(name, quick=quick)
    for key, value in own.items():
        last = key.rpartition(".")[2]
        if last == "set_mib":
            _put(given, key, value * times / part)
        if last == "rate":
            _put(given, key, value * times)
        if last == "requests":
            _put(given, key, value // part)
        if shift and last in shift:
            _put(given, key, round(value + shift[last], 6))
    return ss.workload(name, **(given | keys))


def part_of(name: str, *, quick: bool) -> int:
    """Return the number of parts of which a run has one."""
    return PARTS[name] if quick else 1


def _put(tables: dict[str, Any], key: str, value: object) -> None:
    """Set a dotted key."""
    *path, last = key.split(".")
    for name in path:
        tables = tables.setdefault(name, {})
    tables[last] = value


def device(kind: str, part: float = 1, **keys: Any) -> ss.Device:
    """Return an architecture: one of :data:`ARCHITECTURES`, or ``MCD`` with keys.

    ``mems_mib`` is the size of the MEMS, or of the controller's cache of DISK-RAM, of which a run
    has one of so many parts.
    """
    own = keys_of(kind, part, **keys)
    base: str = own.pop("base")
    return ss.device(base, **own)


def keys_of(kind: str, part: float = 1, **keys: Any) -> dict[str, Any]:
    """Return the preset that :func:`device` takes as ``base``, and all keys."""
    base, _, technique = kind.partition(" ")
    cache_mib = CACHE_MIB if part == 1 else QUICK_CACHE_MIB
    mems_mib = keys.pop("mems_mib", MEMS_MIB)
    if technique:
        keys = TECHNIQUES[technique] | keys
    if base in {"MCD", "MWB"}:
        keys["front_mib"] = _whole(mems_mib / part)
    if base == "DISK-RAM":
        cache_mib = _whole(mems_mib / part)
    cache = {"cache_mib": cache_mib} | keys.pop("controller_cache", {})
    return {"base": _PRESETS[base], **keys, "controller_cache": cache}


def _whole(mib: float) -> float:
    """Return a size in whole lines of 4 KiB."""
    return int(mib * 256) / 256


def outcome(
    name: str,
    kind: str,
    *,
    quick: bool,
    scheduler: str = "fcfs",
    load_keys: Mapping[str, Any] | None = None,
    **keys: Any,
) -> Outcome:
    """Run a workload on an architecture, once in a process.

    ``keys`` are those of :func:`device`.
    """
    if kind.startswith("MCD"):
        keys.setdefault("segment_kib", SEGMENT_KIB[name])
    return _outcome(name, kind, quick, scheduler, json.dumps([load_keys or {}, keys]))


@once
def _outcome(name: str, kind: str, quick: bool, scheduler: str, keys: str) -> Outcome:
    load_keys, device_keys = json.loads(keys)
    return measure(
        load(name, quick=quick, **load_keys),
        device(kind, part_of(name, quick=quick), **device_keys),
        scheduler,
    )


def of_week(
    kinds: Iterable[str] = ARCHITECTURES, segment_kib: float = SEGMENT_KIB["hplajw"], **mcd: Any
) -> dict[str, Outcome]:
    """Run the public trace of 1992, with MEMS and caches as small a part as its set is.

    Returns nothing if the trace is missing.

    Parameters
    ----------
    kinds
        Architectures, as in :func:`device`.
    segment_kib, **mcd
        Keys of the MEMS caching disk.
    """
    file = external_file(WEEK)
    if file is None:
        return {}
    week = ss.read_trace(file, trace_device="separate", max_queue=MAX_QUEUE)

    def keys(kind: str) -> dict[str, Any]:
        own = mcd | {"segment_kib": segment_kib} if kind.startswith("MCD") else {}
        cache = {} if kind == "DISK-RAM" else {"cache_mib": _whole(CACHE_MIB / WEEK_PART)}
        return own | {"controller_cache": cache}

    return {kind: measure(week, device(kind, WEEK_PART, **keys(kind))) for kind in kinds}


def measure(requests: ss.Load, on: ss.Device, scheduler: str = "fcfs") -> Outcome:
    """Run a load on a device."""
    summary = summary_of(requests, on, scheduler)
    times = summary["response_time_ms"]
    parts = summary["devices"]
    tiers = [part["counts"] for part in parts if "segments_read" in part["counts"]]
    return Outcome(
        mean_ms=times["mean"],
        p99_ms=times["p99"],
        saturated=summary["saturated"] is not None,
        caution=summary["confidence"]["response_time_ms"]["caution"],
        back_busy=parts[-1]["utilisation"],
        counts=tiers[-1] if tiers else {},
    )
