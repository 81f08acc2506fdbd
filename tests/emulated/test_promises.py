"""What a standard promises of commands survives power failures, through every door."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import sledsim as ss

from tests.mounted import may_mount
from tests.promise_doors import DOORS, Iscsi, PowerOffError
from tests.promise_model import Host, Step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.promise_doors import Door

pytestmark = pytest.mark.xdist_group("promises")

DEVICES = ["g2", "g2-buffered", "atlas10k", "mcd", "mwb", "flash"]
COMMANDS = 4200
"""Of each door and device: 100,000 in all."""
BLOCKS = 48
SPEED = 10.0
"""A command takes as long as its way here and back, so that power fails while it is served."""
FASTER = {"mcd": 60.0, "mwb": 60.0}
"""These take seconds to start."""


def execute(door: Door, commands: int) -> tuple[int, int]:
    """Execute random commands, with power failures between and among them.

    Returns how often power failed, and how often a command was not answered then.
    """
    host, cuts, in_flight = door.host, 0, 0
    door.enter()
    with ThreadPoolExecutor(1) as pool:
        while commands > 0:
            is_among = host.chance(0.6)
            cut = pool.submit(cut_after, door, host.rng.uniform(0, 0.008)) if is_among else None
            try:
                while cut is None or not cut.done():
                    step = host.rng.choice(door.draws())()
                    one(host, step)
                    commands -= 1
                    # Just after a promise, where a device that breaks it has had no time.
                    if not is_among and step.keeps and host.chance(0.1):
                        cut = pool.submit(cut_after, door, 0)
                        break
            except PowerOffError:
                assert is_among
                in_flight += 1
            assert cut is not None
            cut.result()
            cuts += 1
            door.leave()
            door.server.power_on()
            door.enter()
            for step in door.repair(host.power_fails(door.read)):
                one(host, step)
    door.leave()
    return cuts, in_flight


def cut_after(door: Door, delay_s: float) -> None:
    time.sleep(delay_s)
    door.server.power_cut()


def one(host: Host, step: Step) -> None:
    host.begins(step)
    host.ends(step, step.run())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", DOORS)
def test_what_is_promised_survives_power_failures(name: str, device: str, tmp_path: Path) -> None:
    if name == "fuse" and not may_mount():
        pytest.skip("FUSE needs Linux, /dev/fuse and root")
    door = DOORS[name](Host(1, BLOCKS), device, tmp_path)
    speed = FASTER.get(device, SPEED)
    export = ss.emulator.Export(device=device, name="d", speed=speed, power_cut="manual")
    with ss.serve(export, **door.address()) as door.server:
        cuts, in_flight = execute(door, COMMANDS)
    assert cuts > 20
    assert in_flight > 0


@pytest.mark.parametrize("device", ["g2", "g2-buffered"])
def test_a_formatted_device_stays_so(device: str, tmp_path: Path) -> None:
    """Its own test, as the whole device is written."""
    door = Iscsi(Host(1, BLOCKS), device, tmp_path)
    export = ss.emulator.Export(device=device, name="d", speed=1000, power_cut="manual")
    with ss.serve(export, **door.address()) as door.server:
        door.enter()
        for step in (door.writing(), door.writing(), door.synchronizing(), door.formatting()):
            one(door.host, step)
        door.server.power_cut()
        door.leave()
        door.server.power_on()
        door.enter()
        assert door.host.power_fails(door.read) == []
        door.leave()
