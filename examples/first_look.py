"""A first look at sledsim: a recorded trace and a random load on four MEMS-based devices.

Run it as ``python examples/first_look.py [--requests N] [--output FILE]``. It prints one table
and writes one page with pictures that needs nothing else. The same version of sledsim writes the
same page, byte for byte.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import sledsim as ss
from first_look_text import (
    devices_section,
    loads_section,
    numbers_section,
    overload,
    text_table,
)
from markupsafe import Markup
from shared import PLAIN, write
from sledsim import plots
from sledsim.plots.files import encoded
from sledsim.plots.frame import begin
from sledsim.plots.style import looks
from sledsim.show.pages import writer as pages
from sledsim.show.pages.glossary import word
from sledsim.show.pages.parts import Figure, Items, Paragraph, Report, Section
from sledsim.show.pages.texts import interval_ms, mean_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

DEVICES = ("sigmetrics2000", "g1", "g2", "g3")
TRACE = "postmark-ext4"
SLOWER = 8  # the second replay: one pace for all devices, at which all of them keep up
RATE = 400  # requests per second of the open random load: within what each of them can do
PANEL = (4.4, 3.3)  # inches

SURFACE_DEVICES = ("sigmetrics2000", "g2")
SURFACE_STARTS = {"centre": (0, 0), "corner": (-50, -50)}  # X and Y in um, moving up
GRID_UM = range(-50, 51)
BLACK = "#101010"  # on a map of times it stays so on a dark page


@dataclass(frozen=True)
class Case:
    """A load with its title, and its runs by device."""

    title: str
    runs: dict[str, ss.Run]


def cases(requests: int, devices: Sequence[ss.Device]) -> list[Case]:
    """Run all loads on all devices; ``requests`` is the length of the random ones."""
    sample = f"sample:{TRACE}"
    loads = {
        "PostMark trace, recorded pace": ss.read_trace(sample),
        f"PostMark trace, {SLOWER} times slower": ss.read_trace(sample, time_scale=1 / SLOWER),
        "Random, one after the other": ss.workload("random", requests=requests),
        f"Random, {RATE} per second": ss.workload("random", requests=requests, rate=RATE),
    }
    return [
        Case(title, {device.name: ss.simulate(load, device) for device in devices})
        for title, load in loads.items()
    ]


# The pictures ---------------------------------------------------------------------------------


def cdf_picture(case: Case) -> Figure:
    """Draw the distribution of the response times of a load, a curve for each device."""
    figure = plots.cdf(case.runs, size=PANEL, title="")
    means = ", ".join(f"{name} {mean_ms(run.summary)}" for name, run in case.runs.items())
    return Figure(
        encoded(figure, "svg"),
        Markup("<b>{}.</b> How many requests took no longer than a time.").format(case.title),
        f"{case.title}: distributions of response times; means: {means}.",
    )


def history_picture(case: Case) -> Figure:
    """Draw response times over the time of a replay, a curve for each device."""
    look = looks(list(case.runs))
    with begin(None, (8.5, 3.3)) as frame:
        (axes,) = frame.axes
        for name, run in case.runs.items():
            history = (
                pl.DataFrame(run.rows)
                .group_by(second=pl.col("arrival_ns") // 1_000_000_000)
                .agg(ms=(pl.col("completion_ns") - pl.col("arrival_ns")).mean() / 1e6)
                .sort("second")
            )
            axes.plot(history["second"] + 0.5, history["ms"], label=name, **look[name].line())
        axes.set(yscale="log", xlabel="time of arrival, s", ylabel="mean response time, ms")
        axes.set_xlim(left=0)
        axes.yaxis.set_major_formatter(PLAIN)
        frame.figure.legend(loc="outside upper center", ncols=len(case.runs))
        figure = frame.end("")
    caption = Markup("<b>{}.</b> Mean of the requests of each second.").format(case.title)
    alt = f"{case.title}: response times over the time of arrival on four devices."
    return Figure(encoded(figure, "svg"), caption, alt, wide=True)


def causes_picture(case: Case) -> Figure:
    """Draw what the mean response times of a load are made of."""
    figure = plots.causes(case.runs, size=(PANEL[0], 3.6), title="")
    caption = Markup("<b>{}.</b> Mean response times by cause.").format(case.title)
    seeks = ", ".join(f"{name} {mean_ms(r.summary, 'seek')}" for name, r in case.runs.items())
    return Figure(encoded(figure, "svg"), caption, f"{case.title}: means by cause; seeks {seeks}.")


def fastest_seek(
    device: ss.Sled, start_um: tuple[int, int], end_um: tuple[int, int]
) -> ss.hardware.Seek:
    """Seek from a start moving upwards to a point, whichever way it is faster to arrive."""
    (x0, y0), (x1, y1) = ((x * 1e-6, y * 1e-6) for x, y in (start_um, end_um))
    seeks = (device.seek((x0, y0, "up"), (x1, y1, way)) for way in ("up", "down"))
    return min(seeks, key=lambda seek: seek.seek_s)


def surface_picture(device: ss.Sled, start: str) -> Figure:
    """Draw seek times from one point to every point, as in Figure 7 of SIGMETRICS 2000."""
    start_um = SURFACE_STARTS[start]
    seeks = [[fastest_seek(device, start_um, (x, y)) for x in GRID_UM] for y in GRID_UM]
    times = [[1e3 * seek.seek_s for seek in line] for line in seeks]
    # No X movement, no settling: a cliff at the X of the start, which contours leave out.
    slopes = [
        [float("nan") if x == start_um[0] else time for x, time in zip(GRID_UM, line, strict=True)]
        for line in times
    ]
    with begin(None, (PANEL[0], 3.6)) as frame:
        (axes,) = frame.axes
        extent = (GRID_UM[0] - 0.5, GRID_UM[-1] + 0.5) * 2
        image = axes.imshow(times, "viridis", vmin=0, origin="lower", extent=extent)
        lines = axes.contour(GRID_UM, GRID_UM, slopes, 8, colors=BLACK, linewidths=0.7, alpha=0.7)
        axes.clabel(lines, fontsize=8, fmt=PLAIN, colors=BLACK)
        axes.plot(*start_um, "o", color="#f8f8f8", markeredgecolor="black", clip_on=False, zorder=3)
        axes.set(xlabel="X, µm", ylabel="Y, µm")
        axes.grid(visible=False)
        axes.spines[["left", "bottom"]].set_visible(False)
        frame.figure.colorbar(image, label="seek time, ms").outline.set_visible(False)
        figure = frame.end("")
    every = [seek for line in seeks for seek in line]
    decided_by_x = sum(seek.x_seek_s > seek.y_seek_s for seek in every) / len(every)
    title = f"{device.name}, from the {start}"
    said = (
        f"Longest {max(map(max, times)):.2f} ms, mean {sum(map(sum, times)) / len(every):.2f} ms;"
        f" X takes longer than Y to {100 * decided_by_x:.0f} % of the points."
    )
    caption = Markup("<b>{}.</b> {}").format(title, said)
    return Figure(encoded(figure, "svg"), caption, f"Seek times of {title}. {said}")


# The page -------------------------------------------------------------------------------------


def report(found: Sequence[Case], devices: Sequence[ss.Device]) -> Report:
    """Return the whole page."""
    recorded, slower, random, _ = found
    known = {device.name: device for device in devices if isinstance(device, ss.Sled)}
    surfaces = [
        surface_picture(known[name], start) for name in SURFACE_DEVICES for start in SURFACE_STARTS
    ]
    times = {name: run.summary for name, run in random.runs.items()}
    fast, *_, slow = sorted(times, key=lambda name: times[name]["response_time_ms"]["mean"])
    lead = Markup(
        "Of four MEMS-based storage devices, {} is the fastest and {} the slowest: a small random"
        " {} takes {} ({}) on one and {} ({}) on the other."
    ).format(
        fast,
        slow,
        word("request", "Response time"),
        mean_ms(times[fast]),
        interval_ms(times[fast]),
        mean_ms(times[slow]),
        interval_ms(times[slow]),
    )
    about = (
        "Each is a sled of magnetic media that moves over thousands of probe tips. They are"
        f" simulated by sledsim {ss.__version__} under a recorded load and a random one; requests"
        " are served first come, first served. No such device was ever sold."
    )
    return Report(
        "sledsim: a first look",
        [lead, about],
        (),
        [
            Section(
                "How long requests take",
                [
                    cdf_picture(random),
                    *[cdf_picture(case) for case in found if case is not random],
                    Paragraph(
                        "The trace has bursts of large writes, which the device it was recorded on"
                        " took in at any speed. sigmetrics2000 and g1 cannot stream that fast, g1"
                        " least: it reads and writes in one direction only. Their queues then take"
                        " long to drain. So the trace is also replayed"
                        f" {SLOWER} times slower, the same for all devices."
                    ),
                    history_picture(recorded),
                    Items([text for case in found for text in overload(case.title, case.runs)]),
                ],
            ),
            Section(
                "Where the time goes",
                [
                    causes_picture(random),
                    causes_picture(slower),
                    Paragraph(
                        "SIGMETRICS 2000 states a mean service time of 1.49 ms in its Table 2; the"
                        " parameters of its Table 1, as modelled here, give"
                        f" {times['sigmetrics2000']['service_time_ms']['mean']:.2f} ms under the"
                        " same kind of load."
                    ),
                ],
            ),
            Section(
                "Seek time to every point",
                [
                    *surfaces,
                    Paragraph(
                        "As Figure 7 of SIGMETRICS 2000: the sled starts at the white dot, moving"
                        " up, and arrives in the direction that is faster. The lines join points of"
                        " equal seek time. They run along Y: X decides almost everywhere, because"
                        " only X must settle. On the dark line through the start there is no X"
                        " movement, hence no settling."
                    ),
                ],
            ),
            numbers_section({case.title: case.runs for case in found}),
            loads_section(TRACE, random.runs["g2"].summary["requests"], RATE),
            devices_section(devices),
        ],
        [(f"device {device.name}", device.digest) for device in devices],
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description="A recorded trace and a random load on four sleds")
    parser.add_argument(
        "--requests", type=int, default=100_000, help="length of the random loads (%(default)s)"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("out/first_look.html"), help="the page (%(default)s)"
    )
    options = parser.parse_args(arguments)

    devices = [ss.device(name) for name in DEVICES]
    found = cases(options.requests, devices)
    print(text_table({case.title: case.runs for case in found}))
    print()
    for case in found:
        for text in overload(case.title, case.runs):
            print(text)
    write(options.output, pages.html(report(found, devices)))


if __name__ == "__main__":
    main()
