"""Section 7: power of sleds, and savings."""

import sledsim as ss
from sledsim import power
from sledsim.papers import Found

DEVICE = "g2"
SIZES_KIB = (4, 16, 64, 256, 1024)


def simulate(*, quick: bool) -> Found:
    """Run with savings and without."""
    requests = 1_000 if quick else 10_000
    sled = ss.device(DEVICE)
    load = ss.workload("random", rate=10, requests=requests)
    bursts = ss.workload(
        "sequential", sequential_fraction=0.5, rate=50, on_ms=50, off_ms=950, requests=requests
    )
    per_bit = {
        kib: power.energy_per_bit_nj(sled, kib, requests=requests // 10) for kib in SIZES_KIB
    }
    policies = power.trade_off(
        load, DEVICE, {name: {"policy": name} for name in ("never", "immediate")}
    )
    savings = {saving.name: saving for saving in power.lin2002(load, DEVICE)}
    merging = {saving.name: saving for saving in power.lin2002(bursts, DEVICE)}["merging"]
    return Found(
        {
            "sensing": 100 * power.sensing_share(sled),
            "bits": [kib * per_bit[kib] for kib in SIZES_KIB],
            "per_bit": per_bit[256] / per_bit[1024],
            "restart_ms": policies["immediate"].response_ms - policies["never"].response_ms,
            "aggressive": {name: spent.total_j for name, spent in policies.items()},
            "spin_down": 100 * savings["spin_down"].computed,
            "merging": 100 * merging.computed,
            "sub_sector": 100 * savings["sub_sector"].computed,
            "together": 100 * savings["all"].computed,
        },
        series={"per_bit_nj": {str(kib): nj for kib, nj in per_bit.items()}},
    )
