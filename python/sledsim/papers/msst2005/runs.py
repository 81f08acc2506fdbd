"""The loads and the architectures of the paper under a set-up, and the outcomes of runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledsim._load import Load
from sledsim.hardware import Device, device
from sledsim.loads import read_trace
from sledsim.papers import model, once, summary_of
from sledsim.papers.msst2005.loads import KEYS, PARTS, load, trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.papers import Setup

OFF: dict[str, Any] = {"shortcut": False, "immediate_report": False, "partial_write": False}
TECHNIQUES: dict[str, dict[str, Any]] = {
    "NONE": OFF,
    "SHORTCUT": OFF | {"shortcut": True},
    "IREPORT": OFF | {"immediate_report": True},
    "PWRITE": OFF | {"partial_write": True},
    "ALL": dict.fromkeys(OFF, True),
}
"""Keys of a MEMS caching disk by the labels of Figure 4."""
ARCHITECTURES = ("DISK", "MEMS", "DISK-RAM", "MWB", "MCD NONE", "MCD ALL")
"""As Figure 6 labels them."""
QUICK_CACHE_MIB = 1.0
"""Of a controller in a quick run: a part of the set would ask for less, whole bursts for all."""
_PRESETS = {"DISK": "disk", "MEMS": "mems", "DISK-RAM": "disk_ram", "MWB": "mwb", "MCD": "mcd"}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    mean_ms: float
    """Mean response time; of a saturated run, up to its end."""
    saturated: bool
    back_busy: float
    """Share of the time for which the disk was busy."""
    disk_kib: float
    """Data that the disk moved, by the number of requests."""
    caution: str | None = None
    """Why the mean is unreliable."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts of the MEMS tier, if there is one."""

    def found(self) -> float:
        """Return the hit ratio of the tier, by segments."""
        counts = self.counts
        asked = counts["segments_read"] + counts["segments_written"]
        return (counts["segments_read_found"] + counts["segments_written_found"]) / asked


def setup_of(reading: str = "") -> Setup:
    """Return the set-up of the paper, or that of one of its readings."""
    (paper,) = (one for one in model.papers() if one.name == "msst2005")
    own = {one.name: one.setup for one in paper.readings}
    return own[reading] if reading else paper.items[0].setup


def keys_of(
    setup: Setup, name: str, kind: str, *, quick: bool, **keys: Any
) -> tuple[str, dict[str, Any]]:
    """Return the preset and the keys of an architecture: an ``MCD``, or one of those of Figure 6.

    ``mems_mib`` is the size of the MEMS, or of the cache of DISK-RAM, before a part is taken.
    """
    base, _, technique = kind.partition(" ")
    part, cache_mib = PARTS[name] if quick else 1, setup["cache_mib"]
    if quick:
        cache_mib = QUICK_CACHE_MIB
    if trace(setup, name):
        part = setup["traces"][name]["part"]
        cache_mib = _whole(setup["cache_mib"] / part)
    mems_mib = keys.pop("mems_mib", setup["mems_mib"])
    if base == "MCD":
        segment = {"segment_kib": setup["segment_kib"][name]}
        keys = setup["mcd"] | segment | _choice(setup, name, quick=quick) | keys
        keys = TECHNIQUES[technique] | keys
    if base == "MWB":
        keys = setup["mwb"] | keys
    if base in {"MCD", "MWB"}:
        keys = {"front_mib": _whole(mems_mib / part), **keys}
        keys |= {"back": setup["disk"]} if setup["disk"] else {}
    elif base != "MEMS":
        keys = setup["disk"] | keys
    if base == "DISK-RAM":
        cache_mib = _whole(mems_mib / part)
    cache = {"cache_mib": cache_mib} | setup["controller_cache"] | keys.pop("controller_cache", {})
    return _PRESETS[base], {**keys, "controller_cache": cache}


def _whole(mib: float) -> float:
    """Return a size in whole lines of 32 KiB."""
    return int(mib * 32) / 32


def _choice(setup: Setup, name: str, *, quick: bool) -> dict[str, Any]:
    """Return those keys of the MEMS caching disk, of the choices, with which a load takes least."""
    choices: list[dict[str, Any]] = setup["choices"]
    if len(choices) == 1:
        return choices[0]
    alone = {**setup, "choices": [{}]}
    return min(
        choices,
        key=lambda keys: outcome(alone, name, "MCD ALL", quick=quick, **keys).mean_ms,
    )


def outcome(
    setup: Setup,
    name: str,
    kind: str,
    *,
    quick: bool,
    **keys: Any,
) -> Outcome:
    """Run a workload on an architecture with keys of the device, once in a process."""
    preset, keys = keys_of(setup, name, kind, quick=quick, **keys)
    file = trace(setup, name)
    own = json.dumps([str(file or ""), {key: setup[key] for key in KEYS}, keys])
    return _outcome(name, preset, quick, setup["scheduler"], own)


@once
def _outcome(name: str, preset: str, quick: bool, scheduler: str, keys: str) -> Outcome:
    file, setup, device_keys = json.loads(keys)
    if file:
        requests = read_trace(file, trace_device="separate", max_queue=setup["max_queue"])
    else:
        requests = load(setup, name, quick=quick)
    return measure(requests, device(preset, **device_keys), scheduler)


def measure(requests: Load, on: Device, scheduler: str = "fcfs") -> Outcome:
    """Run a load on a device."""
    summary = summary_of(requests, on, scheduler)
    times, parts = summary["response_time_ms"], summary["devices"]
    busy = {each["name"]: each["utilisation"] for each in summary["mechanisms"]}
    tiers = [part["counts"] for part in parts if "segments_read" in part.get("counts", {})]
    return Outcome(
        mean_ms=times["mean"],
        saturated=summary["saturated"] is not None,
        caution=summary["confidence"]["response_time_ms"]["caution"],
        back_busy=busy[parts[-1]["name"]],
        disk_kib=_moved_blocks(parts) / 2 / summary["requests"],
        counts=tiers[-1] if tiers else {},
    )


def _moved_blocks(parts: list[dict[str, Any]]) -> int:
    """Return the blocks that the lowest tier read from the disk and wrote to it."""
    of_mwb = ("read_from_back_blocks", "cleaned_blocks")
    names = (*of_mwb, "fetched_blocks", "destaged_blocks", "passed_blocks")
    counts = [part["counts"] for part in parts if {*names} & {*part.get("counts", {})}]
    return sum(counts[-1].get(name, 0) for name in names) if counts else 0
