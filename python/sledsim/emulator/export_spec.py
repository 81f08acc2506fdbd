"""What the command line and a mount's server are told, as an export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError
from sledsim.devices import wrap
from sledsim.emulator.server import Export

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULTS: dict[str, Any] = {
    "scheduler": None,
    "layout": None,
    "set": [],
    "background": [],
    "file": None,
    "read_only": False,
    "speed": 1.0,
    "record": None,
    "batch_window_ms": None,
}
"""What may be said beside the device."""


def chosen(said: Mapping[str, Any], name: str | None = None) -> Export:
    """Return what is said, ``device`` and all of `DEFAULTS`, as on the command line.

    Raises
    ------
    SledsimError
        If there is no such device, or a key that it does not have.
    """
    for setting in said["set"]:
        if not setting.startswith(("device.", "scheduler.", "layout.")):
            msg = f"--set {setting}: must begin with device., scheduler. or layout."
            raise SledsimError(msg)
    core, _, scheduler = _core.scenario(
        None,
        said["device"],
        said["scheduler"],
        None,
        None,
        said["set"],
        None,
        said["layout"],
        said["background"],
    )
    return Export(
        device=wrap(core),
        name=name,
        scheduler=scheduler,
        file=said["file"],
        read_only=said["read_only"],
        speed=said["speed"],
        record=said["record"],
        batch_window_ms=said["batch_window_ms"],
    )
