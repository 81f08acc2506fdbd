"""``sledsim power-on``: let power return to a served device."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sledsim.cli import servers
from sledsim.cli.parser import command, print_json
from sledsim.number_text import number

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Let power return to a device after sledsim power-cut.

  sledsim power-on
  sledsim power-on 4711 --export slow

The device starts, and a hybrid recovers, in its own time; requests that arrive before wait for it.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "power-on", _on, _ABOUT)
    parser.add_argument("server", metavar="SERVER", nargs="?", help=servers.WAYS)
    parser.add_argument("--export", metavar="NAME", default="", help="the export (the first)")


def _on(options: argparse.Namespace) -> None:
    from sledsim.emulator.control import order  # noqa: PLC0415 (HTTP takes long to import)

    said = json.loads(order(servers.which(options.server), "/power-on", options.export))
    if options.json:
        print_json(said)
    else:
        ready_ms = (said["startup_ns"] + said["recovery_ns"]) / 1e6
        print(f"power is on; ready after {number(ready_ms)} ms of the device")
