"""``sledsim trace list``: the sample traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.cli.parser import command, print_json
from sledsim.show.text import table
from sledsim.traces.files import SAMPLE, sample_traces

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands


def add(actions: Commands) -> None:
    """Add the subcommand."""
    command(actions, "list", show, "List the sample traces (the default).")


def show(options: argparse.Namespace) -> None:
    """List the sample traces."""
    samples = {SAMPLE + name: about for name, about in sample_traces().items()}
    if options.json:
        # JSON has no dates.
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
