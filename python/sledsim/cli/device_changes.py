"""Differences between a device and its base."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim.hardware import Device, device, devices

if TYPE_CHECKING:
    from collections.abc import Mapping

_SKIPPED = ("title", "base")
"""Parameters that differ between any device and its base."""


def base_of(spec: Mapping[str, Any]) -> Device | None:
    """Return the device that a resolved spec names as its ``base``; None without one."""
    entry = spec["parameters"].get("base")
    if entry is None:
        return None
    name: str = entry["value"]
    if name in devices():
        return device(name)
    file, _, _line = entry["origin"].rpartition(":")
    return device(Path(file).parent / name)


def changes(base: Mapping[str, Any], spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the parameters that differ between two resolved specs.

    Parameters
    ----------
    base, spec
        As :attr:`Device.spec <sledsim.Device.spec>`.

    Returns
    -------
    list of dict
        ``parameter``, ``base_value`` and ``value``; None where one of the two has no such key.
    """
    before, after = (
        {key: entry["value"] for key, entry in each["parameters"].items()} for each in (base, spec)
    )
    return [
        {"parameter": key, "base_value": before.get(key), "value": after.get(key)}
        for key in {**before, **after}
        if before.get(key) != after.get(key) and key not in _SKIPPED
    ]
