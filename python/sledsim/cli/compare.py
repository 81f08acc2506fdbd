"""``sledsim compare``: the same load on several devices or under several schedulers."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from sledsim import _core, busy_parts, cautions
from sledsim.causes import CAUSES
from sledsim.cli import load_options, plots, reports
from sledsim.cli.parser import command, print_json, split_names
from sledsim.cli.progress import work
from sledsim.cli.text_tables import WIDTH, stacked_table, table
from sledsim.comparison import Comparison, compare
from sledsim.hardware import wrap
from sledsim.load_values import Load
from sledsim.number_text import (
    decimals_of,
    half_width,
    interval,
    mean,
    measured,
    number,
    part,
    percent,
    response_decimals,
    rounded,
)
from sledsim.trace_files import samples_folder, trace_path

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands

_ABOUT = """\
Run the same load on several devices or under several schedulers and set the results side by side.

  sledsim compare --devices g1,g2,g3,flash --workload random --set rate=300 --precision 1%
  sledsim compare --devices g2,g3 --trace sample:postmark-ext4 --plot compare.png

The first device and scheduler are the baseline of the speed-ups. A generated load has the same
arrivals, operations and sizes everywhere, and its places are the same shares of each device;
--same-lbns lays it on the blocks that every device has.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "compare", _compare, _ABOUT)
    parser.add_argument(
        "--devices",
        metavar="A,B,...",
        required=True,
        help="presets, or paths of TOML files, separated by commas; the first is the baseline",
    )
    parser.add_argument(
        "--schedulers",
        metavar="A,B,...",
        default="fcfs",
        help=f"schedulers: any of {load_options.SCHEDULERS}",
    )
    parser.add_argument(
        "--layout",
        metavar="NAME",
        help=f"layout on all devices: {load_options.LAYOUTS}",
    )
    load_options.add_load(parser)
    parser.add_argument(
        "--same-lbns",
        action="store_true",
        help="lay a generated load on the LBNs that every device has",
    )
    load_options.add_precision(parser)
    plots.add(parser, "the distributions and the time split by cause")
    reports.add(parser)


def _compare(options: argparse.Namespace) -> None:
    plots.check(options)
    reports.check(options)
    names = split_names(options.devices, "--devices")
    schedulers = split_names(options.schedulers, "--schedulers")
    settings = load_options.settings(options)
    precision = load_options.precision(options)
    trace = None if options.trace is None else trace_path(options.trace)
    scenarios = [
        _core.scenario(
            None,
            name,
            schedulers[0],
            options.workload,
            trace,
            settings,
            samples_folder(),
            options.layout,
        )
        for name in names
    ]
    devices = [wrap(core_device) for core_device, _, _ in scenarios]
    load = Load(scenarios[0][1], "load")
    comparison = work(
        lambda beat: compare(
            load,
            devices,
            schedulers,
            same_lbns=options.same_lbns,
            precision=precision,
            seeds=options.seeds,
            progress=beat,
        )
    )
    plots.write(options, comparison.plot)
    reports.write(options, comparison)
    if options.json:
        print_json(comparison.to_dict())
        return
    print("\n\n".join(_report(comparison)))
    for file in (options.plot, options.report):
        if file is not None:
            print(f"\nwritten: {file}")


def _report(comparison: Comparison) -> Iterator[str]:
    document = comparison.to_dict()
    facts = list(load_options.facts(document["runs"][0]))
    if document["runs"][0]["workload"]["workload"] != "trace":
        facts.append(["LBNs", document["lbns"]])
    yield table(facts, "<<", WIDTH)
    marks = {label: cautions.mark(found) for label, found in comparison.cautions.items()}
    notes = [
        textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        for line in cautions.lines(comparison.cautions)
    ]
    if reason := busy_parts.unknown_energy(line["summary"] for line in document["runs"]):
        notes.append(textwrap.fill(f"energy {reason}", WIDTH, subsequent_indent="  "))
    yield "\n".join([_times(comparison.table, marks), *notes])
    yield _causes(document["runs"])


_HEADS = (
    "",
    "",
    "mean, ms",
    "",
    "p50",
    "p99",
    "p99.9",
    "max",
    "per s",
    "busy",
    "mJ each",
    "speed-up",
)


def _times(lines: list[dict[str, Any]], marks: dict[str, str]) -> str:
    return stacked_table(times_rows(lines, marks), "<<><" + ">" * 8, leading=2)


def times_rows(lines: list[dict[str, Any]], marks: dict[str, str]) -> list[list[str]]:
    """Return the table of times, its head first."""
    rows = [list(_HEADS)]
    for line in lines:
        share = line["mean_half_width_share"]
        width = half_width(line["mean_low_ms"], line["mean_high_ms"])
        half = "" if share is None else f"± {percent(share)}"
        percentiles = [measured(line[key]) for key in ("p50_ms", "p99_ms", "p99_9_ms", "max_ms")]
        rows.append(
            [
                line["label"],
                marks[line["label"]],
                "saturated" if line["saturated"] else mean(line["mean_ms"], width),
                half,
                *percentiles,
                measured(line["throughput_iops"]),
                busy_parts.busiest(line["utilisation"], line["busiest"], line["device"]),
                number(line["energy_mj_per_request"]),
                _speed_up(line),
            ]
        )
    return rows


def _speed_up(line: dict[str, Any]) -> str:
    ratio, low, high = (line[key] for key in ("speed_up", "speed_up_low", "speed_up_high"))
    if ratio is None:
        return f"- ({line['no_speed_up']})" if line["no_speed_up"] else "-"
    if low is None or low == high:
        return f"{ratio:.2f}"
    first, last = interval(low, high)
    return f"{rounded(ratio, decimals_of((high - low) / 2))} ({first} to {last})"


def _causes(runs: list[dict[str, Any]]) -> str:
    rows = causes_rows(runs)
    return stacked_table(rows, "<" + ">" * (len(rows[0]) - 1))


def causes_rows(runs: list[dict[str, Any]]) -> list[list[str]]:
    """Return the table of mean times by cause, its head first."""
    causes = [c for c in CAUSES if any(r["summary"][f"{c}_ms"]["mean"] for r in runs)]
    rows = [["mean, ms, by cause", *(cause.replace("_", " ") for cause in causes)]]
    for line in runs:
        decimals = response_decimals(line["summary"])
        means = (line["summary"][f"{cause}_ms"]["mean"] for cause in causes)
        rows.append([line["label"], *(part(each, decimals) for each in means)])
    return rows
