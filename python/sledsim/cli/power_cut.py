"""``sledsim power-cut``: let power fail under a served device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.cli import ledger, servers
from sledsim.cli.parser import command, print_json

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Let power fail under a device that sledsim serve serves with --power-cut.

  sledsim serve --device g2-buffered --nbd unix:/tmp/s.sock --power-cut manual
  sledsim power-cut 'nbd+unix:///?socket=/tmp/s.sock'
  sledsim power-on 'nbd+unix:///?socket=/tmp/s.sock'

In one instant the device stops: requests under way are not answered, connections end. It then holds
what its model says: what is on its media, the block under the tips torn, nothing of a volatile
buffer. The command prints the ledger of the acknowledged writes.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "power-cut", _cut, _ABOUT)
    servers.add_export(parser)


def _cut(options: argparse.Namespace) -> None:
    said = servers.ordered(options, "/power-cut")
    if options.json:
        print_json(said)
    else:
        print("\n".join(ledger.lines(said)))
