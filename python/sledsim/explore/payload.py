"""What a page is given of a run: facts, and columns of numbers."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError
from sledsim._number_text import number
from sledsim.hardware import Composite
from sledsim.results.causes import CAUSES
from sledsim.simulation import simulate
from sledsim.traces.frames import name_of

if TYPE_CHECKING:
    from sledsim.hardware import Device
    from sledsim.results.rows import Rows
    from sledsim.simulation import Run

_FORMS = {"f64": "<d", "f32": "<f", "u32": "<I", "i32": "<i", "u16": "<H", "u8": "<B"}
_ZONE = ("first_cylinder", "last_cylinder", "blocks_per_track")
_SLED_FORMULA = (
    "Before each pass: seek = the larger of X and Y. X = move + settling, from rest to rest. "
    "Y = turnarounds + move, at access velocity at both ends. A move over d from p0 to p1 takes "
    "(2/w) atan(w e / (sqrt(16 v0² + a e g) + 2 v0 (2 + k d))) with k = w²/a, e = d (4 + k d), "
    "g = 4 - k² (p0 + p1)²; v0 is 0 in X, the access velocity in Y."
)
_OTHER_SLED_FORMULA = (
    "Before each pass: seek = the larger of X and Y. X = move + settling, from rest to rest. "
    "Y = turnarounds + move, at access velocity at both ends."
)
_DISK_FORMULA = (
    "Before each pass: the arm moves over d cylinders in the time of the disk's seek curve, "
    "settling included, while the head switches; then the drive waits until the sector comes by: "
    "(its angle - the angle of the platter) times a revolution."
)


@dataclass(frozen=True)
class Shown:
    """A run on a page."""

    head: dict[str, Any]
    """What is said in words and single numbers, and the place of each column."""
    notes: list[str]
    """What a reader must know of it."""


def of_run(
    run: Run,
    label: str | None,
    data: bytearray,
    *,
    start_ms: float,
    requests: int,
    at_ms: float,
) -> Shown:
    """Return a run as a page shows it; runs it again where it kept too little.

    Its columns are appended to ``data``.
    """
    device, rows, notes = _rows(run, start_ms, requests)
    document = run.to_dict()
    scheduler = document["scheduler"]
    window = (round(start_ms * 1e6), requests)
    of_rows, devices = _core.explored(rows._core, device._core, window, round(at_ms * 1e6))
    places = _places(of_rows, data)
    count = places["id"]["count"]
    of_host = sum(parent == -1 for parent in _numbers(of_rows, "parent"))
    if of_host < document["summary"]["requests"] and not notes:
        notes.append(
            f"{label or device.name}: shows {number(of_host)} requests, of "
            f"{number(document['summary']['requests'])}: those that arrive from {start_ms:g} ms on."
        )
    ends = _numbers(of_rows, "completion_ns")
    head = {
        "name": label or f"{device.name} {scheduler}",
        "device": device.name,
        "scheduler": scheduler,
        "load": _load_name(run),
        "rows": count,
        "end_ns": max(ends, default=0),
        "causes": [cause for cause in CAUSES if f"{cause}_ns" in places],
        "columns": places,
        "devices": [_device(one, data) for one in devices],
    }
    return Shown(head, notes)


def _rows(run: Run, start_ms: float, requests: int) -> tuple[Device, Rows, list[str]]:
    """Return the device and rows with all parts, and what to say if the run was run again."""
    origin = run.origin
    if origin is None:
        raise SledsimError(
            f"{run!r}: cannot be explored: runs that were split or pickled do not keep their device"
        )
    has_parts = not isinstance(origin.device, Composite)
    if run._rows is not None:
        if "from_cylinder" not in run._rows.column_names:
            raise SledsimError(f"{run!r}: its rows are of an older version, without cylinders")
        if has_parts or any(parent is not None for parent in run._rows["parent"]):
            return origin.device, run._rows, []
    if origin.again is None:
        raise SledsimError(
            f"{run!r}: keeps no rows, and its load cannot be read again: "
            "simulate(..., rows=True, parts=True) keeps them"
        )
    scheduler, all_requests = origin.scheduler, run.summary["requests"]
    count = requests + math.ceil(run.summary["throughput_iops"] * start_ms / 1e3)
    while True:  # until the window is among them
        count = min(count, all_requests)
        load = origin.again.with_keys(requests=count)
        ran = simulate(load, origin.device, scheduler, rows=True, parts=not has_parts)
        inside = sum(arrival >= start_ms * 1e6 for arrival in ran.rows["arrival_ns"])
        if inside >= requests or count == all_requests:
            break
        count *= 2
    why = "kept no rows" if run._rows is None else "kept no rows of the parts of its device"
    some = "All" if count == all_requests else f"The first {number(count)} of"
    said = f"{some} {number(all_requests)} requests, run again with the same seed: the run {why}."
    return origin.device, ran.rows, [said]


def _numbers(columns: list[tuple[str, str, bytes]], name: str) -> list[float]:
    kind, content = next((kind, content) for found, kind, content in columns if found == name)
    return [value for (value,) in struct.iter_unpack(_FORMS[kind], content)]


def _places(columns: list[tuple[str, str, bytes]], written: bytearray) -> dict[str, dict[str, Any]]:
    """Append columns, each at a multiple of 8 bytes, and return where they are."""
    places = {}
    for name, kind, content in columns:
        written.extend(bytes(-len(written) % 8))
        places[name] = {
            "type": kind,
            "at": len(written),
            "count": len(content) // struct.calcsize(_FORMS[kind]),
        }
        written.extend(content)
    return places


def _device(one: dict[str, Any], data: bytearray) -> dict[str, Any]:
    facts = {name: values[0] if len(values) == 1 else values for name, values in one["facts"]}
    zones = [facts.pop(f"zone_{name}", None) for name in _ZONE]
    if zones[0] is not None:
        lists = [each if isinstance(each, list) else [each] for each in zones]
        facts["zones"] = [dict(zip(_ZONE, zone, strict=True)) for zone in zip(*lists, strict=True)]
    if one["role"] != "other":
        exact = facts.get("w_x") or "w_x" not in facts
        sled = _SLED_FORMULA if exact else _OTHER_SLED_FORMULA
        facts["formula"] = sled if one["role"] == "sled" else _DISK_FORMULA
    said = {name: one[name] for name in ("name", "role", "blocks", "parent")}
    return {**said, **facts, "columns": _places(one["columns"], data)}


def _load_name(run: Run) -> str:
    workload = run.workload
    if workload["workload"] != "trace":
        return str(workload["workload"])
    return name_of(Path(workload["path"]))
