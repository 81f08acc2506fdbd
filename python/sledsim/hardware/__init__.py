"""Devices: presets, geometry, times of seeks and accesses."""

from sledsim.hardware.accesses import Access, Batch, Instant, Pass, Seek, Step
from sledsim.hardware.base import Composite, Device
from sledsim.hardware.checks import Op, Point
from sledsim.hardware.disks import Disk, DiskSeek, Sector, Zone
from sledsim.hardware.factory import (
    DeviceLike,
    device,
    device_of,
    devices,
    dotted_keys,
    wrap,
)
from sledsim.hardware.sleds import Location, Parallelism, Sled, sled_of

__all__ = [
    "Access",
    "Batch",
    "Composite",
    "Device",
    "DeviceLike",
    "Disk",
    "DiskSeek",
    "Instant",
    "Location",
    "Op",
    "Parallelism",
    "Pass",
    "Point",
    "Sector",
    "Seek",
    "Sled",
    "Step",
    "Zone",
    "device",
    "device_of",
    "devices",
    "dotted_keys",
    "sled_of",
    "wrap",
]
