"""Free scans of the whole device, for Figure 4 and Table 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim.executors import completed, workers
from sledsim.hardware import Sled
from sledsim.loads import workload
from sledsim.papers import summary_of
from sledsim.papers.cmu_cs_03_125.memstore import memstore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledsim.papers import Setup

CONFIGURATIONS = {"p20_m5": (20, 5), "p20_m0": (20, 0), "p10_m5": (10, 5), "p10_m0": (10, 0)}
"""p and M by name, in the order of Table 4."""
LABELS = {name: f"p = {at_once}, M = {reach}" for name, (at_once, reach) in CONFIGURATIONS.items()}
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
    rows: float
    """Rows that a request passes in the mean."""

    def free_per_request(self, percent: int) -> float:
        """Return the mean number of free blocks of a request, up to a percent."""
        return self.free_blocks[percent] / self.requests[percent]


def device_of(setup: Setup, name: str) -> Sled:
    """Return the device of a configuration."""
    at_once, reach = CONFIGURATIONS[name]
    keys: dict[str, Any] = {}
    if setup["media"]["shares"] == "channels":
        keys["conflicts"] = {"kind": "channel", "channels": at_once}
    tips = memstore(setup).parameters["tips_per_lbn"]
    left = max(0, reach - setup["media"]["reach_lost"])
    return memstore(setup, active_tips=at_once * tips, micropositioning_cylinders=left, **keys)


def scan(setup: Setup, name: str, seed: int, requests: int = ENDLESS) -> Scan:
    """Read random 4 KB until everything has been read, by a request or for free.

    After so many ``requests`` it is given up.
    """
    own = setup["requests"]
    load = workload(
        "random",
        rate=1e3 / own["interval_ms"],
        arrivals="constant",
        requests=requests,
        size="fixed",
        mean_size_kib=own["kib"],
        blocking=own["blocking"],
        read_fraction=1,
        seed=seed,
    )
    device = device_of(setup, name)
    # Of one cylinder there is no order: the run is that of the set-up of the paper.
    reach = device.parameters["micropositioning_cylinders"]
    order = setup["background"]["order"] if reach else "nearest"
    background = {"task": "scan", "order": order, "ends_run": True}
    summary = summary_of(load, device, background=background)
    percent: dict[str, list[Any]] = summary["background"][0]["percent"]
    minutes = [time_s / 60 for time_s in percent["time_s"] if time_s is not None]
    rows = summary["passes"] / summary["requests"]
    return Scan(minutes, percent["requests"], percent["free_blocks"], rows)


def scans(setup: Setup, names: Sequence[str], seeds: Sequence[int]) -> Mapping[str, list[Scan]]:
    """Run some configurations with some seeds, on all processors."""
    tasks = [(name, seed) for name in names for seed in seeds]
    with workers() as pool:
        found = dict(completed(pool, lambda task: scan(setup, *task), tasks))
    return {name: [found[name, seed] for seed in seeds] for name in names}
