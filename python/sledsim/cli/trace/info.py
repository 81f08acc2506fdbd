"""``sledsim trace info``: statistics of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.cli import outputs
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.cli.trace.options import add_reading, check_whole, reading
from sledsim.loads import trace_info
from sledsim.traces.information import OF_PICTURES

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Read a whole trace and print its rates and bursts, sizes, footprint, sequentiality and reuse.

  sledsim trace info sample:postmark-ext4
  sledsim trace info big.trace.gz --quick
  sledsim trace info sample:postmark-ext4 --plot trace.png
"""


def add(actions: Commands) -> None:
    """Add the subcommand."""
    info = command(actions, "info", _info, _ABOUT)
    info.add_argument("file", metavar="FILE", help="path of a trace, sample:NAME, or -")
    add_reading(info)
    info.add_argument(
        "--quick", action="store_true", help="leave out footprint and reuse, which take most time"
    )
    info.add_argument(
        "--interleave",
        metavar="BLOCKS",
        type=int,
        help="count as sequential also what leaves out exactly so many blocks",
    )
    info.add_argument(
        "--max-units",
        metavar="N",
        type=int,
        help="distinct units of 4 KiB to follow; of larger traces a sample (default: 262144)",
    )
    outputs.add_plot(info, "the statistics")


def _info(options: argparse.Namespace) -> None:
    for flag, value in (("--interleave", options.interleave), ("--max-units", options.max_units)):
        check_whole(flag, value, 1)
    outputs.check_plot(options)
    info = work(
        lambda beat: trace_info(
            options.file,
            **reading(options),
            quick=options.quick,
            interleave_blocks=options.interleave,
            max_units=options.max_units,
            picture=options.plot is not None,
            progress=beat,
        ),
        "bytes",
    )
    outputs.write_plot(options, info.plot)
    if options.json:
        print_json({key: value for key, value in info.items() if key not in OF_PICTURES})
        return
    info.show()
    if options.plot is not None:
        print(f"\nwritten: {options.plot}")
