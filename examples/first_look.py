"""A first look at sledsim: a recorded trace and a random load on four MEMS-based devices.

Run it as ``python examples/first_look.py [--requests N] [--output FILE]``. It prints one table
and writes one page with pictures that needs nothing else. The same version of sledsim writes the
same page, byte for byte.
"""

from __future__ import annotations

import argparse
import html
import io
import re
import string
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import polars as pl
import shared
import sledsim as ss
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from shared import FAINT, INK, PLAIN, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

DEVICES = ("sigmetrics2000", "g1", "g2", "g3")
TRACE = "postmark-ext4"
SLOWER = 8  # the second replay: one pace for all devices, at which all of them keep up
RATE = 400  # requests per second of the open random load: within what each of them can do
FELL_BEHIND_MS = 1000  # a device whose queue kept a request waiting longer fell behind

SURFACE_DEVICES = ("sigmetrics2000", "g2")
SURFACE_STARTS = {"centre": (0, 0), "corner": (-50, -50)}  # X and Y in um, moving up
GRID_UM = range(-50, 51)

# Colours that remain apart for the colour-blind; each stands for the CSS variable of its name,
# which has another value on a dark background.
LINES = {
    "sigmetrics2000": ("#d55e00", "solid"),
    "g1": ("#aa4499", (0, (6, 2))),
    "g2": ("#0072b2", (0, (8, 2, 2, 2))),
    "g3": ("#009e73", (0, (2, 1.5))),
}
CSS_VARIABLES = {INK: "ink", FAINT: "faint"} | {LINES[name][0]: name for name in DEVICES}
CAUSES = {  # Paul Tol's "bright" scheme: legible on white and on black
    "seek": "#4477aa",
    "transfer": "#ccbb44",
    "bus": "#bbbbbb",
    "start-up": "#ee6677",
    "moving": "#66ccee",
    "settling (X)": "#aa3377",
    "turning round (Y)": "#228833",
}
STYLE = shared.STYLE | {
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}


@dataclass(frozen=True)
class Case:
    """A load with its title."""

    title: str
    load: ss.Load


@dataclass(frozen=True)
class Result:
    """The results of one run."""

    case: Case
    device: ss.Device
    summary: dict[str, Any]
    cdf: pl.DataFrame
    """Columns ``response_ms`` and ``share``: so many requests took no longer."""
    history: pl.DataFrame
    """Columns ``second`` of arrival and ``response_ms``, the mean of its requests."""

    def mean_ms(self, time: str) -> float:
        """Mean over all requests of a kind of time, such as ``"seek"``."""
        return float(self.summary[f"{time}_ms"]["mean"])


def cases(requests: int) -> list[Case]:
    """Return the loads; ``requests`` is the length of the random ones."""
    sample = f"sample:{TRACE}"
    slower = ss.read_trace(sample, time_scale=1 / SLOWER)
    return [
        Case("PostMark trace, recorded pace", ss.read_trace(sample)),
        Case(f"PostMark trace, {SLOWER} times slower", slower),
        Case("Random, one after the other", ss.workload("random", requests=requests)),
        Case(f"Random, {RATE} per second", ss.workload("random", requests=requests, rate=RATE)),
    ]


