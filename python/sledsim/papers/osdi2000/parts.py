"""The devices of the paper under a set-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sledsim as ss

if TYPE_CHECKING:
    from sledsim.papers import Setup


def sled(setup: Setup, **keys: Any) -> ss.Sled:
    """Return the sled of the set-up, with other keys over its own."""
    own = {**setup["sled"], **keys}
    made = ss.device(own.pop("base"), **own)
    if not isinstance(made, ss.Sled):
        raise TypeError(made)
    return made


def bare_sled(setup: Setup, **keys: Any) -> ss.Sled:
    """Return the sled without overhead and bus: times of the media alone."""
    return sled(setup, **setup["media_alone"], **keys)


def disk(setup: Setup, **keys: Any) -> ss.Disk:
    """Return the disk of the set-up, with other keys over its own."""
    own = {**setup["disk"], **keys}
    made = ss.device(own.pop("base"), **own)
    if not isinstance(made, ss.Disk):
        raise TypeError(made)
    return made
