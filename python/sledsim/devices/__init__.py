"""Devices: presets, geometry, and what a seek or an access would take."""

from sledsim.devices.accesses import Access, Batch, Instant, Pass, Seek, Step
from sledsim.devices.base import Composite, Device
from sledsim.devices.checks import Op, Point
from sledsim.devices.disks import Disk, DiskSeek, Sector, Zone
from sledsim.devices.factory import device, device_of, flat, presets, wrap
from sledsim.devices.sleds import Location, Parallelism, Sled, sled_of

__all__ = [
    "Access",
    "Batch",
    "Composite",
    "Device",
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
    "flat",
    "presets",
    "sled_of",
    "wrap",
]
