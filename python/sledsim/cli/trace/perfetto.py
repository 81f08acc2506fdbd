"""``sledsim trace perfetto``: the rows of a run or a recording as a trace for Perfetto."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.results.perfetto import rows_to_perfetto

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Write the rows of a run or a recording as a trace for https://ui.perfetto.dev.

  sledsim serve --device g2 --record requests.parquet
  sledsim trace perfetto requests.parquet -o requests.pftrace

Rows are files that run --rows, serve --record and bench-app --record write as Parquet. The power
over time is not in them; run --perfetto writes it, too.
"""


def add(actions: Commands) -> None:
    """Add the subcommand."""
    parser = command(actions, "perfetto", _convert, _ABOUT)
    parser.add_argument("rows", metavar="ROWS", help="a Parquet file of rows, or sample:NAME")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="the file to write (.pftrace or .perfetto-trace)",
    )


def _convert(options: argparse.Namespace) -> None:
    written = work(
        lambda beat: rows_to_perfetto(options.rows, options.output, progress=beat), "rows"
    )
    if options.json:
        print_json({"rows": written, "output": options.output})
        return
    print(f"{number(written)} rows\n\nwritten: {options.output}")
