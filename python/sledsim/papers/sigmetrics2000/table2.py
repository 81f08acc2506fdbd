"""Table 2: service, seek and turnaround times under the random load."""

from statistics import fmean
from typing import Any

import sledsim as ss
from sledsim.papers import Found, summary_of

REQUESTS = 10_000
"""As many requests as in the paper: the longest of more would take longer."""
SEEKS = {"seek": "seek_ms", "x": "x_seek_ms", "y": "y_seek_ms", "turnaround": "turnaround_ms"}


def times(device: ss.Device, seeds: int, **region: Any) -> dict[str, float]:
    """Return the values of the table, in ms, as means over some seeds.

    Service times are of the load of section 3.2. Seek times are of requests of one block: these
    have one seek each, as the paper counts it, where longer ones have one for each of their passes.
    """
    found: list[dict[str, float]] = []
    for seed in range(1, seeds + 1):
        load = ss.workload(
            requests=REQUESTS, size="exponential", mean_size_kib=4, blocking=8, seed=seed, **region
        )
        blocks = ss.workload(
            requests=REQUESTS, size="fixed", mean_size_kib=0.5, seed=seed, **region
        )
        service = summary_of(load, device)["service_time_ms"]
        seeks = summary_of(blocks, device)
        row = {f"service_{key}_ms": service[key] for key in ("mean", "sd", "max")}
        for name, column in SEEKS.items():
            row |= {f"{name}_{key}_ms": seeks[column][key] for key in ("mean", "sd", "max")}
        found.append(row)
    mean = {key: fmean(row[key] for row in found) for key in found[0]}
    mean["settle_ms"] = device.spec["derived"]["settle_ms"]
    mean["service_less_seek_ms"] = mean["service_mean_ms"] - mean["seek_mean_ms"]
    return mean


def simulate(*, quick: bool) -> Found:
    """Run the device of Table 1, and its variants under hypotheses."""
    seeds = 3 if quick else 20
    table1 = ss.device("sigmetrics2000")
    stronger = ss.device("sigmetrics2000", acceleration_x_m_s2=281)
    return Found(
        times(table1, seeds),
        hypotheses={
            "outer_fifth": times(table1, seeds, last_lbn=table1.blocks // 5 - 1),
            "stronger_in_x": times(stronger, seeds),
        },
    )
