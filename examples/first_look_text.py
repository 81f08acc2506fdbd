"""The numbers and descriptions on the page of the first look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sledsim as ss
from markupsafe import Markup
from sledsim.show.pages.parts import Items, Paragraph, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Runs = Mapping[str, Mapping[str, ss.Run]]
    """Runs by device, by the title of their load."""

FELL_BEHIND_MS = 1000  # a device whose queue kept a request waiting longer fell behind


def digits(value: float) -> str:
    """Write a number with about four digits."""
    places = 3 if value < 10 else 2 if value < 100 else 1 if value < 1000 else 0
    return f"{value:,.{places}f}"


def cells(device: str, run: ss.Run) -> dict[str, str]:
    """One line of the table, by heading; a ``|`` breaks a heading into two lines."""
    summary: Any = run.summary
    response = summary["response_time_ms"]
    energy_mj = 1e3 * summary["request_energy_j"] / summary["requests"]
    return {
        "|device": device,
        "|requests": f"{summary['requests']:,}",
        "response|mean ms": digits(response["mean"]),
        "|p50 ms": digits(response["p50"]),
        "|p99 ms": digits(response["p99"]),
        "|p99.9 ms": digits(response["p99_9"]),
        "service|mean ms": digits(summary["service_time_ms"]["mean"]),
        "seek|mean ms": digits(summary["seek_ms"]["mean"]),
        "X seek|mean ms": digits(summary["x_seek_ms"]["mean"]),
        "Y seek|mean ms": digits(summary["y_seek_ms"]["mean"]),
        "done|per s": digits(summary["throughput_iops"]),
        "busy|%": f"{100 * summary['utilisation']:.1f}",
        "energy|mJ each": digits(energy_mj),
        "longest|queue": f"{summary['max_queue_depth']:,}",
    }


def overload(title: str, runs: Mapping[str, ss.Run]) -> list[str]:
    """Describe the devices that a load overloads."""
    found = []
    for device, run in runs.items():
        summary, where = run.summary, f'{device} on "{title}"'
        if (saturated := summary["saturated"]) is not None:
            found.append(
                f"{where}: saturated, given up at {digits(saturated['at_s'])} s"
                f" with {saturated['queue']:,} requests waiting."
            )
        elif (waited_ms := summary["queue_ms"]["max"] or 0.0) > FELL_BEHIND_MS:
            found.append(
                f"{where}: falls behind. At worst a request found"
                f" {summary['max_queue_depth']:,} others in the device, and one waited in the"
                f" queue for {waited_ms / 1e3:.1f} s."
            )
    return found


def text_table(runs: Runs) -> str:
    """Return the table for a terminal."""
    groups = {t: [list(cells(d, r).values()) for d, r in own.items()] for t, own in runs.items()}
    heads = [heading.split("|") for heading in _headings(runs)]
    lines = [list(line) for line in zip(*heads, strict=True)]
    every = [*lines, *(row for group in groups.values() for row in group)]
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]

    def line(row: Sequence[str]) -> str:
        first, *others = (
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join([first, *others]).rstrip()

    table = [line(row) for row in lines]
    for title, group in groups.items():
        table += ["", title, *map(line, group)]
    return "\n".join(table)


def _headings(runs: Runs) -> list[str]:
    own = next(iter(runs.values()))
    return list(cells(*next(iter(own.items()))))


def numbers_section(runs: Runs) -> Section:
    """Return the table of all runs."""
    rows: list[list[str]] = []
    groups, marked = [], []
    for title, own in runs.items():
        groups.append(len(rows))
        rows.append([title])
        for device, run in own.items():
            if overload(title, {device: run}):
                marked.append(len(rows))
            rows.append(list(cells(device, run).values()))
    heads = [Markup("{}<br>{}").format(*heading.split("|")) for heading in _headings(runs)]
    caption = (
        f"All runs; shaded, devices that fell behind (a request waited over"
        f" {FELL_BEHIND_MS / 1e3:g} s in the queue)"
    )
    table = Table(heads, rows, caption, frozenset({0}), frozenset(marked), groups=groups)
    words = Markup(
        "<b>Response</b> is completion minus arrival. <b>Service</b> is the time that a"
        " request takes of the sled: seeks, turnarounds and transfers. A <b>seek</b> moves the"
        " sled in X and Y at once and takes as long as the slower of the two; <b>X</b> includes"
        " settling, <b>Y</b> includes turning"
        " round. A request may need several passes and so several seeks; the times are their sums."
        " <b>Busy</b> is the share of the time in which the sled was in use, <b>energy</b> what a"
        " request itself cost, without idling. The papers give no power for sigmetrics2000: those"
        " values are those of g2."
    )
    return Section("In numbers", [table, Paragraph(words, quiet=True)])


def loads_section(trace: str, requests: int, rate: int) -> Section:
    """Describe the trace and the random load."""
    sample = ss.sample_traces()[trace]
    recording, figures = sample["recording"], sample["figures"]
    told = Markup(
        "<b>{}</b>, {:,} requests ({:.0f} % reads, {:.1f} KiB on average) in {:.0f} s, {:.0f} per"
        " second. {}"
    ).format(
        sample["title"],
        figures["requests"],
        100 * figures["read_share"],
        figures["mean_blocks"] / 2,
        figures["duration_s"],
        figures["mean_rate_per_s"],
        sample["description"],
    )
    facts = [
        f"Program: {recording['program']}.",
        f"File system: {recording['filesystem']}; {recording['kernel']}.",
        (
            f"Requests went {recording['chain']}; each was delayed by {recording['delay_ms']} ms,"
            f" and at most {figures['max_outstanding']} were outstanding. Memory of the program"
            f" and its page cache: {recording['memory_limit_mib']} MiB."
        ),
        Markup("Licence {}; SHA-256 <code>{}</code>.").format(
            sample["licence"], sample["sha256_text"]
        ),
    ]
    random = Markup(
        "<b>Random</b>, the load of the papers: {:,} requests, 67 % reads, sizes geometric with a"
        " mean of 4 KiB, places uniform over the device. Once closed, each request sent when the"
        " one before is done; once open, {} per second with exponential gaps. The places differ"
        " from device to device, as their capacities do; the trace lies on the lowest {:.1f} GB of"
        " each."
    ).format(requests, rate, figures["end_lbn"] * 512 / 1e9)
    replay = (
        "It is replayed open: requests arrive when they were recorded to, however long the device"
        " takes. What its metadata say of the limits of the recording:"
    )
    parts = (Paragraph(told), Items(facts), Paragraph(replay), Items(sample["limits"]))
    return Section("What was run", [*parts, Paragraph(random)])


def devices_section(devices: Sequence[ss.Device]) -> Section:
    """Describe the devices, from their specs."""
    lines: dict[str, list[str]] = {}
    for device in devices:
        derived, value = device.spec["derived"], device.parameters
        for heading, text in {
            "capacity, GB": f"{derived['capacity_bytes'] / 1e9:.2f}",
            "bit cell, nm": f"{value['bit_cell_nm']:g}",
            "tips / active at once": f"{value['tips']:,} / {value['active_tips']:,}",
            "acceleration, m/s²": f"{value['acceleration_x_m_s2']:g}",
            "spring factor": f"{value['spring_factor']:g}",
            "settling after an X move, ms": f"{derived['settle_ms']:.3f}",
            "access velocity, mm/s": f"{derived['access_velocity_mm_s']:g}",
            "a row of blocks, ms": f"{derived['row_time_ms']:.3f}",
            "streaming before turnarounds, MB/s": f"{derived['streaming_mb_s']:.1f}",
            "reads in both directions": "yes" if value["reads_both_ways"] else "no",
            "command overhead, ms": f"{value['command_overhead_ms']:g}",
            "bus, µs per block": f"{1e3 * value['bus_ms_per_block']:g}",
        }.items():
            lines.setdefault(heading, []).append(text)
    rows = [[heading, *texts] for heading, texts in lines.items()]
    head = ["", *(device.name for device in devices)]
    about = [
        Markup("<b>{}.</b> {}").format(device.name, device.spec["about"]) for device in devices
    ]
    source = Markup("Every value and its source: <code>sledsim devices show g2</code>.")
    table = Table(head, rows, "Parameters of the devices, and what follows from them")
    return Section("The devices", [table, Paragraph(source, quiet=True), Items(about)])
