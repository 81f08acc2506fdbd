"""When an idle device should go inactive: energy against response time, for a sled and a disk.

Run it as ``python examples/power_study.py [--quick] [--trace FILE] [--json FILE] [--output FILE]``.
Each line is a sweep over fixed timeouts, from never to at once, on three loads: random requests,
a trace that comes with sledsim, and a week of a workstation (``--trace``, by default
../shared/traces/hplajw-1992-week.srt if it is there). A sled wakes in half a millisecond and can
always go inactive at once; a disk that takes 25 s to spin up cannot. Below: the savings that Lin et
al. published in 2002 for a sled, and their values here.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from matplotlib.figure import Figure
from shared import picture_path, write_results
from sledsim.papers import power
from sledsim.plots import bars, curves, scales
from sledsim.plots.style import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

WEEK = Path(__file__).parents[2] / "shared/traces/hplajw-1992-week.srt"
SAMPLE = "sample:postmark-ext4"
SLED, DISK = "g2", "atlas10k"
TIMEOUTS_MS = {
    SLED: (0.1, 1, 10, 100, 1000, 10_000),
    DISK: (1000, 3000, 10_000, 30_000, 100_000, 300_000),
}
RATES = {SLED: 50, DISK: 0.002}  # requests per second: pauses of some ms, of some minutes
SLOWER = {SLED: 5, DISK: 50}  # than it was recorded: a disk could not follow it
QUICK = 3000  # requests of each load
APART = 60  # pixels between labels
NAMES = {
    "spin_down": "spin-down\n(of the total)",
    "merging": "merging\n(of the service)",
    "sub_sector": "sub-sector access\n(of small reads)",
    "all": "all three\n(of the total)",
}


def policies(device: str) -> dict[str, dict[str, object]]:
    """Return the policies that are compared, by their names."""
    timeouts: dict[str, dict[str, object]] = {
        f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:g} s": {"policy": "timeout", "timeout_ms": ms}
        for ms in TIMEOUTS_MS[device]
    }
    return {
        "immediate": {"policy": "immediate"},
        **timeouts,
        "never": {"policy": "never"},
        "adaptive": {"policy": "adaptive"},
    }


def loads(device: str, week: Path | None, requests: int | None) -> dict[str, ss.Load]:
    """Return the loads by name."""
    some: dict[str, Any] = {} if requests is None else {"requests": requests}
    rate, slower = RATES[device], SLOWER[device]
    random = requests or (20_000 if device == SLED else 2000)
    named = {
        f"random, {rate:g} requests/s": ss.workload("random", rate=rate, requests=random),
        f"trace postmark-ext4, {slower} times slower": ss.read_trace(
            SAMPLE, address="wrap", time_scale=1 / slower, **some
        ),
    }
    if week is not None:
        keys: dict[str, Any] = {"trace_device": "separate", "address": "wrap", **some}
        named["week of a workstation (1992)"] = ss.read_trace(week, **keys).keep()
    return named


def study(week: Path | None, *, quick: bool) -> dict[str, Any]:
    """Run everything. The result is printed, drawn and written."""
    requests = QUICK if quick else None
    trade = {
        device: {
            label: {
                policy: asdict(spent)
                for policy, spent in power.trade_off(
                    load, device, policies(device), power.DISK_POWER if device == DISK else None
                ).items()
            }
            for label, load in loads(device, week, requests).items()
        }
        for device in (SLED, DISK)
    }
    lin = {
        label: [asdict(saving) for saving in power.lin2002(load, SLED)]
        for label, load in list(loads(SLED, week, requests).items())[1:]
    }
    return {"trade_off": trade, "lin2002": lin}


def table(result: dict[str, Any]) -> str:
    """Return the numbers as text."""
    lines = []
    for device, labels in result["trade_off"].items():
        for label, points in labels.items():
            lines.append(f"{device}, {label}: mean response and power")
            lines.extend(
                f"  {policy:<10} {spent['response_ms']:14,.3f} ms {spent['power_mw']:10,.2f} mW"
                for policy, spent in points.items()
            )
    for label, savings in result["lin2002"].items():
        lines.append(f"Savings of Lin et al. 2002 on {SLED}, {label}: here (published)")
        lines.extend(
            f"  {saving['name']:<10} {saving['computed']:6.1%} ({saving['published']:.0%}), "
            f"response x {saving['response']:.3f}"
            for saving in savings
        )
    return "\n".join(lines)


def draw_trade_off(axes: Axes, device: str, label: str, points: dict[str, Any]) -> None:
    """Draw energy against response time."""
    line = [spent for policy, spent in points.items() if policy != "adaptive"]
    is_sled = device == SLED
    unit = 1 if is_sled else 1e-3  # ms and mW, or s and W
    x = [unit * spent["response_ms"] for spent in line]
    y = [unit * spent["power_mw"] for spent in line]
    names = [policy for policy in points if policy != "adaptive"]
    axes.plot(x, y, "-", color=COLOURS[0], linewidth=1, zorder=1)
    axes.plot(x[1:-1], y[1:-1], "o", color=COLOURS[0], markersize=4, label="timeout")
    axes.plot(x[:1], y[:1], "v", color=COLOURS[2], markersize=8, label="immediate")
    axes.plot(x[-1:], y[-1:], "^", color=COLOURS[1], markersize=8, label="never")
    adaptive = points["adaptive"]
    at = (unit * adaptive["response_ms"], unit * adaptive["power_mw"])
    axes.plot(*at, "*", color=COLOURS[3], markersize=12, label="adaptive", zorder=3)
    if not is_sled:
        scales.logarithmic(axes, "x", *scales.ends([*x, unit * adaptive["response_ms"]]))
    axes.set(
        title=f"{device}: {label}",
        xlabel=f"mean response time, {'ms' if is_sled else 's'}",
        ylabel=f"mean power, {'mW' if is_sled else 'W'}",
    )
    along = axes.transData.transform  # where a point is drawn
    drawn = along((x[-1], y[-1]))[0]
    for name, *point in zip(names[-2:0:-1], x[-2:0:-1], y[-2:0:-1], strict=True):
        place = along(point)[0]
        if abs(place - drawn) > APART:
            drawn = place
            axes.annotate(
                name,
                (point[0], point[1]),
                xytext=(3, 5),
                textcoords="offset points",
                fontsize="small",
            )
    axes.set_ylim(0, 1.1 * axes.get_ylim()[1])


def draw_savings(axes: Axes, lin: dict[str, Any]) -> None:
    """Draw the savings, published and computed."""
    published = [100 * saving["published"] for saving in next(iter(lin.values()))]
    series = {"Lin et al. 2002": published} | {
        label: [100 * saving["computed"] for saving in savings] for label, savings in lin.items()
    }
    bars.grouped(axes, list(NAMES.values()), series, "{:.1f}".format)
    axes.set(ylabel="energy saved, %")
    curves.heading(axes, f"Energy saved on {SLED}, published and here")


def draw(result: dict[str, Any]) -> Figure:
    """Draw everything."""
    trade = result["trade_off"]
    columns = len(trade[SLED])
    figure = Figure(figsize=(4.2 * columns, 10))
    grid = figure.add_gridspec(3, columns)
    for row, (device, labels) in enumerate(trade.items()):
        for place, (label, points) in enumerate(labels.items()):
            axes = figure.add_subplot(grid[row, place])
            draw_trade_off(axes, device, label, points)
            if row == place == 0:
                axes.legend(fontsize="small")
    draw_savings(figure.add_subplot(grid[2, :]), result["lin2002"])
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything, print a table and draw a picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3,000 requests of each load")
    parser.add_argument("--trace", type=Path, help="the week of 1992, hplajw-1992-week.srt")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    parser.add_argument("--output", type=picture_path, default=Path("out/power_study.png"))
    options = parser.parse_args(arguments)
    week: Path | None = options.trace or (WEEK if WEEK.is_file() else None)
    if week is None:
        print(f"Left out: the week of 1992 is not there ({WEEK.name}); --trace says where")
    try:
        result = study(week, quick=options.quick)
    except ss.SledsimError as error:
        parser.error(str(error))
    print(table(result))
    write_results(options, result, draw)


if __name__ == "__main__":
    main()
