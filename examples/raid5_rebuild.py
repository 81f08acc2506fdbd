"""RAID 5 of sleds against RAID 5 of disks: small writes, a failure, a rebuild, and its risk.

Run it as ``python examples/raid5_rebuild.py [--quick] [--output FILE] [--json FILE]``. A small
write to a RAID 5 reads old data and old parity and then writes both. A disk has to turn round once
before it writes what it has just read; a sled only has to turn back (CMU-CS-00-136, section 6).
Then one of five devices fails: what requests cost while it is missing and while a spare is rebuilt,
how long that takes by the rate of requests, and how likely a second device fails meanwhile. Writes
are complete when they are on the media, for sleds and for disks.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import shared
import sledsim as ss
from matplotlib.figure import Figure
from shared import PLAIN, picture_path, write_results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

ARRAY, CHILDREN = Path(__file__).with_name("raid5.toml"), 5
DEVICES: dict[str, dict[str, Any]] = {
    "g2": {},
    # On the bus of its data sheet, Ultra2 SCSI with 80 MB/s; the preset has that of a measurement.
    "atlas10k": {
        "buffer": {"write_back": "none"},
        "bus_ms_per_block": 0.0064,
        "bus_write_ms_per_block": 0.0064,
    },
}
RATES = {"g2": (10, 200, 400, 600, 800), "atlas10k": (2, 20, 40, 60, 80)}  # per second
BUSY = {"g2": 400, "atlas10k": 40}  # about as many of the requests that either array can serve
PHASES: dict[str, dict[str, Any]] = {
    "normal": {},
    "degraded": {"fail_child": 1, "fail_at_ms": 0},
    "rebuilding": {"fail_child": 1, "fail_at_ms": 0, "spares": 1},
}
LEAST_MB_S = 5.0  # what a rebuild takes when the host never rests
MTTF_HOURS = [10**4 * 10 ** (step / 8) for step in range(25)]
STYLE = shared.STYLE | {"font.size": 9, "axes.grid": True, "svg.hashsalt": "raid5"}
COLOURS = {"g2": "#332288", "atlas10k": "#cc6677"}


def array(name: str, **keys: Any) -> ss.Device:
    """Return a RAID 5 of five such devices."""
    if "spares" in keys:
        keys = {"rebuild_unit_blocks": 1024, "rebuild_min_mb_s": LEAST_MB_S} | keys
    return ss.device(ARRAY, child={"base": name} | DEVICES[name], **keys)


def small_write_ms(device: ss.Device, requests: int) -> float:
    """Return the time of a write of 4 KiB to an idle array."""
    load = ss.workload("random", requests=requests, read_fraction=0, size="fixed", blocking=8)
    run = ss.simulate(load, device, requests=False)
    return float(run.summary["response_time_ms"]["mean"])


def requests_at(rate: float, requests: int) -> ss.Load:
    """Return random requests of 4 KiB, half of them writes."""
    keys = {"size": "fixed", "blocking": 8, "read_fraction": 0.5}
    return ss.workload("random", rate=rate, requests=requests, **keys)


def in_phase(name: str, keys: dict[str, Any], requests: int) -> dict[str, float]:
    """Return the response times of the requests that arrive in a phase."""
    run = ss.simulate(requests_at(BUSY[name], requests), array(name, **keys))
    whole = run.summary["devices"][0]
    end_ns = whole["counts"]["rebuild_ns"] if "spares" in keys else 2**63 - 1
    times = (
        pl.DataFrame(run.requests)
        .filter(pl.col("device").cast(pl.String) == whole["name"], pl.col("arrival_ns") < end_ns)
        .select(ms=(pl.col("completion_ns") - pl.col("arrival_ns")) / 1e6)
    )["ms"]
    return {"mean_ms": float(times.mean()), "p99_ms": float(times.quantile(0.99))}  # type: ignore[arg-type]


def rebuild_s(name: str, rate: float, quick: bool) -> float:
    """Return the time of a rebuild beside so many requests per second."""
    keys = PHASES["rebuilding"] | ({"rebuild_min_mb_s": 40} if quick else {})
    device = array(name, **keys)
    blocks = ss.device(name).blocks
    longest_s = blocks * 512e-6 / keys.get("rebuild_min_mb_s", LEAST_MB_S)
    run = ss.simulate(requests_at(rate, int(rate * longest_s) + 1), device, requests=False)
    return float(run.summary["devices"][0]["counts"]["rebuild_ns"] / 1e9)


def explore(quick: bool) -> dict[str, Any]:
    """Return all numbers."""
    requests = 500 if quick else 5000
    result: dict[str, Any] = {}
    for name, keys in DEVICES.items():
        rates = [rate for rate in RATES[name] if not quick or rate in (RATES[name][0], BUSY[name])]
        took = {rate: rebuild_s(name, rate, quick) for rate in rates}
        result[name] = {
            "small_write_ms": {
                "alone": small_write_ms(ss.device(name, **keys), requests),
                "raid5": small_write_ms(array(name), requests),
            },
            "phases": {
                phase: in_phase(name, keys, 10 * requests) for phase, keys in PHASES.items()
            },
            "rate_per_s": BUSY[name],
            "rebuild_s": took,
            "risk": [ss.rebuild_risk(took[BUSY[name]], mttf, CHILDREN - 1) for mttf in MTTF_HOURS],
        }
    return result


def draw_writes(axes: Axes, result: dict[str, Any]) -> None:
    """Draw the time of a small write."""
    for place, (name, found) in enumerate(result.items()):
        times = found["small_write_ms"]
        for offset, way, alpha in ((-0.2, "alone", 0.5), (0.2, "raid5", 1.0)):
            bars = axes.bar(place + offset, times[way], 0.38, color=COLOURS[name], alpha=alpha)
            times_it = "" if way == "alone" else f"\n{times[way] / times['alone']:.2f} times"
            what = "one device" if way == "alone" else "RAID 5"
            axes.bar_label(bars, [f"{what}\n{times[way]:.2f} ms{times_it}"], fontsize=7)
    axes.set_xticks(range(len(result)), list(result))
    axes.set(ylabel="response time in ms")
    axes.margins(y=0.25)
    axes.set_title("A write of 4 KiB, nothing else to do")


def draw_phases(axes: Axes, result: dict[str, Any]) -> None:
    """Draw response times before and after a failure."""
    for offset, (name, found) in zip((-0.2, 0.2), result.items(), strict=True):
        for place, phase in enumerate(PHASES):
            times = found["phases"][phase]
            axes.bar(place + offset, times["p99_ms"], 0.38, color=COLOURS[name], alpha=0.35)
            label = f"{name}, {found['rate_per_s']} per s" if place == 0 else None
            bars = axes.bar(
                place + offset, times["mean_ms"], 0.38, color=COLOURS[name], label=label
            )
            axes.bar_label(bars, [f"{times['mean_ms']:.2f}"], fontsize=7)
    axes.set_xticks(range(len(PHASES)), list(PHASES))
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(PLAIN)
    axes.set(ylabel="response time in ms")
    axes.legend(title="mean; pale: 99 of 100 are below", fontsize=8, title_fontsize=8)
    axes.margins(y=0.3)
    axes.set_title("Five devices, one of which fails; half writes")


def draw_rebuilds(axes: Axes, result: dict[str, Any]) -> None:
    """Draw the time of a rebuild by the rate of requests."""
    for name, found in result.items():
        rates = [float(rate) for rate in found["rebuild_s"]]
        minutes = [time / 60 for time in found["rebuild_s"].values()]
        axes.plot(rates, minutes, "o-", color=COLOURS[name], markersize=4, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_major_formatter(PLAIN)
    axes.minorticks_off()
    axes.set_yticks([0.5, 1, 2, 5, 10, 20])
    axes.set(xlabel="requests per s", ylabel="rebuild in minutes", ylim=(0.5, 30))
    axes.set_title(f"A rebuild in idle time, at least {LEAST_MB_S:g} MB/s")
    axes.legend()


def draw_risk(axes: Axes, result: dict[str, Any]) -> None:
    """Draw the probability of a second failure before the end of the rebuild."""
    for name, found in result.items():
        label = f"{name}, {found['rate_per_s']} requests per s"
        axes.loglog(MTTF_HOURS, found["risk"], color=COLOURS[name], label=label)
    axes.set(xlabel="MTTF of a device in hours", ylabel="probability")
    axes.set_title("A second failure before the rebuild is over")
    axes.legend(fontsize=8)


def picture(result: dict[str, Any]) -> Figure:
    """Draw all of it."""
    figure = Figure(figsize=(10, 7.2))
    parts = figure.subplots(2, 2)
    draw_writes(parts[0, 0], result)
    draw_phases(parts[0, 1], result)
    draw_rebuilds(parts[1, 0], result)
    draw_risk(parts[1, 1], result)
    return figure


def table(result: dict[str, Any]) -> str:
    """Return the numbers as text."""
    lines = ["device     write alone  in RAID 5  normal  degraded  rebuilding  rebuild"]
    for name, found in result.items():
        writes = found["small_write_ms"]
        means = [found["phases"][phase]["mean_ms"] for phase in PHASES]
        took = found["rebuild_s"][found["rate_per_s"]]
        lines.append(
            f"{name:<9}  {writes['alone']:8.3f} ms  {writes['raid5']:6.3f} ms"
            f"  {means[0]:6.3f}  {means[1]:8.3f}  {means[2]:7.3f} ms  {took:,.0f} s"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything, print a table and draw a picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer requests, faster rebuilds")
    parser.add_argument("--output", type=picture_path, default=Path("out/raid5_rebuild.png"))
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    options = parser.parse_args(arguments)
    result = explore(options.quick)
    print(table(result))
    write_results(options, result, picture, STYLE)


if __name__ == "__main__":
    main()
