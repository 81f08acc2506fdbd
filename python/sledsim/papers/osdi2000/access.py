"""Sections 1 and 2.1: random access times."""

from sledsim.hardware import Sled
from sledsim.loads import workload
from sledsim.papers import Found, Setup, summary_of
from sledsim.papers.osdi2000 import parts


def rows_read(device: Sled, requests: int) -> dict[str, float]:
    """Read a row anywhere, one after the other; return means in ms."""
    load = workload(requests=requests, size="fixed", mean_size_kib=0.5, read_fraction=1)
    summary = summary_of(load, device)
    kinds = ("service_time", "x_seek", "y_seek", "turnaround")
    return {key: summary[f"{key}_ms"]["mean"] for key in kinds}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read rows anywhere."""
    access_ms = rows_read(parts.bare_sled(setup), 20_000 if quick else 200_000)["service_time"]
    return Found({"access_ms": access_ms, "read_4k_us": 1e3 * access_ms})
