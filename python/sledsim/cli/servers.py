"""Running servers, as the command line names them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Parser

WAYS = "its URI, mount point, process id or control socket; by default the only one that runs"
"""How a server is named, for help."""


def add_export(parser: Parser) -> None:
    """Take the name of a server and of one of its exports."""
    parser.add_argument("server", metavar="SERVER", nargs="?", help=WAYS)
    parser.add_argument("--export", metavar="NAME", default="", help="the export (the first)")


def ordered(options: argparse.Namespace, what: str) -> Any:
    """Give the server of the options a command; return its answer."""
    from sledsim.emulator.control import order  # HTTP takes long to import

    return json.loads(order(which(options.server), what, options.export))


def which(said: str | None) -> Path:
    """Return the control socket of a server."""
    from sledsim.emulator.control import ask, folder, servers  # HTTP takes long to import

    if said is not None and said.isdecimal():
        return folder() / f"{said}.control"
    if said is not None and said.endswith(".control"):
        return Path(said)
    found = list(servers())
    if said is not None:
        known = []
        for path in found:
            for front in json.loads(ask(path))["front_ends"]:
                name = front.get("uri") or front["mount_point"]
                known.append(name)
                if name in (said, os.path.realpath(said)):
                    return path
        there = f"; there are {', '.join(known)}" if known else ", and no other does"
        raise SledsimError(f"{said}: no server of yours serves there{there}")
    if len(found) == 1:
        return found[0]
    if not found:
        raise SledsimError("no server of yours runs; sledsim serve starts one")
    raise SledsimError(f"several servers run: name one of {', '.join(path.stem for path in found)}")
