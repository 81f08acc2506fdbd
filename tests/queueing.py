"""Queues with a known load: one server, Poisson arrivals, three distributions of service times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import sledsim as ss

if TYPE_CHECKING:
    from pathlib import Path

MS_PER_BLOCK = 1 / 64
KINDS = ("M/D/1", "M/M/1", "M/H2/1")
"""Fixed, exponential (geometric in blocks), and hyperexponential service times: coefficients of
variation 0, 1 and 2."""
_SMALL, _LARGE = (0.8873, 18), (0.1127, 142)
"""Shares of the requests and mean sizes in KiB: means balanced, so that the variation is 2."""
_DEVICE = f"""title = "server"
kind = "memory"
blocks = 1000000000
latency_ms = 0.0
ms_per_block = {MS_PER_BLOCK!r}
"""


def server(folder: Path) -> ss.Device:
    """Return a device that takes a fixed time for each block and nothing else."""
    file = folder / "server.toml"
    file.write_text(_DEVICE)
    return ss.device(file)


def load(kind: str, utilisation: float, requests: int, **keys: Any) -> ss.Load:
    """Return arrivals that keep the server busy for such a share of the time."""
    if kind == "M/H2/1":
        mean_kib = sum(share * kib for share, kib in (_SMALL, _LARGE))
        rate = utilisation * 1e3 / (2 * mean_kib * MS_PER_BLOCK)
        part = {
            name: {"rate": share * rate, "mean_size_kib": kib, "size": "geometric"}
            for name, (share, kib) in (("small", _SMALL), ("large", _LARGE))
        }
        return ss.workload("mix", part=part, requests=requests, **keys)
    size: Literal["fixed", "geometric"] = "fixed" if kind == "M/D/1" else "geometric"
    rate = utilisation * 1e3 / (64 * MS_PER_BLOCK)
    return ss.workload("random", rate=rate, size=size, mean_size_kib=32, requests=requests, **keys)


def flagged(device: ss.Device, kind: str, utilisation: float, requests: int, seeds: int) -> int:
    """Return the number of runs that are flagged, each by itself."""
    run = ss.simulate(load(kind, utilisation, requests), device, replications=seeds, rows=False)
    runs = run.summary["seeds"]
    if runs is None:
        return int(run.summary["overloaded"] is not None)
    return sum(one["overloaded"] for one in runs)
