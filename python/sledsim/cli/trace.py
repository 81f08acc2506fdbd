"""``sledsim trace``: what is in a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.cli.parser import command, print_json
from sledsim.cli.tables import number, size, table
from sledsim.cli.work import work
from sledsim.loads import SAMPLE, sample_traces, trace_info

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Tell what is in a trace, or list the sample traces that come with sledsim.

Traces are in DiskSim's ascii format, plain or gzip: time in ms, device, block, blocks of 512 bytes,
flags (1 is a read).
"""


def add(commands: Commands) -> None:
    """Add the command."""
    actions = command(commands, "trace", _list, _ABOUT).add_commands()
    command(actions, "list", _list, "List the sample traces (the default).")
    about = (
        "Read a whole trace and tell what is in it.\n\n  sledsim trace info sample:postmark-ext4\n"
    )
    info = command(actions, "info", _info, about)
    info.add_argument("file", metavar="FILE", help="path of a trace, or sample:NAME")


def _list(options: argparse.Namespace) -> None:
    samples = {SAMPLE + name: about for name, about in sample_traces().items()}
    if options.json:
        # Its date is none of JSON's types.
        print_json(
            {
                "samples": {
                    name: about | {"date": str(about["date"])} for name, about in samples.items()
                }
            }
        )
        return
    rows = [["trace", "requests", "duration", "title"]]
    for name, about in samples.items():
        figures = about["figures"]
        duration = f"{number(figures['duration_s'])} s"
        rows.append([name, number(figures["requests"]), duration, about["title"]])
    print(table(rows, "<>><"))


def _info(options: argparse.Namespace) -> None:
    info = work(lambda _beat: trace_info(options.file))
    if options.json:
        print_json(info)
        return
    rate = info["mean_rate_per_s"]
    mean, most = number(info["mean_size_blocks"]), number(info["max_size_blocks"])
    rows = [
        ["file", info["path"]],
        ["format", f"{info['format']}, compression: {info['compression']}"],
        ["requests", f"{number(info['requests'])}, {info['read_fraction']:.1%} reads"],
        [
            "duration",
            f"{number(info['duration_s'], 6)} s, from {number(info['first_time_s'], 6)} s",
        ],
        ["mean rate", "-" if rate is None else f"{number(rate)} requests/s"],
        ["sequential", f"{info['sequential_fraction']:.1%} start where the one before ended"],
        ["sizes", f"mean {mean} blocks of 512 bytes, at most {most}"],
        ["data", f"{size(512 * info['total_blocks'])} in all"],
        ["span", f"{number(info['end_block'])} blocks ({size(512 * info['end_block'])})"],
    ]
    print(table(rows, "<<"), end="\n\n")
    devices = [["device", "requests", "highest block"]]
    devices += [
        [str(line["id"]), number(line["requests"]), number(line["highest_block"])]
        for line in info["devices"]
    ]
    print(table(devices, ">>>"))
