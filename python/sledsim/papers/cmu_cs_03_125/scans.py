"""Free scans of the whole device, for Figure 4 and Table 4."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim.papers import summary_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONFIGURATIONS = {"p20_m5": (20, 5), "p20_m0": (20, 0), "p10_m5": (10, 5), "p10_m0": (10, 0)}
"""p and M by name, in the order of Table 4."""
LABELS = {name: f"p = {at_once}, M = {reach}" for name, (at_once, reach) in CONFIGURATIONS.items()}
INTERVAL_S = 0.103
"""From one request of the foreground to the next: see ``table4.toml``."""
ENDLESS = 100_000_000


@dataclass(frozen=True)
class Scan:
    """The results of a scan."""

    minutes: list[float]
    """When every whole percent of the blocks had been read, from 0 to as far as it went."""
    requests: list[int]
    """Foreground requests until each of these times."""
    free_blocks: list[int]
    """Blocks read for free until each of these times."""

    def free_per_request(self, percent: int) -> float:
        """Return the mean number of free blocks of a request, up to a percent."""
        return self.free_blocks[percent] / self.requests[percent]


def scan(name: str, seed: int, order: str = "nearest", requests: int = ENDLESS) -> Scan:
    """Read random 4 KB until everything has been read, by a request or for free.

    In what ``order`` the background takes blocks, ``"nearest"`` cylinder first or by ``"lbn"``,
    matters with micropositioning only. After so many ``requests`` it is given up.
    """
    at_once, reach = CONFIGURATIONS[name]
    tips = ss.device("cmu2003").parameters["tips_per_lbn"]
    device = ss.device("cmu2003", active_tips=at_once * tips, micropositioning_cylinders=reach)
    load = ss.workload(
        "random",
        rate=1 / INTERVAL_S,
        arrivals="constant",
        requests=requests,
        size="fixed",
        mean_size_kib=4,
        blocking=8,
        read_fraction=1,
        seed=seed,
    )
    background = {"task": "scan", "order": order, "ends_run": True}
    summary = summary_of(load, device, background=background)
    percent: dict[str, list[Any]] = summary["background"][0]["percent"]
    minutes = [time_s / 60 for time_s in percent["time_s"] if time_s is not None]
    return Scan(minutes, percent["requests"], percent["free_blocks"])


def scans(
    names: Sequence[str], seeds: Sequence[int], order: str = "nearest"
) -> Mapping[str, list[Scan]]:
    """Run some configurations with some seeds, on all processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        started = {name: [pool.submit(scan, name, seed, order) for seed in seeds] for name in names}
        return {name: [one.result() for one in each] for name, each in started.items()}
