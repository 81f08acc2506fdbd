"""``sledsim umount``: unmount, and end the server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.cli.mount import say_closing
from sledsim.cli.parser import command

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands
    from sledsim.emulator.mounting.state import State

_ABOUT = """\
Unmount a mount of sledsim mount, and end its server.

  sledsim umount /mnt/g2
  sledsim umount /dev/loop0
  sledsim umount --all --stale

It prints the statistics of the server. Mounts of a killed supervisor are cleaned up. --all and
--all --stale also clean up what a killed crash-app or bench-app has left: file systems, loop
devices, servers and folders, never those of one that runs.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "umount", _umount, _ABOUT)
    parser.add_argument(
        "mounts", metavar="DIR", nargs="*", help="where it is mounted, or its loop device"
    )
    parser.add_argument(
        "--lazy",
        action="store_true",
        help="unmount even if it is in use; the server ends with the last user",
    )
    parser.add_argument("--all", action="store_true", help="all mounts of sledsim")
    parser.add_argument("--stale", action="store_true", help="only what killed processes have left")


def _umount(options: argparse.Namespace) -> None:
    from sledsim.emulator.mounting import system, work  # Linux only
    from sledsim.emulator.mounting.unmount import end

    system.need_root("umount")
    documents = []
    said = sys.stderr if options.json else sys.stdout
    try:
        for state in list(_wanted(options)):
            document = end(state, lambda line: print(line, file=said), lazily=options.lazy)
            if document is not None:
                documents.append(document)
        for left in list(work.stale()) if options.all else []:
            left.clean()
            print(f"{left.folder}: cleaned up: its run was gone", file=said)
    finally:
        say_closing(documents, options)


def _wanted(options: argparse.Namespace) -> Iterator[State]:
    from sledsim.emulator.mounting.state import State

    if options.all == bool(options.mounts):
        raise SledsimError("give a directory or a loop device, or --all")
    if options.all:
        found = list(State.all())
    else:
        found = []
        for name in options.mounts:
            state = State.named(name)
            if state is None:
                there = ", ".join(each.name for each in State.all()) or "nothing"
                raise SledsimError(f"{name}: sledsim has not mounted that; mounted: {there}")
            found.append(state)
    for state in found:
        if not options.stale or not state.supervisor.is_alive():
            yield state
