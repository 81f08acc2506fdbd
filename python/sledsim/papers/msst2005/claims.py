"""Claims of sections 1 and 6.2 to 8."""

from typing import Any

import sledsim as ss
from sledsim.papers import Found
from sledsim.papers.msst2005 import runs


def best_ms(name: str, *, quick: bool) -> float:
    """Return the least mean time of a MEMS caching disk, with the best of some settings."""
    return min(
        runs.outcome(
            name, "MCD ALL", quick=quick, segment_kib=segment, policy=policy, **keys
        ).mean_ms
        for segment in sorted({8, runs.SEGMENT_KIB[name]})
        for policy in ("lru", "slru")
        for keys in ({}, runs.CLEANING)
    )


def over_disk(*, quick: bool, **keys: Any) -> float:
    """Return how many times as long as the MEMS write buffer the disk takes under cello."""
    disk, mwb = (
        runs.outcome("cello", kind, quick=quick, **keys).mean_ms for kind in ("DISK", "MWB")
    )
    return disk / mwb


def simulate(*, quick: bool) -> Found:
    """Run the devices and settings that they compare."""
    mean_ms = {
        name: {kind: runs.outcome(name, kind, quick=quick).mean_ms for kind in ("MEMS", "MCD ALL")}
        for name in runs.LOADS
    }
    lfuda = {
        name: runs.outcome(name, "MCD ALL", quick=quick, policy="lfuda").mean_ms
        for name in runs.LOADS
    }
    of_mems = {name: 100 * own["MEMS"] / own["MCD ALL"] for name, own in mean_ms.items()}
    tuned = {name: 100 * own["MEMS"] / best_ms(name, quick=quick) for name, own in mean_ms.items()}
    week = [
        own.mean_ms
        for policy in ("lru", "lfuda")
        for own in runs.of_week(["MCD ALL"], policy=policy).values()
    ]
    disk = ss.device("disk")
    return Found(
        {
            "mems_percent": 100 * runs.MEMS_MIB * 2**20 / (512 * disk.blocks),
            **{f"lru_{name}": own["MCD ALL"] / lfuda[name] for name, own in mean_ms.items()},
            "of_mems_least": min(of_mems.values()),
            "of_mems_most": max(of_mems.values()),
            "tpcc_saturated": float(runs.outcome("tpcc", "MCD ALL", quick=quick).saturated),
            "mwb_over_disk": over_disk(quick=quick),
        },
        hypotheses={
            "well_configured": {
                "of_mems_least": min(tuned.values()),
                "of_mems_most": max(tuned.values()),
            },
            "lines_sptf": {
                "mwb_over_disk": over_disk(
                    quick=quick, scheduler="sptf", controller_cache=runs.LINE_BY_LINE
                )
            },
            "week_1992": {"lru_hplajw": week[0] / week[1]} if week else {},
        },
        series={"mean_ms": mean_ms, "lfuda_ms": lfuda},
    )
