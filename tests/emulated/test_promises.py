"""What a standard promises of commands survives power failures, through every door.

`python -m tests.emulated.test_promises 100000` executes as many commands on each door and device,
and prints a table.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sledsim as ss

from tests.mounted import may_mount
from tests.promise_doors import DOORS, Iscsi, PowerOffError
from tests.promise_model import BrokenError, Host, Step

if TYPE_CHECKING:
    from tests.promise_doors import Door

DEVICES = ["g2", "g2-buffered", "atlas10k", "mcd", "mwb", "flash"]
COMMANDS = 4200
"""Of each door and device: 100,000 in all."""
BLOCKS = 48
SPEED = 10.0
"""A command takes as long as its way here and back, so that power fails while it is served."""
FASTER = {"mcd": 60.0, "mwb": 60.0}
"""These take seconds to start."""


@dataclass
class Counts:
    """What was done."""

    commands: int = 0
    cuts: int = 0
    in_flight: int = 0
    """Cuts by which a command was not answered."""
    torn: int = 0


def execute(door: Door, commands: int) -> Counts:
    """Execute random commands, with power failures between and among them."""
    host, counts = door.host, Counts()
    door.enter()
    with ThreadPoolExecutor(1) as pool:
        while counts.commands < commands:
            is_among = host.chance(0.6)
            cut = pool.submit(cut_after, door, host.rng.uniform(0, 0.008)) if is_among else None
            try:
                while cut is None or not cut.done():
                    step = host.rng.choice(door.draws())()
                    one(host, step)
                    counts.commands += 1
                    # Just after a promise, where a device that breaks it has had no time.
                    if not is_among and step.keeps and host.chance(0.1):
                        cut = pool.submit(cut_after, door, 0)
                        break
            except PowerOffError:
                assert is_among
                counts.in_flight += 1
            assert cut is not None
            cut.result()
            counts.cuts += 1
            door.leave()
            door.server.power_on()
            door.enter()
            torn = host.power_fails(door.read)
            counts.torn += len(torn)
            for step in door.repair(torn):
                one(host, step)
    door.leave()
    return counts


def cut_after(door: Door, delay_s: float) -> None:
    time.sleep(delay_s)
    door.server.power_cut()


def one(host: Host, step: Step) -> None:
    host.begins(step)
    host.ends(step, step.run())


def promised(name: str, device: str, commands: int, seed: int) -> Counts:
    """Serve a device through one door, and execute commands; what is broken raises."""
    with tempfile.TemporaryDirectory() as folder:
        door = DOORS[name](Host(seed, BLOCKS), device, Path(folder))
        export = ss.emulator.Export(
            device=device, name="d", speed=FASTER.get(device, SPEED), power_cut="manual"
        )
        with ss.serve(export, **door.address()) as door.server:
            return execute(door, commands)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", DOORS)
def test_what_is_promised_survives_power_failures(name: str, device: str) -> None:
    if name == "fuse" and not may_mount():
        pytest.skip("FUSE needs Linux, /dev/fuse and root")
    counts = promised(name, device, COMMANDS, seed=1)
    assert counts.cuts > 20
    assert counts.in_flight > 0


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


def table(commands: int) -> None:
    """Write a table of so many commands on each door and device."""
    columns = ("door", "device", "commands", "cuts", "in flight", "torn", "broken")
    sys.stdout.write("{:6} {:12} {:>9} {:>7} {:>9} {:>6} {}\n".format(*columns))
    for name in DOORS:
        for device in DEVICES:
            try:
                own = promised(name, device, commands, seed=2)
                text = f"{own.commands:9,} {own.cuts:7,} {own.in_flight:9,} {own.torn:6,} 0"
            except BrokenError as broken:
                text = str(broken)
            sys.stdout.write(f"{name:6} {device:12} {text}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    table(int(sys.argv[1]))
