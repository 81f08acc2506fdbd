"""``sledsim trace hits``: hit ratios of caches."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim._number_text import number, plain
from sledsim.caches import OBJECTS, OPT, SIZES_MIB, caution, hits_and_load, policies
from sledsim.cli import outputs
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.cli.trace.options import add_reading, refuse
from sledsim.loads import read_trace
from sledsim.show import loads
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Compute the hit ratios of caches of several sizes and policies on a trace.

  sledsim trace hits sample:postmark-ext4
  sledsim trace hits big.trace.gz --sizes 16,64,256 --policies lru,arc --segment 64
  sledsim trace hits sample:postmark-ext4 --plot hits.png

Requests pass by in the order of their arrival; one that touches several segments is an access for
each. No times are simulated. The policy opt is Belady's: the most hits that any policy could have
that admits every miss. A trace of accesses to objects (oracleGeneral) will do, too: each object
takes one segment, large or small.
"""


def add(actions: Commands) -> None:
    """Add the subcommand."""
    parser = command(actions, "hits", _hits, _ABOUT)
    parser.add_argument("file", metavar="FILE", help="path of a trace, sample:NAME, or -")
    parser.add_argument(
        "--sizes",
        metavar="MIB,...",
        default=",".join(map(str, SIZES_MIB)),
        help="sizes of the caches in MiB (default: %(default)s)",
    )
    parser.add_argument(
        "--policies",
        metavar="A,B,...",
        default=",".join(policies()),
        help="replacement policies, with keys as in 'slru(protected=0.5)', and "
        f"{OPT} (default: %(default)s)",
    )
    parser.add_argument(
        "--segment", metavar="KIB", type=float, default=8.0, help="unit of caching (default: 8)"
    )
    parser.add_argument(
        "--trace-device",
        metavar="D",
        help="which device of the trace: its number or name, 'all' for one shared address space, "
        "or 'separate' (default: the only one)",
    )
    outputs.add_plot(parser, "the hit ratios")
    add_reading(parser)


def _hits(options: argparse.Namespace) -> None:
    sizes = [_size(text) for text in options.sizes.split(",")]
    names = [name.strip() for name in options.policies.split(",")]
    for flag, given in (("--sizes", sizes), ("--policies", names)):
        if len(set(given)) < len(given):
            refuse(f"{flag}: names one of them twice")
    outputs.check_plot(options)
    keys = {
        "trace_format": options.format,
        "columns": options.columns,
        "time_unit": options.time_unit,
        "place_unit": options.place_unit,
        "length_unit": options.length_unit,
        "sort_ms": options.sort,
        "blk_action": options.blk_action,
        "glitches": "drop" if options.drop_glitches else None,
        "trace_device": options.trace_device,
    }
    load = read_trace(options.file, **{key: value for key, value in keys.items() if value})
    rows, workload = work(
        lambda beat: hits_and_load(
            load, sizes_mib=sizes, policies=names, segment_kib=options.segment, progress=beat
        )
    )
    if options.plot is not None:
        from sledsim.plots import hits  # only pictures need it

        if options.title is None:
            segment = plain(options.segment)
            options.title = f"{Path(options.file).name}, in segments of {segment} KiB"
        outputs.write_plot(options, functools.partial(hits, rows))
    if options.json:
        print_json({"path": options.file, "caches": rows, "workload": workload})
        return
    first = rows[0]
    kib = plain(first["segment_kib"])
    accesses = f"{number(first['accesses'])} accesses to"
    if workload["format"] == OBJECTS:
        print(f"{options.file}: {accesses} objects, one segment of {kib} KiB each\n")
    else:
        requests = f"{number(first['requests'])} reads and writes"
        print(f"{options.file}: {requests}, {accesses} segments of {kib} KiB\n")
    if workload["format_others"]:
        print(f"{workload['format']} ({loads.detection(workload)})\n")
    if said := caution(workload):
        print(f"caution: {said}\n")
    if passed := ", ".join(loads.skipped_parts(workload)):
        print(f"passed over: {passed}\n")
    found = {(row["policy"], row["size_mib"]): row["hit_ratio"] for row in rows}
    lines = [["hit ratio", *names]]
    lines += [
        [f"  {plain(size)} MiB", *(f"{found[name, size]:.1%}" for name in names)] for size in sizes
    ]
    print(table(lines, "<" + ">" * len(names)))
    if options.plot is not None:
        print(f"\nwritten: {options.plot}")


def _size(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        refuse(f"--sizes {text.strip()}: must be numbers of MiB with commas between them")
    return int(size) if size.is_integer() else size
