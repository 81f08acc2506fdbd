"""Claims of sections 1, 6 and 8 about all workloads."""

from collections.abc import Callable
from typing import Any

from sledsim.hardware import device
from sledsim.loads import workload
from sledsim.papers import Found, Later, Setup, summary_of
from sledsim.papers.msst2005 import figure4, figure6, loads

REQUESTS, QUICK_REQUESTS = 100_000, 10_000
"""Of the reads of 8 KB from random places."""


def access_ms(preset: str, *, quick: bool) -> float:
    """Return the mean time of 8 KB from a random place, one request after the other."""
    load = workload(
        "random",
        requests=QUICK_REQUESTS if quick else REQUESTS,
        queue_depth=1,
        size="fixed",
        mean_size_kib=8,
        read_fraction=1,
    )
    mean: float = summary_of(load, device(preset))["response_time_ms"]["mean"]
    return mean


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run all techniques and all architectures under all workloads."""
    gains = {name: figure4.gain(figure4.outcomes(setup, name, quick=quick)) for name in loads.LOADS}
    found = {name: figure6.outcomes(setup, name, quick=quick) for name in loads.LOADS}
    ram, of_mems = (
        [share(own) for own in found.values()] for share in (figure6.ram_saves, figure6.of_mems)
    )
    over = [
        own["DISK"].mean_ms / own["MWB"].mean_ms
        for own in found.values()
        if not own["DISK"].saturated
    ]
    disk = device("disk")
    series: dict[str, Callable[[], Any]] = {
        "gain": lambda: gains,
        "mean_ms": lambda: {
            name: {label: one.mean_ms for label, one in own.items()} for name, own in found.items()
        },
    }
    return Found(
        {
            "mems_percent": 100 * setup["mems_mib"] * 2**20 / (512 * disk.blocks),
            "gain_least": min(gains.values()),
            "gain_most": max(gains.values()),
            "ram_least": min(ram),
            "ram_most": max(ram),
            "of_mems_least": min(of_mems),
            "of_mems_most": max(of_mems),
            "tpcc_saturated": float(found["tpcc"]["MCD ALL"].saturated),
            "mwb_over_disk": max(over),
            "latency": access_ms("atlas10k-50mbps", quick=quick)
            / access_ms("msst2005", quick=quick),
        },
        series=Later(series, lambda key: series[key]()),
        note=loads.note(),
    )
