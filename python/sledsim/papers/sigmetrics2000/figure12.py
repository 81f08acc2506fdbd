"""Figure 12: average access and seek times of three devices under the random load."""

from typing import Any

from matplotlib.figure import Figure

import sledsim as ss
from sledsim.papers import Found, Simulated, summary_of

DEVICES = {"MEMS": "sigmetrics2000", "Superdisk": "superdisk", "Atlas 10K": "atlas10k"}


def means(device: ss.Device, requests: int, **keys: Any) -> dict[str, float]:
    """Run the random load of section 3.2; return means and standard deviations in ms."""
    load = ss.workload(requests=requests, size="exponential", mean_size_kib=4, blocking=8, **keys)
    summary = summary_of(load, device)
    return {
        "access_ms": summary["response_time_ms"]["mean"],
        "access_sd_ms": summary["response_time_ms"]["sd"],
        "seek_ms": summary["seek_ms"]["mean"],
        "seek_sd_ms": summary["seek_ms"]["sd"],
    }


def compared(mems: dict[str, float], disk: dict[str, float]) -> dict[str, float]:
    """Return the values that the text states."""
    return {
        "mems_ms": mems["access_ms"],
        "disk_ms": disk["access_ms"],
        "times_faster": disk["access_ms"] / mems["access_ms"],
    }


def superdisk_facts(disk: ss.Disk) -> dict[str, float]:
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


def simulate(*, quick: bool) -> Found:
    """Run the three devices, and the MEMS device under hypotheses."""
    requests = 20_000 if quick else 500_000
    devices = {name: ss.device(preset) for name, preset in DEVICES.items()}
    found = {name: means(device, requests) for name, device in devices.items()}
    atlas, superdisk, mems = found["Atlas 10K"], devices["Superdisk"], devices["MEMS"]
    if not isinstance(superdisk, ss.Disk):
        raise TypeError(superdisk)
    outer = means(mems, requests, last_lbn=mems.blocks // 5 - 1)
    stronger = means(ss.device("sigmetrics2000", acceleration_x_m_s2=281), requests)
    access_ms = {name: times["access_ms"] for name, times in found.items()}
    values: dict[str, Simulated] = {
        **compared(found["MEMS"], atlas),
        "order_ms": access_ms,
        **superdisk_facts(superdisk),
    }
    return Found(
        values,
        hypotheses={
            "outer_fifth": compared(outer, atlas),
            "stronger_in_x": compared(stronger, atlas),
        },
        series=found,
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw bars of both times, with standard deviations."""
    axes = figure.add_subplot()
    for number, (kind, label) in enumerate((("access", "access time"), ("seek", "seek time"))):
        places = [device + 0.36 * number - 0.18 for device in range(len(found.series))]
        times = [device[f"{kind}_ms"] for device in found.series.values()]
        spread = [device[f"{kind}_sd_ms"] for device in found.series.values()]
        bars = axes.bar(places, times, 0.34, yerr=spread, capsize=3, label=label)
        axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=8)
    axes.set_xticks(range(len(found.series)), list(found.series))
    axes.set(ylabel="mean and standard deviation (ms)", ylim=(0, None))
    axes.grid(visible=False, axis="x")
    axes.legend()
