"""The devices of the paper under a set-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.papers import Setup


def device(own: Mapping[str, Any], **keys: Any) -> ss.Device:
    """Return a device of the set-up, with other keys over its own."""
    merged = {**own, **keys}
    made: ss.Device = ss.device(merged.pop("base"), **merged)
    return made


def sled(setup: Setup, **keys: Any) -> ss.Sled:
    """Return the sled of the set-up, with other keys over its own."""
    made = device(setup["sled"], **keys)
    if not isinstance(made, ss.Sled):
        raise TypeError(made)
    return made


def bare_sled(setup: Setup, **keys: Any) -> ss.Sled:
    """Return the sled without overhead and bus: times of the media alone."""
    return sled(setup, **setup["media_alone"], **keys)


def disk(setup: Setup, **keys: Any) -> ss.Disk:
    """Return the disk of the set-up, with other keys over its own."""
    made = device(setup["disk"], **keys)
    if not isinstance(made, ss.Disk):
        raise TypeError(made)
    return made
