"""``sledsim power-on``: let power return to a served device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.cli import servers
from sledsim.cli.parser import command, print_json

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
    servers.add_export(parser)


def _on(options: argparse.Namespace) -> None:
    said = servers.ordered(options, "/power-on")
    if options.json:
        print_json(said)
    else:
        ready_ms = (said["startup_ns"] + said["recovery_ns"]) / 1e6
        print(f"power is on; ready after {number(ready_ms)} ms of the device")
