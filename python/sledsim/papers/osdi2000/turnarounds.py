"""Section 6.1.3: turnarounds."""

from sledsim.hardware import Sled
from sledsim.loads import workload
from sledsim.papers import Found, Setup, summary_of
from sledsim.papers.osdi2000 import access, parts

EDGE_M = 50e-6


def edges_ms(device: Sled) -> list[float]:
    """Turn around at both edges, moving up: the longest, the shortest."""
    return [
        1e3 * device.seek((0, y_m, "up"), (0, y_m, "down")).turnaround_s
        for y_m in (-EDGE_M, EDGE_M)
    ]


def mean_ms(device: Sled, load: str, *, quick: bool) -> float:
    """Return the mean turnaround of requests of one row, or of the load of section 3."""
    requests = 20_000 if quick else 200_000
    if load == "rows":
        return access.rows_read(device, requests)["turnaround"]
    random = workload(requests=requests, mean_size_kib=4)
    return float(summary_of(random, device)["turnaround_ms"]["mean"])


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Turn at the edges, and in random reads."""
    device = parts.sled(setup)
    longest, shortest = edges_ms(device)
    return Found(
        {
            "turnaround_min_ms": shortest,
            "turnaround_max_ms": longest,
            "turnaround_mean_ms": mean_ms(device, setup["turnaround_load"], quick=quick),
        }
    )
