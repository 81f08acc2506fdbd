"""Table 2: service, seek and turnaround times under the random load."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from sledsim.papers import Found, service_times_ms, summary_of
from sledsim.papers.sigmetrics2000.devices import random_load, sled

if TYPE_CHECKING:
    from sledsim.papers import Setup

REQUESTS = 10_000
"""As many requests as in the paper: the longest of more would take longer."""
SEEKS = {"seek": "seek_ms", "x": "x_seek_ms", "y": "y_seek_ms", "turnaround": "turnaround_ms"}
STATISTICS: dict[str, Callable[[list[float]], float]] = {"mean": fmean, "sd": pstdev, "max": max}
ONE_BLOCK = {"size": "fixed", "mean_size_kib": 0.5, "blocking": 1}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Return the values of the table, in ms, as means over some seeds.

    Service times are of the load of section 3.2. Seek times are of requests of one block: these
    have one seek each, as the paper counts it, where longer ones have one for each of their passes.
    """
    device = sled(setup)
    one_pass = {} if setup["requests_have_one_pass"] else ONE_BLOCK
    found: list[dict[str, float]] = []
    for seed in range(1, (3 if quick else 20) + 1):
        keys: dict[str, Any] = {"requests": REQUESTS, "warm_up_requests": 1, "seed": seed}
        load = random_load(setup, device, **keys)
        seeks = summary_of(random_load(setup, device, **keys | one_pass), device)
        if setup["service"] == "response":
            times = summary_of(load, device)["response_time_ms"]
            row = {f"service_{key}_ms": times[key] for key in STATISTICS}
        else:
            service = service_times_ms([load], device)
            row = {f"service_{key}_ms": of(service) for key, of in STATISTICS.items()}
        for name, column in SEEKS.items():
            row |= {f"{name}_{key}_ms": seeks[column][key] for key in STATISTICS}
        found.append(row)
    mean = {key: fmean(row[key] for row in found) for key in found[0]}
    mean["settle_ms"] = device.spec["derived"]["settle_ms"]
    return Found(mean)
