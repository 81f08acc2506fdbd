"""Table 1: capacity, average random seek and streaming bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.hardware import Sled
from sledsim.loads import workload
from sledsim.papers import Found, summary_of
from sledsim.papers.cmu_cs_03_125.memstore import memstore

if TYPE_CHECKING:
    from sledsim.papers import Setup


def seek_ms(device: Sled, requests: int) -> float:
    """Return the mean seek in X to random blocks."""
    load = workload("random", requests=requests, size="fixed", mean_size_kib=0.5)
    mean: float = summary_of(load, device)["x_seek_ms"]["mean"]
    return mean


def stream_mb_s(device: Sled, cylinders: int) -> float:
    """Return the rate of reading some cylinders in the middle, one after the other."""
    shape = device.parallelism
    read = device.access(shape.S_x // 2 * shape.S_C, cylinders * shape.S_C)
    return cylinders * shape.S_C * 512 / read.total_s / 1e6


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read random blocks, then a stream."""
    device, units = memstore(setup), setup["units"]
    derived = device.spec["derived"]
    rate_mb_s = derived["streaming_mb_s"]
    if not units["within_track"]:
        rate_mb_s = stream_mb_s(device, 20 if quick else 200)
    return Found(
        {
            "capacity_gb": derived["capacity_bytes"] / 1e9,
            "seek_ms": seek_ms(device, 50_000 if quick else 1_000_000),
            "stream_mb_s": rate_mb_s * 1e6 / units["rate_mb"],
        }
    )
