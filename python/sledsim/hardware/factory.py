"""Makes devices of presets, files and devices of the core."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias, overload

from sledsim import _core
from sledsim._arguments import based, path_text, refuse, text
from sledsim._core import SpecError
from sledsim.hardware.base import Composite, Device
from sledsim.hardware.disks import Disk
from sledsim.hardware.sleds import Sled

if TYPE_CHECKING:
    from os import PathLike
    from typing import Unpack

    from sledsim._key_types import DeviceKeys
    from sledsim._name_types import CompositeName, DeviceName, DiskName, SledName

DeviceLike: TypeAlias = "Device | DeviceName | str | PathLike[str] | Mapping[str, object]"
"""A device, or what :func:`device` makes one of."""


@overload
def device(name: SledName, **overrides: Unpack[DeviceKeys]) -> Sled: ...
@overload
def device(name: DiskName, **overrides: Unpack[DeviceKeys]) -> Disk: ...
@overload
def device(name: CompositeName, **overrides: Unpack[DeviceKeys]) -> Composite: ...
@overload
def device(name: DeviceLike, **overrides: Unpack[DeviceKeys]) -> Device: ...
def device(name: DeviceLike, **overrides: Unpack[DeviceKeys]) -> Device:
    """Resolve a device: a preset or a TOML file, with overrides of its keys.

    It is a :class:`Sled`, a :class:`Disk`, a :class:`Composite`, or none of these: a memory or
    flash. Type checkers know which by the name of a preset; of other names ``isinstance`` tells.
    It tells, too, where a key makes another kind of a preset: a ``controller_cache`` before a sled
    or a disk is a composite.

    Parameters
    ----------
    name
        One of :func:`devices`, the path of a ``.toml`` file, or a device, which keeps its layout
        and background tasks; or a mapping with one of these as ``base`` and with overrides:
        ``{"base": "g2", "spring_factor": 0.5}``.
    **overrides
        Keys of the spec: ``device("g2", spring_factor=0.0, kinematics="disksim")``; a mapping for
        a table: ``device("g2", buffer={"size_kib": 1024, "segments": 8})``.

    Raises
    ------
    SledsimError
        For an unknown name (nearest presets offered), an unknown key, or a value out of range.
    """
    table: Mapping[str, object] = overrides
    if isinstance(name, Mapping):
        must = "a device, the name of a preset or the path of a TOML file"
        name, given = based("device", name, must)
        table = dict(dotted_keys(given)) | dict(dotted_keys(overrides))
    keys = list(dotted_keys(table))
    if isinstance(name, Device):
        if not keys:
            return name
        from sledsim.traces.files import samples_folder  # few devices have one

        return wrap(name._core.with_overrides(keys, samples_folder()))
    named = text("device", path_text("device", name))
    try:
        return wrap(_core.Device(named, keys))
    except SpecError:
        if named in _core.names("workloads"):
            must = "a device; this is a workload, and a load stands before the device"
            refuse("device", named, must)
        raise


def device_of(given: object, name: str = "device") -> Device:
    """Return a device as it is, or make the one of a name, a path or a mapping."""
    if isinstance(given, Device):
        return given
    if isinstance(given, Mapping):
        return device(given)
    if not isinstance(given, str | os.PathLike):
        must = "a device, the name of a preset, the path of a TOML file, or a mapping with a base"
        refuse(name, given, must)
    return device(path_text(name, given))


def wrap(core: _core.Device) -> Device:
    """Wrap a device of the core in the class of its kind."""
    if (sled := core.sled()) is not None:
        return Sled(core, sled)
    if (disk := core.disk()) is not None:
        return Disk(core, disk)
    return Composite(core) if core.is_composite else Device(core)


_DEEPEST = 30


def dotted_keys(table: Mapping[str, object], depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield the keys of a table and, dotted, of the tables inside it; one without keys is kept."""
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            if depth == _DEEPEST:
                refuse(str(key), value, f"nested at most {_DEEPEST} deep")
            yield from ((f"{key}.{inner}", item) for inner, item in dotted_keys(value, depth + 1))
        else:
            yield key, value


def devices() -> list[str]:
    """Names of the devices that come with sledsim."""
    return _core.names("presets")
