"""Section 6.3: start-up times, and the cost of synchronous writes."""

from sledsim.hardware import Device
from sledsim.papers import Found, Setup, power
from sledsim.papers.osdi2000 import parts

DEVICES = 4
PLACES = 20


def rewrite_ms(device: Device) -> float:
    """Return the time of a synchronous write to the block before, over places of the device."""
    lbns = [device.blocks * (2 * place + 1) // (2 * PLACES) for place in range(PLACES)]
    return sum(power.rewrite_ms(device, lbn) for lbn in lbns) / PLACES


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Start devices, and write a block again and again."""
    del quick  # a matter of a second
    sled, disk = setup["idle_mode"], setup["disk"]["base"]
    disks = {
        start: power.spin_up(disk, DEVICES, start, power.DISK_POWER)
        for start in ("together", "in_turn")
    }
    return Found(
        {
            "sled_ms": 1e3 * power.start_up_s(sled, command_overhead_ms=0),
            "disk_s": power.start_up_s(disk, power.DISK_POWER),
            "surge": {
                "together": max(disks["together"][1]),
                "in turn": max(disks["in_turn"][1]),
            },
            "rewrite": {
                "MEMS": rewrite_ms(parts.sled(setup)),
                "disk": rewrite_ms(parts.disk(setup, buffer={"write_back": "none"})),
            },
        }
    )
