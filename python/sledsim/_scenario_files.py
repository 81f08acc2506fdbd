"""Scenarios: a load, a device and a scheduler in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sledsim import _core
from sledsim._arguments import path_text, text
from sledsim._load import Load
from sledsim.hardware.factory import wrap
from sledsim.traces.files import samples_folder

if TYPE_CHECKING:
    from os import PathLike

    from sledsim.hardware import Device


class Scenario(NamedTuple):
    """What a scenario runs: ``simulate(*scenario("mcd-hplajw-like"))``."""

    load: Load
    device: Device
    scheduler: str


def scenario(name: str | PathLike[str]) -> Scenario:
    """Read a scenario, as ``sledsim run NAME`` does.

    Parameters
    ----------
    name
        One of :func:`scenarios`, or the path of a TOML file.

    Raises
    ------
    SledsimError
        For an unknown name, or a file that is wrong.
    """
    given = text("scenario", path_text("scenario", name))
    made = _core.scenario(given, None, None, None, None, [], samples_folder(), None, [])
    device, load, scheduler = made
    return Scenario(Load(load, "scenario"), wrap(device), scheduler)


def scenarios() -> list[str]:
    """Names of the scenarios that come with sledsim."""
    return _core.names("scenarios")
