"""Claims of sections 1 and 6.2 to 8."""

import sledsim as ss
from sledsim.papers import Found
from sledsim.papers.msst2005 import runs


def simulate(*, quick: bool) -> Found:
    """Run what they compare."""
    mean_ms = {
        name: {kind: runs.outcome(name, kind, quick=quick).mean_ms for kind in ("MEMS", "MCD ALL")}
        for name in runs.LOADS
    }
    lfuda = {
        name: runs.outcome(name, "MCD ALL", quick=quick, policy="lfuda").mean_ms
        for name in runs.LOADS
    }
    of_mems = [100 * own["MEMS"] / own["MCD ALL"] for own in mean_ms.values()]
    disk = ss.device("disk")
    return Found(
        {
            "mems_percent": 100 * runs.MEMS_MIB * 2**20 / (512 * disk.blocks),
            **{f"lru_{name}": own["MCD ALL"] / lfuda[name] for name, own in mean_ms.items()},
            "of_mems_least": min(of_mems),
            "of_mems_most": max(of_mems),
            "tpcc_saturated": float(runs.outcome("tpcc", "MCD ALL", quick=quick).saturated),
            "mwb_over_disk": runs.outcome("cello", "DISK", quick=quick).mean_ms
            / runs.outcome("cello", "MWB", quick=quick).mean_ms,
        },
        series={"mean_ms": mean_ms, "lfuda_ms": lfuda},
    )
