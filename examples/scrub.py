"""Free scrubbing of a MEMStore, with the tips that requests leave unused.

Run it as ``python examples/scrub.py [--quick] [--output FILE]``. Above: a recorded trace, at an
eighth of its pace, on the device of CMU-CS-03-125, with a scrub in the background that reads every
block once. Patient, it reads what comes by under the trace, which knows few places; the more
impatient, the sooner it asks for passes of its own while the device is idle; beside it, what that
costs the trace. Below: what a request leaves for free, by its size and alignment, and how long 95
percent of a scan take under random requests, by their rate and the reach of the tips.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from matplotlib.figure import Figure
from shared import INK, picture_path, write_picture
from sledsim.plots import bars, curves, scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

TRACE, SLOWER = "sample:postmark-ext4", 8
TAILS = (0.0, 0.95, 1.0)  # share of the blocks from which on the scrub asks for passes
SIZES = {  # of requests that start and end at multiples of so many blocks
    1: (1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 40, 64),
    8: (8, 16, 24, 32, 40, 64),
    10: (10, 20, 30, 40, 60),
}
POWERS = (1, 2, 4, 8, 16, 32, 64)
RATES = (10, 30, 100, 300, 1000)  # per second
REACHES = (0, 5)  # cylinders of micropositioning


def device(**keys: Any) -> ss.Device:
    """Return the device of the report."""
    made: ss.Device = ss.device("cmu2003", **keys)
    return made


def under_the_trace(tail: float) -> ss.Run:
    """Scrub under the trace."""
    load = ss.read_trace(TRACE, time_scale=1 / SLOWER)
    return ss.simulate(load, device(), background={"task": "scrub", "tail": tail}, rows=False)


def free_blocks(size: int, alignment: int, requests: int) -> float:
    """Return the free blocks of a request while the scrub wants all blocks."""
    load = ss.workload(
        "random",
        requests=requests,
        rate=100,
        size="fixed",
        mean_size_kib=size / 2,
        blocking=alignment,
    )
    run = ss.simulate(load, device(), background="scan", rows=False)
    return float(run.summary["background"][0]["free_blocks"] / requests)


def hours(rate: float, reach: int, quick: bool) -> float:
    """Return the hours for 95 % of a scan under random requests of 4 KiB."""
    load = ss.workload("random", requests=3_000_000, rate=rate, size="fixed", blocking=8)
    sled = device(micropositioning_cylinders=reach, **({"travel_x_um": 2} if quick else {}))
    run = ss.simulate(load, sled, background={"task": "scan", "ends_run": True}, rows=False)
    time_s: float = run.summary["background"][0]["percent"]["time_s"][95]
    return time_s / 3600


def name_of(tail: float) -> str:
    """Name a scrub."""
    return "unused tips only" if tail == 0 else f"passes of its own at {tail:.0%} left"


def draw_progress(axes: Axes, runs: dict[float, ss.Run]) -> None:
    """Draw the progress of each scrub over time."""
    drawn: dict[str, Any] = {}
    for tail, run in runs.items():
        times = run.summary["background"][0]["percent"]["time_s"]
        points = [(time, percent) for percent, time in enumerate(times) if time is not None]
        if len(points) <= 100:
            points.append((run.summary["duration_s"], points[-1][1]))
        drawn[name_of(tail)] = tuple(zip(*points, strict=True))
    end_s = runs[0.0].summary["duration_s"]
    axes.set(xlabel="time, s", ylabel="scrubbed, %", ylim=(0, 100), xlim=(0, 1.25 * end_s))
    for label, line in curves.draw(axes, drawn, markers=False).items():
        line.set_drawstyle("steps-post")
        end = (drawn[label][0][-1], drawn[label][1][-1])
        axes.plot(*end, "o", color=line.get_color(), markersize=4, clip_on=False)
    axes.axvline(end_s, color=INK, linewidth=0.8, linestyle=":")
    axes.text(end_s, 60, " end of\n the trace", va="top", fontsize="small")
    curves.heading(axes, "A scrub under the trace")


def draw_price(axes: Axes, runs: dict[float, ss.Run]) -> None:
    """Draw the cost of each scrub for the trace."""
    times = [run.summary["response_time_ms"] for run in runs.values()]
    means, p99s = [time["mean"] for time in times], [time["p99"] for time in times]
    series = {"mean": means, "99 of 100 are below": p99s}
    places = ["unused\ntips only", *(f"passes at\n{t:.0%} left" for t in TAILS[1:])]
    bars.grouped(axes, places, series, "{:.2f}".format)
    axes.set(ylabel="response time, ms")
    curves.heading(axes, "What it costs the trace")


def draw_sizes(axes: Axes, free: dict[int, list[float]]) -> None:
    """Draw the free blocks of requests by size and alignment."""
    names = {each: "any block" if each == 1 else f"multiples of {each}" for each in free}
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIZES[1], [str(size) if size in POWERS else "" for size in SIZES[1]])
    axes.set(xlabel="size of a request, blocks", ylabel="free blocks per request")
    curves.draw(axes, {names[each]: (SIZES[each], values) for each, values in free.items()})
    axes.set_ylim(0, None)
    curves.heading(axes, "What a request leaves that starts and ends at")


def draw_rates(axes: Axes, took: dict[int, list[float]]) -> None:
    """Draw the time of a scan by rate and reach."""
    scales.logarithmic(axes, "x", RATES[0], RATES[-1])
    axes.set(xlabel="requests/s", ylabel="95 % of a scan, hours")
    drawn = {f"tips reach {reach} cylinders": (RATES, values) for reach, values in took.items()}
    curves.draw(axes, drawn, log_y=True)
    curves.heading(axes, "How long a scan takes")


def table(runs: dict[float, ss.Run]) -> str:
    """Return the scrubs under the trace as text."""
    lines = ["begins at  scrubbed  free blocks  in own passes  done after   mean    p99"]
    for tail, run in runs.items():
        task = run.summary["background"][0]
        times, end = run.summary["response_time_ms"], task["percent"]["time_s"][100]
        begins = "never" if tail == 0 else f"{tail:.0%} left"
        lines.append(
            f"{begins:>9}  {task['done_blocks'] / task['blocks']:8.1%}  {task['free_blocks']:11,}"
            f"  {task['active_blocks']:13,}  {'-' if end is None else f'{end:,.0f} s':>10}"
            f"  {times['mean']:5.3f}  {times['p99']:5.3f} ms"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything, print a table and draw a picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smaller device for the scans")
    parser.add_argument("--output", type=picture_path, default=Path("out/scrub.png"))
    options = parser.parse_args(arguments)
    runs = {tail: under_the_trace(tail) for tail in TAILS}
    print(table(runs))
    requests = 500 if options.quick else 5000
    free = {
        alignment: [free_blocks(size, alignment, requests) for size in sizes]
        for alignment, sizes in SIZES.items()
    }
    took = {reach: [hours(rate, reach, options.quick) for rate in RATES] for reach in REACHES}

    def draw() -> Figure:
        figure = Figure(figsize=(10, 7.6))
        parts = figure.subplots(2, 2)
        draw_progress(parts[0, 0], runs)
        draw_price(parts[0, 1], runs)
        draw_sizes(parts[1, 0], free)
        draw_rates(parts[1, 1], took)
        return figure

    write_picture(options.output, draw)


if __name__ == "__main__":
    main()
