"""``sledsim trace``: what is in a trace or a cache of it, conversions, workloads as traces.

One file per subcommand: its help, its options and what it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.cli.parser import command
from sledsim.cli.trace import convert, generate, hits, info, samples

if TYPE_CHECKING:
    from sledsim.cli.parser import Commands

_ABOUT = """\
Tell what is in a trace or a cache of it, convert it, write a workload as one, or list the samples.

Plain or compressed (gzip, zstd, xz, bzip2); the format is recognised by the content.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    actions = command(commands, "trace", samples.show, _ABOUT).add_commands()
    for subcommand in (samples, info, hits, convert, generate):
        subcommand.add(actions)
