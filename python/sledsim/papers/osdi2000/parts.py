"""The devices of the paper under a set-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import hardware
from sledsim.hardware import Device, Disk, Sled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.papers import Setup


def device(own: Mapping[str, Any], **keys: Any) -> Device:
    """Return a device of the set-up, with other keys over its own."""
    merged = {**own, **keys}
    made: Device = hardware.device(merged.pop("base"), **merged)
    return made


def sled(setup: Setup, **keys: Any) -> Sled:
    """Return the sled of the set-up, with other keys over its own."""
    made = device(setup["sled"], **keys)
    if not isinstance(made, Sled):
        raise TypeError(made)
    return made


def bare_sled(setup: Setup, **keys: Any) -> Sled:
    """Return the sled without overhead and bus: times of the media alone."""
    return sled(setup, **setup["media_alone"], **keys)


def disk(setup: Setup, **keys: Any) -> Disk:
    """Return the disk of the set-up, with other keys over its own."""
    made = device(setup["disk"], **keys)
    if not isinstance(made, Disk):
        raise TypeError(made)
    return made
