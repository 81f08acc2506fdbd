"""Figure 12: average access and seek times of three devices under the random load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.hardware import Disk
from sledsim.papers import Found, Simulated, summary_of
from sledsim.papers.sigmetrics2000.devices import DEVICES, device, random_load
from sledsim.plots import bars
from sledsim.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup


def means(setup: Setup, name: str, requests: int) -> dict[str, float]:
    """Run the random load; return means and standard deviations in ms."""
    one = device(setup, name)
    whole = {} if name == "mems" else {"last_lbn": one.blocks - 1}
    summary = summary_of(
        random_load(setup, one, requests=requests, warm_up_requests=1, **whole), one
    )
    return {
        "access_ms": summary["response_time_ms"]["mean"],
        "access_sd_ms": summary["response_time_ms"]["sd"],
        "seek_ms": summary["seek_ms"]["mean"],
        "seek_sd_ms": summary["seek_ms"]["sd"],
    }


def superdisk_facts(disk: Disk) -> dict[str, float]:
    """Return the values of the claims of section 4.1 about the Superdisk."""
    curve_ms = disk.seek_curve_ms()
    cylinders = len(curve_ms)
    # Of two cylinders at random, (n - d) in n^2 pairs are d apart, in either order.
    pairs = [2 * (cylinders - distance) for distance in range(1, cylinders)]
    moved = sum(time * count for time, count in zip(curve_ms[1:], pairs, strict=True)) / sum(pairs)
    return {
        "superdisk_seek_ms": moved,
        "superdisk_rpm": disk.parameters["rpm"],
        "superdisk_mb_s": max(zone.media_mb_s for zone in disk.zones()),
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run the three devices."""
    requests = 20_000 if quick else 500_000
    found = {name: means(setup, own, requests) for name, own in DEVICES.items()}
    access_ms = {name: times["access_ms"] for name, times in found.items()}
    superdisk = device(setup, "superdisk")
    if not isinstance(superdisk, Disk):
        raise TypeError(superdisk)
    values: dict[str, Simulated] = {
        "mems_ms": access_ms["MEMS"],
        "disk_ms": access_ms["Atlas 10K"],
        "times_faster": access_ms["Atlas 10K"] / access_ms["MEMS"],
        "order_ms": access_ms,
        **superdisk_facts(superdisk),
    }
    return Found(values, series=found)


def draw(figure: Figure, found: Found) -> None:
    """Draw bars of both times, with standard deviations."""
    axes = figure.add_subplot()
    kinds = {"access time": "access", "seek time": "seek"}
    devices = found.series.values()
    series = {label: [own[f"{kind}_ms"] for own in devices] for label, kind in kinds.items()}
    bars.grouped(axes, list(found.series), series)
    for shift, (label, kind) in zip((-0.2, 0.2), kinds.items(), strict=True):
        for place, (mean, own) in enumerate(zip(series[label], devices, strict=True)):
            spread = own[f"{kind}_sd_ms"]
            axes.errorbar(place + shift, mean, spread, color=INK, linewidth=1)
            at = (place + shift, mean + spread)
            keys: Any = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
            axes.annotate(f"{mean:.2f}", at, (0, 3), **keys)
    axes.set(ylabel="mean and standard deviation (ms)", ylim=(0, None))
