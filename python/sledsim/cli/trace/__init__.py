"""``sledsim trace``: statistics, cache hit ratios, conversion and generation of traces.

One file per subcommand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.cli.parser import command
from sledsim.cli.trace import convert, generate, hits, info, perfetto, samples

if TYPE_CHECKING:
    from sledsim.cli.parser import Commands

_ABOUT = """\
Analyse a trace or caches of it, convert it, write a workload as one, or list the samples.

Plain or compressed (gzip, zstd, xz, bzip2); the format is recognised by the content.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    actions = command(commands, "trace", samples.show, _ABOUT).add_commands()
    for subcommand in (samples, info, hits, convert, perfetto, generate):
        subcommand.add(actions)
