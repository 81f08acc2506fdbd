"""Devices: presets, geometry, times of seeks and accesses."""

from sledsim.devices.accesses import Access, Batch, Instant, Pass, Seek, Step
from sledsim.devices.base import Composite, Device
from sledsim.devices.checks import Op, Point
from sledsim.devices.disks import Disk, DiskSeek, Sector, Zone
from sledsim.devices.factory import DeviceLike, device, device_of, dotted_keys, presets, wrap
from sledsim.devices.sleds import Location, Parallelism, Sled, sled_of

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
    "dotted_keys",
    "presets",
    "sled_of",
    "wrap",
]
