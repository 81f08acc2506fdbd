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
import sledsim as ss
from matplotlib.figure import Figure
from shared import picture_path, write_results
from sledsim.plots import bars, curves, scales
from sledsim.plots.style import looks

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
WAYS = {"alone": "one device", "raid5": "RAID 5"}
LEAST_MB_S = 5.0  # what a rebuild takes when the host never rests
MTTF_HOURS = [10**4 * 10 ** (step / 8) for step in range(25)]
COLOURS = {name: look.color for name, look in looks(list(DEVICES)).items()}


def array(name: str, **keys: Any) -> ss.Device:
    """Return a RAID 5 of five such devices."""
    if "spares" in keys:
        keys = {"rebuild_unit_blocks": 1024, "rebuild_min_mb_s": LEAST_MB_S} | keys
    return ss.device(ARRAY, child={"base": name} | DEVICES[name], **keys)


def small_write_ms(device: ss.Device, requests: int) -> float:
    """Return the time of a write of 4 KiB to an idle array."""
    load = ss.workload("random", requests=requests, read_fraction=0, size="fixed", blocking=8)
    run = ss.simulate(load, device, rows=False)
    return float(run.summary["response_time_ms"]["mean"])


def requests_at(rate: float, requests: int) -> ss.Load:
    """Return random requests of 4 KiB, half of them writes."""
    keys: dict[str, Any] = {"size": "fixed", "blocking": 8, "read_fraction": 0.5}
    return ss.workload("random", rate=rate, requests=requests, **keys)


def in_phase(name: str, keys: dict[str, Any], requests: int) -> dict[str, float]:
    """Return the response times of the requests that arrive in a phase."""
    run = ss.simulate(requests_at(BUSY[name], requests), array(name, **keys))
    whole = run.summary["devices"][0]
    end_ns = whole["counts"]["rebuild_ns"] if "spares" in keys else 2**63 - 1
    times = (
        pl.DataFrame(run.rows)
        .filter(pl.col("arrival_ns") < end_ns)
        .select(ms=(pl.col("completion_ns") - pl.col("arrival_ns")) / 1e6)
    )["ms"]
    return {"mean_ms": float(times.mean()), "p99_ms": float(times.quantile(0.99))}  # type: ignore[arg-type]


def rebuild_s(name: str, rate: float, quick: bool) -> float:
    """Return the time of a rebuild beside so many requests per second."""
    keys = PHASES["rebuilding"] | ({"rebuild_min_mb_s": 40} if quick else {})
    device = array(name, **keys)
    blocks = ss.device(name).blocks
    longest_s = blocks * 512e-6 / keys.get("rebuild_min_mb_s", LEAST_MB_S)
    run = ss.simulate(requests_at(rate, int(rate * longest_s) + 1), device, rows=False)
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
            "risk": [
                ss.failures.rebuild_risk(took[BUSY[name]], mttf, CHILDREN - 1)
                for mttf in MTTF_HOURS
            ],
        }
    return result


def draw_writes(axes: Axes, result: dict[str, Any]) -> None:
    """Draw the time of a small write."""
    times = [found["small_write_ms"] for found in result.values()]
    series = {label: [own[key] for own in times] for key, label in WAYS.items()}
    texts = {
        "one device": [f"{own['alone']:.2f}" for own in times],
        "RAID 5": [
            f"{own['raid5']:.2f}\n(\u00d7 {own['raid5'] / own['alone']:.2f})" for own in times
        ],
    }
    bars.grouped(axes, list(result), series, texts)
    axes.set(ylabel="response time, ms")
    axes.margins(y=0.25)
    curves.heading(axes, "A write of 4 KiB, nothing else to do")


def draw_phases(axes: Axes, result: dict[str, Any]) -> None:
    """Draw response times before and after a failure."""
    every = [own for found in result.values() for own in found["phases"].values()]
    low, high = scales.ends(time for own in every for time in own.values())
    scales.logarithmic(axes, "y", low / 2, 2 * high)
    handles = {}
    for offset, (name, found) in zip((-0.2, 0.2), result.items(), strict=True):
        for place, phase in enumerate(PHASES):
            times = found["phases"][phase]
            at = place + offset
            axes.bar(at, times["p99_ms"], 0.38, color="white", hatch="....")
            drawn = axes.bar(at, times["mean_ms"], 0.38, color=COLOURS[name])
            axes.annotate(
                f"{times['mean_ms']:.2f}",
                (at, times["p99_ms"]),
                (0, 3),
                textcoords="offset points",
                ha="center",
                fontsize="small",
            )
            handles[f"{name}, {found['rate_per_s']} requests/s"] = drawn
    axes.set_xticks(range(len(PHASES)), list(PHASES))
    axes.set(ylabel="response time, ms: mean (written);\ndotted: 99 of 100 are below")
    axes.grid(visible=False, axis="x")
    curves.legend_above(axes, handles)
    curves.heading(axes, "Five devices, one of which fails; half writes")


def draw_rebuilds(axes: Axes, result: dict[str, Any]) -> None:
    """Draw the time of a rebuild by the rate of requests."""
    drawn = {
        name: (
            [float(rate) for rate in found["rebuild_s"]],
            [time / 60 for time in found["rebuild_s"].values()],
        )
        for name, found in result.items()
    }
    scales.logarithmic(axes, "x", *scales.ends(x for xs, _ in drawn.values() for x in xs))
    axes.set(xlabel="requests/s", ylabel="rebuild, minutes")
    curves.draw(axes, drawn, own=looks(list(drawn)), log_y=True)
    curves.heading(axes, f"A rebuild in idle time, at least {LEAST_MB_S:g} MB/s")


def draw_risk(axes: Axes, result: dict[str, Any]) -> None:
    """Draw the probability of a second failure before the end of the rebuild."""
    own = looks(list(result)).values()
    drawn = {
        f"{name}, {found['rate_per_s']} requests/s": (MTTF_HOURS, found["risk"])
        for name, found in result.items()
    }
    scales.logarithmic(axes, "x", MTTF_HOURS[0], MTTF_HOURS[-1])
    axes.set(xlabel="MTTF of a device, hours", ylabel="probability")
    keys = dict(zip(drawn, own, strict=True))
    curves.draw(axes, drawn, own=keys, markers=False, log_y=True)
    curves.heading(axes, "A second failure before the rebuild is over")


def picture(result: dict[str, Any]) -> Figure:
    """Draw all of it."""
    figure = Figure(figsize=(10, 7.6))
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
    write_results(options, result, picture)


if __name__ == "__main__":
    main()
