"""The devices and the random load of the paper, by its set-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import hardware
from sledsim._load import Load
from sledsim.hardware import Device, Sled
from sledsim.loads import workload

if TYPE_CHECKING:
    from sledsim.papers import Setup

DEVICES = {"MEMS": "mems", "Superdisk": "superdisk", "Atlas 10K": "atlas10k"}
"""The paper's names of the three devices, and those of the set-up."""


def device(setup: Setup, name: str, **keys: Any) -> Device:
    """Return a device of the set-up with some keys changed."""
    own = dict(setup[name]) | keys
    return hardware.device(own.pop("base"), **own)


def sled(setup: Setup, **keys: Any) -> Sled:
    """Return the MEMS device with some keys changed."""
    made = device(setup, "mems", **keys)
    if not isinstance(made, Sled):
        raise TypeError(made)
    return made


def random_load(setup: Setup, on: Device, **keys: Any) -> Load:
    """Return the load of the set-up with some keys changed; `part` of the set-up is its region."""
    own: dict[str, Any] = dict(setup["load"])
    part = float(setup["part"])
    if part < 1:
        own["last_lbn"] = round(part * on.blocks) - 1
    return workload(**own | keys)
