"""Makes an export of the options of the command line or of a mount's server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import placed
from sledsim._core import SpecError
from sledsim.emulator import tip_faults
from sledsim.emulator.server import Export
from sledsim.hardware import wrap

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
    "power_cut": None,
    "record_data": None,
    "faults": None,
}
"""Options beside the device, with their defaults."""


def export_of(options: Mapping[str, Any], name: str | None = None) -> Export:
    """Make an export of options: ``device`` and all of `DEFAULTS`."""
    for setting in options["set"]:
        if not setting.startswith(("device.", "scheduler.", "layout.")):
            raise placed(
                SpecError,
                f"--set {setting}: must begin with device., scheduler. or layout.",
                key="set",
            )
    core, _, scheduler = _core.scenario(
        None,
        options["device"],
        options["scheduler"],
        None,
        None,
        options["set"],
        None,
        options["layout"],
        options["background"],
    )
    faults = options["faults"]
    with_them = tip_faults.with_said if isinstance(faults, str) else tip_faults.with_faults
    return Export(
        device=with_them(wrap(core), faults),
        name=name,
        scheduler=scheduler,
        file=options["file"],
        read_only=options["read_only"],
        speed=options["speed"],
        record=options["record"],
        batch_window_ms=options["batch_window_ms"],
        power_cut=options["power_cut"],
        record_data=options["record_data"],
    )
