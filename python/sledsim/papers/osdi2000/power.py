"""Section 7: power of sleds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from sledsim import hardware
from sledsim.hardware import Device
from sledsim.loads import workload
from sledsim.papers import Found, Setup, power, summary_of
from sledsim.papers.osdi2000 import parts

SIZES_KIB = (4, 8, 16, 64, 256, 1024)
TIPS = (64, 128, 320, 640, 1280)
LARGE_KIB = 1024
AWAKE: dict[str, Any] = {"policy": "never"}


def large_reads(device: Device, requests: int) -> tuple[float, float]:
    """Return the energy of large reads one after the other, and their mean power in W."""
    load = workload(requests=requests, read_fraction=1, size="fixed", mean_size_kib=LARGE_KIB)
    summary = summary_of(load, device)
    energy_j = summary["energy_j"]["seek"] + summary["energy_j"]["transfer"]
    service_ms = summary["service_time_ms"]["mean"] + summary["bus_ms"]["mean"]
    service_s = service_ms / 1e3 * requests
    return energy_j, energy_j / service_s


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run with an idle mode and without, with few tips and with many."""
    requests = 1_000 if quick else 10_000
    name = setup["idle_mode"]
    sled = parts.sled(setup)
    load = workload("random", rate=10, requests=requests)
    bit_nj = [power.energy_per_bit_nj(sled, kib, requests=requests // 10) for kib in SIZES_KIB]
    policies = power.trade_off(
        load, name, {policy: {"policy": policy} for policy in ("never", "immediate")}
    )
    few = requests // 20
    by_tips = [
        large_reads(hardware.device(name, active_tips=tips, power=AWAKE), few)[1] for tips in TIPS
    ]
    steps = [
        (after[1] - before[1]) / (after[0] - before[0])
        for before, after in pairwise(zip(TIPS, by_tips, strict=True))
    ]
    mean = (by_tips[-1] - by_tips[0]) / (TIPS[-1] - TIPS[0])
    return Found(
        {
            "sensing": 100 * power.sensing_share(sled),
            "per_bit": [nj / bit_nj[-1] for nj in bit_nj],
            "restart_ms": policies["immediate"].response_ms - policies["never"].response_ms,
            "aggressive": {policy: spent.total_j for policy, spent in policies.items()},
            "by_tips_w": by_tips,
            "a_tip": [step / mean for step in steps],
            "compressed_j": {
                key: large_reads(hardware.device(name, power=AWAKE | own), few)[0]
                for key, own in {"compressed": {"compressed_to": 0.5}, "plain": {}}.items()
            },
        },
        series={"per_bit_nj": dict(zip(map(str, SIZES_KIB), bit_nj, strict=True))},
    )
