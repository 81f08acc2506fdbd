"""Streams: sequential reads of a cylinder each."""

from typing import Any

from sledsim.hardware import Device
from sledsim.loads import workload
from sledsim.papers import summary_of


def blocks_per_cylinder(device: Device) -> int:
    """Return how many blocks a cylinder has."""
    return int(device.blocks // device.spec["derived"]["cylinders"])


def cylinders_per_s(device: Device, cylinders: int, **keys: Any) -> float:
    """Read so many cylinders in sequence; return the rate in cylinders per second."""
    load = workload(
        "sequential",
        requests=cylinders,
        read_fraction=1,
        size="fixed",
        mean_size_kib=blocks_per_cylinder(device) / 2,
        **keys,
    )
    return float(summary_of(load, device)["throughput_iops"])
