"""Section 6.3: start-up times, and the cost of synchronous writes."""

import sledsim as ss
from sledsim import power
from sledsim.papers import Found

SLED, DISK = "g2", "atlas10k"
DEVICES = 4
PLACES = 20


def rewrite_ms(name: str, **keys: object) -> float:
    """Return the time of a synchronous write to the block before, over places of the device."""
    device = ss.device(name, **keys)
    lbns = [device.blocks * (2 * place + 1) // (2 * PLACES) for place in range(PLACES)]
    return sum(power.rewrite_ms(device, lbn) for lbn in lbns) / PLACES


def simulate(*, quick: bool) -> Found:
    """Start devices, and write a block again and again."""
    del quick  # a matter of a second
    disks = {
        start: power.spin_up(DISK, DEVICES, start, power.DISK_POWER)
        for start in ("together", "in_turn")
    }
    sleds_s, _ = power.spin_up(SLED, DEVICES, "together", {}, window_ms=1)
    disk_s = power.start_up_s(DISK, power.DISK_POWER)
    return Found(
        {
            "sled_ms": 1e3 * power.start_up_s(SLED, command_overhead_ms=0),
            "disk_s": disk_s,
            "arrays": {
                "four sleds": sleds_s,
                "one disk": disk_s,
                "four disks": disks["in_turn"][0],
            },
            "surge": {
                "together": max(disks["together"][1]),
                "in turn": max(disks["in_turn"][1]),
            },
            "rewrite": {
                "MEMS": rewrite_ms(SLED),
                "disk": rewrite_ms(DISK, buffer={"write_back": "none"}),
            },
        }
    )
