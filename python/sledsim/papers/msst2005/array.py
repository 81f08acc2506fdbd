"""Future work of section 7: arrays of hybrids, against arrays of disks and of MEMS."""

from typing import Any

from matplotlib.figure import Figure

import sledsim as ss
from sledsim.papers import Found
from sledsim.papers.msst2005 import runs
from sledsim.papers.msst2005.axes import log_y

CHILDREN = 4
PRICES = (5, 10)
"""Section 1: least and greatest price of a byte of MEMS, in bytes of disk."""


def array(kind: str, name: str, *, quick: bool, **keys: Any) -> ss.Device:
    """Return a stripe of an architecture, each device behind a controller of its own."""
    if kind.startswith("MCD"):
        keys["segment_kib"] = runs.SEGMENT_KIB[name]
    child = runs.keys_of(kind, runs.part_of(name, quick=quick), **keys)
    return ss.device(runs.STRIPE, children=CHILDREN, child=child)


def cost(kind: str, price: float) -> float:
    """Return the cost of a device, in MiB of disk; MEMS of the disk's size replaces it."""
    disk_mib = ss.device("disk").blocks / 2048
    return {
        "disks": disk_mib,
        "hybrids": disk_mib + price * runs.MEMS_MIB,
        "MEMS": price * disk_mib,
    }[kind]


def simulate(*, quick: bool) -> Found:
    """Give each array as many times the load as it has devices."""
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "disks": ("DISK", {}),
        "hybrids": ("MCD ALL", {}),
        "MEMS": ("MEMS", {}),
    }

    def mean_ms(name: str, kind: str, **keys: Any) -> float:
        base, own = kinds[kind]
        load = runs.load(name, quick=quick, times=CHILDREN)
        return runs.measure(load, array(base, name, quick=quick, **own, **keys)).mean_ms

    found = {name: {kind: mean_ms(name, kind) for kind in kinds} for name in runs.LOADS}
    cleaning = {
        name: own | {"hybrids": mean_ms(name, "hybrids", **runs.CLEANING)}
        for name, own in found.items()
    }

    prices = {kind: cost(kind, max(PRICES)) for kind in kinds}
    return Found(
        {name: found[name] for name in runs.LOADS} | {"cost": prices},
        hypotheses={"cleaning": cleaning},
        series={
            "mean_ms": found,
            "cleaning_ms": cleaning,
            "cost_times_ms": {
                str(price): {
                    name: {kind: cost(kind, price) * ms for kind, ms in own.items()}
                    for name, own in found.items()
                }
                for price in PRICES
            },
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw a bar for each array."""
    axes = figure.add_subplot()
    bars = {
        "disks": ("mean_ms", "disks"),
        "hybrids": ("mean_ms", "hybrids"),
        "hybrids, cleaning": ("cleaning_ms", "hybrids"),
        "MEMS": ("mean_ms", "MEMS"),
    }
    for place, (label, (of, kind)) in enumerate(bars.items()):
        heights = [own[kind] for own in found.series[of].values()]
        spots = [spot + 0.2 * (place - 1.5) for spot in range(len(heights))]
        axes.bar(spots, heights, 0.18, label=label)
    log_y(axes)
    axes.set_xticks(range(len(runs.LOADS)), list(runs.LOADS.values()))
    axes.set(ylabel="mean response time (ms)")
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside upper center", ncols=4)
