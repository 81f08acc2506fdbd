"""``sledsim trace convert``: traces in another format, merged, cut, sampled or scaled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._number_text import number, plain, size
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.cli.trace.options import (
    add_output,
    add_reading,
    check_whole,
    devices_table,
    lost,
    reading,
    refuse,
)
from sledsim.loads import convert_trace
from sledsim.results import cautions
from sledsim.show import loads
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands

_ABOUT = """\
Write traces in another format: merged, cut, sampled, scaled.

  sledsim trace convert a.trace.gz b.trace.gz -o both.trace
  sledsim trace convert big.trace -o hour.trace --from 3600 --until 7200 --rebase
  sledsim trace convert big.trace -o tenth.trace --sample 0.1

Several traces are merged by time: those that count from the start of their recording start
together, those with the calendar keep their distances. Their devices are numbered anew, from 0 in
the order of their first requests, and the report has the mapping.

The steps are done in this order: sort, device, from and until, every or sample, requests,
rebase, time scale, widen.
"""


def add(actions: Commands) -> None:
    """Add the subcommand."""
    parser = command(actions, "convert", _convert, _ABOUT)
    parser.add_argument("files", metavar="IN", nargs="+", help="paths of traces, sample:NAME, or -")
    add_output(parser)
    add_reading(parser)
    parser.add_repeatable("--device", "D", "take only this device, by its number or name")
    for flag, kind, metavar, what in (
        ("--from", float, "S", "take requests from this time on"),
        ("--until", float, "S", "take requests before this time"),
        ("--requests", int, "N", "take the first so many"),
        ("--every", int, "N", "take the first request and every N-th after it"),
        ("--sample", float, "SHARE", "take a share of the places, so that reuse stays"),
        ("--seed", int, "N", "of another such choice of places (default: 1)"),
        ("--time-scale", float, "X", "divide the times (default: 1)"),
    ):
        parser.add_argument(flag, metavar=metavar, type=kind, help=what)
    for flag, what in (
        ("--rebase", "make the first request taken time zero"),
        ("--widen", "take in the whole of every block of 512 bytes that is touched"),
        ("--keep-devices", "keep the device numbers of several traces, even if they collide"),
    ):
        parser.add_argument(flag, action="store_true", help=what)


def _convert(options: argparse.Namespace) -> None:
    if options.every is not None and options.sample is not None:
        refuse("--every and --sample: give one of them")
    if options.seed is not None and options.sample is None:
        refuse("--seed: is for --sample, which is not given")
    for flag, value, least in (
        ("--requests", options.requests, 1),
        ("--every", options.every, 1),
        ("--seed", options.seed, 0),
    ):
        check_whole(flag, value, least)
    report = work(
        lambda beat: convert_trace(
            options.files,
            options.output,
            to=options.to,
            **reading(options),
            devices=options.device,
            from_s=getattr(options, "from"),
            until_s=options.until,
            every=options.every,
            sample=options.sample,
            seed=1 if options.seed is None else options.seed,
            requests=options.requests,
            rebase=options.rebase,
            time_scale=1.0 if options.time_scale is None else options.time_scale,
            widen=options.widen,
            keep_devices=options.keep_devices,
            progress=beat,
        ),
        "bytes",
    )
    if options.json:
        print_json(report)
        return
    print("\n\n".join(_converted(report)))


def _converted(report: dict[str, Any]) -> Iterator[str]:
    rows = [["read", "format", "requests", "first at", "times from"]]
    rows += [
        [
            line["path"],
            line["format"],
            number(line["requests"]),
            f"{number(line['first_time_s'], 6)} s",
            line["clock"],
        ]
        for line in report["inputs"]
    ]
    yield table(rows, "<<>><")
    passed = [
        f"{line['path']}: {line['format']} ({loads.detection(line)})"
        for line in report["inputs"]
        if line["format_others"]
    ]
    passed += [
        f"{line['path']}: {what}" for line in report["inputs"] for what in loads.skipped_parts(line)
    ]
    passed += [
        f"{line['path']}: caution: {text}"
        for line in report["inputs"]
        for _, text in cautions.of_units(line)
    ]
    if passed:
        yield "\n".join(passed)
    written, left = report["output"], report["left_out"]
    first, last = number(written["first_time_s"], 6), number(written["last_time_s"], 6)
    facts = [
        ["written", f"{written['path']}, {written['format']}"],
        ["requests", f"{number(written['requests'])}, {size(written['total_bytes'])} in all"],
        ["times", f"{first} s to {last} s"],
    ]
    reasons = [
        (left["other_devices"], "of other devices"),
        (left["outside_times"], "outside the times"),
        (left["not_sampled"], "not in the sample"),
    ]
    counts = ", ".join(f"{number(count)} {what}" for count, what in reasons if count)
    if counts:
        facts.append(["left out", counts])
    if report["ended_by"] != "inputs":
        facts.append(["", f"reading ended by --{report['ended_by']}"])
    if report["widened"]:
        facts.append(["widened", f"{number(report['widened'])} to whole blocks"])
    if report["time_scale"] != 1:
        facts.append(["time scale", plain(report["time_scale"])])
    facts += lost(report)
    yield table(facts, "<<")
    devices = report["devices"]
    if any(line["device"] != line["output_device"] for line in devices) or len(devices) > 1:
        rows = [["device", "was", "in", "requests"]]
        rows += [
            [
                str(line["output_device"]),
                str(line["device"]) if line["name"] is None else f"{line['device']} {line['name']}",
                line["input"],
                number(line["requests"]),
            ]
            for line in devices
        ]
        yield devices_table(rows, "><<>")
