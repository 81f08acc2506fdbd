"""Differences of parameters: of a device against its base, and between devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sledsim._core import SledsimError
from sledsim.hardware import device, devices
from sledsim.show import devices as shown
from sledsim.show.pages.parts import Items, Paragraph, Section
from sledsim.show.sheet import Table, Word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.hardware import Device
    from sledsim.show.pages.parts import Part

_NO_PARAMETERS = {"base", "title"}
_LONGEST = 60
_MANY = 20
"""Rows from which on a table is folded."""


def against_base(of: Device) -> Section | None:
    """Return what a device has that its base has not; nothing for devices without one."""
    spec = of.spec
    try:
        base = shown.base_of(spec) or (device(of.name) if of.name in devices() else None)
    except SledsimError:  # a file that is gone
        return None
    if base is None:
        return None
    changes = shown.against(spec, base)["changes"]
    title = f"{of.name} against {base.name}" if of.name != base.name else f"Changes to {base.name}"
    if not changes:
        same = f"All parameters are those of the preset {base.name}."
        return Section("Parameters", [Paragraph(same)])
    rows = [
        [
            key := one["parameter"],
            shown.short(one["base_value"], _LONGEST),
            shown.short(one["value"], _LONGEST),
            spec["parameters"].get(key, {"origin": "-"})["origin"],
        ]
        for one in changes
    ]
    head = ["parameter", Word(base.name, "Preset"), "here", "given in"]
    about = f"Parameters that differ from those of {base.name}, from which the device was derived"
    return Section(title, [Table(head, rows, about, frozenset({0, 1, 2, 3}))])


def between(of: Mapping[str, Device]) -> Section | None:
    """Return the parameters that differ between devices."""
    by_device = {each.name: each for each in of.values()}
    if len(by_device) < 2:
        return None
    specs = {name: each.spec["parameters"] for name, each in by_device.items()}
    keys = [
        key
        for key in dict.fromkeys(key for spec in specs.values() for key in spec)
        if key not in _NO_PARAMETERS
        and len({repr(spec.get(key, {}).get("value")) for spec in specs.values()}) > 1
    ]
    if not keys:
        return Section("Devices", [Items(["The devices have the same parameters."])])
    shared = [key for key in keys if sum(key in spec for spec in specs.values()) > 1]
    parts: list[Part] = []
    if shared:
        rows = [[key, *(_value(spec, key) for spec in specs.values())] for key in shared]
        about = f"{len(shared)} parameters that differ between the devices"
        left = frozenset(range(len(specs) + 1))
        folded = len(shared) > _MANY
        parts.append(Table(["parameter", *specs], rows, about, left, folded=folded))
    if len(keys) > len(shared):
        more = f"{len(keys) - len(shared)} {'further ' * bool(shared)}parameters"
        text = Markup("{} belong to one of the devices alone; {} lists them.").format(
            more, Markup("<code>sledsim devices show NAME</code>")
        )
        parts.append(Paragraph(text))
    return Section("Devices", parts)


def _value(parameters: Mapping[str, Any], key: str) -> str:
    return shown.short(parameters[key]["value"] if key in parameters else None, _LONGEST)
