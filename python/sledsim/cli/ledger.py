"""``sledsim ledger``: which acknowledged writes a power cut has lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim._input_files import name_problem
from sledsim._number_text import number
from sledsim.cli import servers
from sledsim.cli.parser import command, print_json
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands

_ABOUT = """\
Show which acknowledged writes a power cut has lost.

  sledsim ledger
  sledsim ledger 'nbd+unix:///?socket=/tmp/s.sock' --json
  sledsim ledger recording --at 1.25

Of a running server it is the last cut. Of a folder that sledsim serve --record-data made, power
fails at the instant given by --at, in seconds of the device, as often as you like: the same
instant gives the same ledger.

A write is promised to survive once it is acknowledged, or, on a device that reports writes from a
volatile buffer, if it had the mark FUA or a flush that arrived later is complete. A device that
loses a promised write breaks its promise.
"""

_SHOWN = 10


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "ledger", _ledger, _ABOUT)
    parser.add_argument(
        "source",
        metavar="SOURCE",
        nargs="?",
        help=f"the folder of a recording, or a server by {servers.WAYS}",
    )
    parser.add_argument("--at", metavar="S", type=float, help="when power fails in a recording")
    parser.add_argument("--export", metavar="NAME", default="", help="the export (the first)")


def _ledger(options: argparse.Namespace) -> None:
    said = _of_recording(options) if _is_folder(options.source) else _of_server(options)
    if options.json:
        print_json(said)
    else:
        print("\n".join(lines(said)))


def _is_folder(source: str | None) -> bool:
    return source is not None and not name_problem(source) and Path(source).is_dir()


def _of_recording(options: argparse.Namespace) -> dict[str, Any]:
    from sledsim.emulator.recordings import DataRecording  # Linux only

    if options.at is None:
        raise SledsimError(
            f"{options.source}: a recording needs --at, the instant at which power fails"
        )
    if not 0 <= options.at <= 1e9:
        raise SledsimError(f"--at {options.at}: must be from 0 to 1e9 s")
    return DataRecording.load(options.source).cut(round(options.at * 1e9)).facts


def _of_server(options: argparse.Namespace) -> dict[str, Any]:
    from sledsim.emulator.control import ask  # HTTP takes long to import

    if options.at is not None:
        raise SledsimError(f"--at {options.at}: must come with the folder of a recording only")
    exports = json.loads(ask(servers.which(options.source)))["exports"]
    names = [export["name"] for export in exports]
    if options.export and options.export not in names:
        raise SledsimError(f"--export {options.export}: must be one of {', '.join(names)}")
    export = exports[names.index(options.export) if options.export else 0]
    last: dict[str, Any] | None = export.get("power", {}).get("last_cut")
    if last is None:
        raise SledsimError(
            f"export '{export['name']}': power has not failed since the server was started"
        )
    return last


def lines(ledger: dict[str, Any]) -> Iterator[str]:
    """Write a ledger in lines."""
    yield f"power failed at {number(ledger['at_ns'] / 1e6)} ms of the device"
    rows = [
        ["writes since power-on", ledger["writes"]],
        ["acknowledged", ledger["acknowledged"]],
        ["  not promised to survive", ledger["acknowledged_unflushed"]],
        ["acknowledged and lost", ledger["lost"]],
        ["  promised to survive", ledger["promised_lost"]],
        ["  promised, torn by a later write", ledger["promised_torn"]],
        ["blocks torn", ledger["torn"]],
        ["  that cannot be read", ledger["unreadable"]],
    ]
    yield table([[name, number(count)] for name, count in rows], "<>")
    lost = ledger["lost_writes"]
    if lost:
        head = ["lost", "LBN", "blocks", "acknowledged ms", "promised", "old", "torn"]
        listed = [
            [
                f"request {write['id']}",
                number(write["lbn"]),
                number(write["blocks"]),
                number(write["completion_ns"] / 1e6),
                "yes" if write["promised"] else "no",
                number(write["old_blocks"]),
                number(write["torn_blocks"]),
            ]
            for write in lost[:_SHOWN]
        ]
        yield table([head, *listed], "<" + ">" * (len(head) - 1))
        if len(lost) > _SHOWN:
            yield f"and {number(ledger['lost'] - _SHOWN)} more; --json lists them"
    back_ms = (ledger["startup_ns"] + ledger["recovery_ns"]) / 1e6
    yield (
        f"ready {number(back_ms)} ms after power returns: start-up "
        f"{number(ledger['startup_ns'] / 1e6)}, recovery {number(ledger['recovery_ns'] / 1e6)}"
    )