def run(case: Case, device: ss.Device) -> Result:
    """Run a load on a device and keep what the page needs."""
    done = ss.simulate(case.load, device)
    rows = pl.DataFrame(done.requests).select(
        second=pl.col("arrival_ns") // 1_000_000_000,
        response_ms=(pl.col("completion_ns") - pl.col("arrival_ns")) / 1e6,
    )
    ordered = rows["response_ms"].sort()
    last = len(ordered) - 1
    ranks = [last * step // 400 for step in range(401)]
    cdf = pl.DataFrame(
        {"response_ms": ordered.gather(ranks), "share": [(rank + 1) / (last + 1) for rank in ranks]}
    )
    history = rows.group_by("second").agg(pl.col("response_ms").mean()).sort("second")
    return Result(case, device, done.to_dict()["summary"], cdf, history)


# The table ------------------------------------------------------------------------------------


def digits(value: float) -> str:
    """Write a number with about four digits."""
    places = 3 if value < 10 else 2 if value < 100 else 1 if value < 1000 else 0
    return f"{value:,.{places}f}"


def cells(result: Result) -> dict[str, str]:
    """One line of the table, by heading; a ``|`` breaks a heading into two lines."""
    summary, response = result.summary, result.summary["response_time_ms"]
    energy_mj = 1e3 * summary["request_energy_j"] / summary["requests"]
    return {
        "|device": result.device.name,
        "|requests": f"{summary['requests']:,}",
        "response|mean ms": digits(response["mean"]),
        "|p50 ms": digits(response["p50"]),
        "|p99 ms": digits(response["p99"]),
        "|p99.9 ms": digits(response["p99_9"]),
        "service|mean ms": digits(result.mean_ms("service_time")),
        "seek|mean ms": digits(result.mean_ms("seek")),
        "X seek|mean ms": digits(result.mean_ms("x_seek")),
        "Y seek|mean ms": digits(result.mean_ms("y_seek")),
        "done|per s": digits(summary["throughput_iops"]),
        "busy|%": f"{100 * summary['utilisation']:.1f}",
        "energy|mJ each": digits(energy_mj),
        "longest|queue": f"{summary['max_queue_depth']:,}",
    }


def overload(result: Result) -> str | None:
    """Describe an overload of the device, if there is one."""
    summary, where = result.summary, f'{result.device.name} on "{result.case.title}"'
    if (saturated := summary["saturated"]) is not None:
        return (
            f"{where}: saturated, given up at {digits(saturated['at_s'])} s"
            f" with {saturated['queue']:,} requests waiting."
        )
    if summary["queue_ms"]["max"] <= FELL_BEHIND_MS:
        return None
    return (
        f"{where}: falls behind. At worst {summary['max_queue_depth']:,} requests waited"
        f" in the queue, one of them for {summary['queue_ms']['max'] / 1e3:.1f} s."
    )


def by_case(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Group the results by the title of their load, in order."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.case.title, []).append(result)
    return groups


def text_table(results: Sequence[Result]) -> str:
    """Return the table for a terminal."""
    headings = [heading.split("|") for heading in cells(results[0])]
    lines = [list(line) for line in zip(*headings, strict=True)]
    lines += [list(cells(result).values()) for result in results]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def line(row: Sequence[str]) -> str:
        first, *others = (
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join([first, *others]).rstrip()

    table = [line(lines[0]), line(lines[1])]
    for title, group in by_case(results).items():
        table += ["", title, *(line(list(cells(result).values())) for result in group)]
    return "\n".join(table)


def html_table(results: Sequence[Result]) -> str:
    """Return the table for the page."""
    headings = "".join(
        f'<th scope="col">{heading.replace("|", "<br>")}</th>' for heading in cells(results[0])
    )
    bodies = []
    for title, group in by_case(results).items():
        lines = [f'<tr><th colspan="{headings.count("<th")}">{html.escape(title)}</th></tr>']
        for result in group:
            first, *others = cells(result).values()
            behind = ' class="behind"' if overload(result) else ""
            numbers = "".join(f"<td>{text}</td>" for text in others)
            lines.append(f'<tr{behind}><th scope="row">{first}</th>{numbers}</tr>')
        bodies.append("<tbody>\n" + "\n".join(lines) + "\n</tbody>")
    return f"<table>\n<thead><tr>{headings}</tr></thead>\n" + "\n".join(bodies) + "\n</table>"


# The pictures ---------------------------------------------------------------------------------


def picture(figure: Figure, name: str, title: str, caption: str = "") -> str:
    """Return a figure as HTML: its SVG inline, with the colours and the font of the page."""
    image = io.StringIO()
    nothing = dict.fromkeys(["Creator", "Date", "Format", "Type"])
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(image, format="svg", transparent=True, metadata=nothing)
    _, box, drawing = re.split(r'<svg.*?(viewBox="[^"]*").*?>', image.getvalue(), flags=re.DOTALL)
    drawing = re.sub(r'<g id="[^"]*"', "<g", drawing).replace("xlink:href", "href")
    for colour, variable in CSS_VARIABLES.items():
        drawing = drawing.replace(colour, f"var(--{variable})")
    title, caption = html.escape(title), html.escape(caption)
    return (
        f"<figure><figcaption><b>{title}</b> {caption}</figcaption>\n"
        f'<svg {box} role="img" aria-label="{title}">{drawing.strip()}\n</figure>'
    )


def axes(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a new figure of so many inches, and its axes."""
    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def cdf_picture(title: str, results: Sequence[Result]) -> str:
    """Draw the distribution of the response times of a load, a curve for each device."""
    figure, ax = axes(5.2, 3.5)
    for result in results:
        colour, dashes = LINES[result.device.name]
        ax.plot(
            result.cdf["response_ms"],
            100 * result.cdf["share"],
            color=colour,
            linestyle=dashes,
            label=result.device.name,
        )
    longest_ms = max(result.summary["response_time_ms"]["max"] for result in results)
    ax.set(xscale="log", xlabel="response time (ms)", ylabel="requests that took no longer (%)")
    ax.set(ylim=(0, 102), xlim=(0.15, 1.2 * longest_ms))
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if longest_ms < 100 else (1,)))
    ax.xaxis.set_major_formatter(PLAIN)
    ax.xaxis.set_minor_formatter(NullFormatter())
    figure.legend(loc="outside upper center", ncols=len(results), handlelength=2.6)
    return picture(figure, f"cdf {title}", title)


def history_picture(title: str, results: Sequence[Result]) -> str:
    """Draw response times over the time of a replay, a curve for each device."""
    figure, ax = axes(8.5, 3.3)
    for result in results:
        colour, dashes = LINES[result.device.name]
        seconds, times = result.history["second"] + 0.5, result.history["response_ms"]
        ax.plot(seconds, times, color=colour, linestyle=dashes, label=result.device.name)
    ax.set(yscale="log", xlabel="time of arrival (s)", ylabel="mean response time (ms)")
    ax.set(xlim=(0, None))
    ax.yaxis.set_major_formatter(PLAIN)
    figure.legend(loc="outside upper center", ncols=len(results), handlelength=2.6)
    return picture(figure, f"history {title}", title, "Mean of the requests of each second.")


def causes_picture(title: str, results: Sequence[Result]) -> str:
    """Draw the parts of the mean service times: a bar for each device, and X and Y under it."""
    figure, ax = axes(5.2, 4.4)
    longest_ms = max(result.mean_ms("service_time") for result in results)
    seen = set()

    def bar(y: float, height: float, parts: dict[str, float], text: str) -> None:
        left = 0.0
        for cause, width in parts.items():
            ax.barh(y, width, height, left=left, color=CAUSES[cause])
            left += width
            if width > longest_ms / 500:
                seen.add(cause)
        ax.annotate(text, (left, y), (4, 0), textcoords="offset points", va="center", fontsize=8.5)

    for place, result in enumerate(results):
        service, seek, x, y, settle, turnaround, transfer, bus = map(
            result.mean_ms,
            ("service_time", "seek", "x_seek", "y_seek", "settle", "turnaround", "transfer", "bus"),
        )
        start_up = service - seek - transfer - bus
        parts = {"seek": seek, "transfer": transfer, "bus": bus, "start-up": start_up}
        bar(place, 0.36, parts, f"{digits(service)} ms")
        bar(place + 0.30, 0.15, {"moving": x - settle, "settling (X)": settle}, f"X {digits(x)}")
        parts = {"moving": y - turnaround, "turning round (Y)": turnaround}
        bar(place + 0.50, 0.15, parts, f"Y {digits(y)}")
    ax.set_yticks([place + 0.12 for place in range(len(results))], [r.device.name for r in results])
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("mean per request (ms)")
    ax.set(xlim=(0, 1.2 * longest_ms), ylim=(len(results) - 0.3, -0.3))
    handles = [ax.barh(0, 0, color=CAUSES[cause], label=cause) for cause in CAUSES if cause in seen]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, columnspacing=1.2)
    return picture(figure, f"causes {title}", title)


def fastest_seek(device: ss.Sled, start_um: tuple[int, int], end_um: tuple[int, int]) -> ss.Seek:
    """Seek from a start moving upwards to a point, whichever way it is faster to arrive."""
    (x0, y0), (x1, y1) = ((x * 1e-6, y * 1e-6) for x, y in (start_um, end_um))
    seeks = (device.seek((x0, y0, "up"), (x1, y1, way)) for way in ("up", "down"))
    return min(seeks, key=lambda seek: seek.seek_s)


def surface_picture(device: ss.Sled, start: str) -> str:
    """Draw seek times from one point to every point, as in Figure 7 of SIGMETRICS 2000."""
    start_um = SURFACE_STARTS[start]
    seeks = [[fastest_seek(device, start_um, (x, y)) for x in GRID_UM] for y in GRID_UM]
    times = [[1e3 * seek.seek_s for seek in line] for line in seeks]
    # No X movement, no settling: a cliff at the X of the start, which contours leave out.
    slopes = [
        [float("nan") if x == start_um[0] else time for x, time in zip(GRID_UM, line, strict=True)]
        for line in times
    ]
    figure, ax = axes(4.6, 3.8)
    extent = (GRID_UM[0] - 0.5, GRID_UM[-1] + 0.5) * 2
    image = ax.imshow(times, "viridis", vmin=0, origin="lower", extent=extent)
    lines = ax.contour(GRID_UM, GRID_UM, slopes, 8, colors="black", linewidths=0.7, alpha=0.75)
    ax.clabel(lines, fontsize=8, fmt=PLAIN)
    ax.plot(*start_um, "o", color="white", markeredgecolor="black", clip_on=False, zorder=3)
    ax.set(xlabel="X (µm)", ylabel="Y (µm)")
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    figure.colorbar(image, label="seek time (ms)").outline.set_visible(False)
    every = [seek for line in seeks for seek in line]
    decided_by_x = sum(seek.x_seek_s > seek.y_seek_s for seek in every) / len(every)
    caption = (
        f"Longest {max(map(max, times)):.2f} ms, mean {sum(map(sum, times)) / len(every):.2f} ms;"
        f" X takes longer than Y to {100 * decided_by_x:.0f} % of the points."
    )
    return picture(
        figure, f"surface {device.name} {start}", f"{device.name}, from the {start}", caption
    )


# The page -------------------------------------------------------------------------------------


def device_table(devices: Sequence[ss.Device]) -> str:
    """Describe the devices, from their specs."""
    lines: dict[str, list[str]] = {}
    for device in devices:
        spec = device.spec
        derived = spec["derived"]
        value = {key: parameter["value"] for key, parameter in spec["parameters"].items()}
        for heading, text in {
            "": device.name,
            "capacity (GB)": f"{derived['capacity_bytes'] / 1e9:.2f}",
            "bit cell (nm)": f"{value['bit_cell_nm']:g}",
            "tips / active at once": f"{value['tips']:,} / {value['active_tips']:,}",
            "acceleration (m/s²)": f"{value['acceleration_x_m_s2']:g}",
            "spring factor": f"{value['spring_factor']:g}",
            "settling after an X move (ms)": f"{derived['settle_ms']:.3f}",
            "access velocity (mm/s)": f"{derived['access_velocity_mm_s']:g}",
            "a row of blocks, in ms": f"{derived['row_time_ms']:.3f}",
            "streaming before turnarounds (MB/s)": f"{derived['streaming_mb_s']:.1f}",
            "reads in both directions": "yes" if value["reads_both_ways"] else "no",
            "command overhead (ms)": f"{value['command_overhead_ms']:g}",
            "bus (µs per block)": f"{1e3 * value['bus_ms_per_block']:g}",
        }.items():
            lines.setdefault(heading, []).append(text)
    first, *others = (
        f'<tr><th scope="row">{heading}</th>'
        + "".join(f"<td>{html.escape(text)}</td>" for text in texts)
        + "</tr>"
        for heading, texts in lines.items()
    )
    first = first.replace("td>", "th>")
    body = "\n".join(others)
    return f"<table>\n<thead>{first}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def items(texts: Sequence[str]) -> str:
    """Return the items of an HTML list."""
    return "\n".join(f"<li>{html.escape(text)}</li>" for text in texts)


def page(results: Sequence[Result], devices: Sequence[ss.Device]) -> str:
    """Return the whole page."""
    groups = by_case(results)
    recorded, slower, random, _ = groups
    known = {device.name: device for device in devices if isinstance(device, ss.Sled)}
    sample = ss.sample_traces()[TRACE]
    recording, figures = sample["recording"], sample["figures"]
    with style.context(["default", STYLE]):  # whatever the user's own settings are
        pictures = {
            "cdfs": [cdf_picture(title, group) for title, group in groups.items()],
            "history": [history_picture(recorded, groups[recorded])],
            "causes": [causes_picture(title, groups[title]) for title in (slower, random)],
            "surfaces": [
                surface_picture(known[name], start)
                for name in SURFACE_DEVICES
                for start in SURFACE_STARTS
            ],
        }
    css = "; ".join(f"--{name}: {colour}" for colour, name in CSS_VARIABLES.items())
    behind = [text for result in results if (text := overload(result))]
    template = Path(__file__).with_name("first_look_template.html").read_text(encoding="utf-8")
    return string.Template(template).substitute(
        {name: "\n".join(parts) for name, parts in pictures.items()},
        colours=css,
        version=html.escape(ss.__version__),
        table=html_table(results),
        trouble=items(behind or ["Every device kept up with every load."]),
        about="\n".join(
            f"<p><b>{device.name}.</b> {html.escape(device.spec['about'])}</p>"
            for device in devices
        ),
        devices=device_table(devices),
        limit_s=f"{FELL_BEHIND_MS / 1e3:g}",
        sigmetrics_ms=f"{groups[random][0].mean_ms('service_time'):.2f}",
        slower=SLOWER,
        rate=RATE,
        random_requests=f"{groups[random][0].summary['requests']:,}",
        trace_title=html.escape(sample["title"]),
        trace_description=html.escape(sample["description"]),
        trace_requests=f"{figures['requests']:,}",
        trace_reads=f"{100 * figures['read_share']:.0f}",
        trace_size=f"{figures['mean_blocks'] / 2:.1f}",
        trace_span=f"{figures['end_lbn'] * 512 / 1e9:.1f}",
        trace_duration=f"{figures['duration_s']:.0f}",
        trace_rate=f"{figures['mean_rate_per_s']:.0f}",
        trace_program=html.escape(recording["program"]),
        trace_filesystem=html.escape(recording["filesystem"]),
        trace_kernel=html.escape(recording["kernel"]),
        trace_chain=html.escape(recording["chain"]),
        trace_memory=recording["memory_limit_mib"],
        trace_delay=recording["delay_ms"],
        trace_outstanding=figures["max_outstanding"],
        trace_licence=html.escape(sample["licence"]),
        trace_sha256=html.escape(sample["sha256_text"]),
        trace_limits=items(sample["limits"]),
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
    results = [run(case, device) for case in cases(options.requests) for device in devices]
    print(text_table(results))
    print()
    for result in results:
        if text := overload(result):
            print(text)
    write(options.output, page(results, devices))


if __name__ == "__main__":
    main()
