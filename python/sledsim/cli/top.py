"""``sledsim top``: watch a server."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim._number_text import measured, number, size
from sledsim.cli import servers
from sledsim.cli.failures import failures
from sledsim.cli.parser import command, print_json
from sledsim.emulator.tip_faults import faults_table
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands

_ABOUT = """\
Watch a server of emulated devices.

  sledsim top
  sledsim top 4711 --every 0.5
  sledsim top --once --json

Without a process id it is the only server of yours that runs. Rates are of the last interval, times
since the server was started: response times in time of the device, lateness (how much later than
the device's own time requests were answered) in real time.
"""

_HOME, _CLEAR = "\x1b[H", "\x1b[J"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "top", _top, _ABOUT)
    parser.add_argument("server", metavar="SERVER", nargs="?", help=servers.WAYS)
    parser.add_argument(
        "--every", metavar="S", type=float, default=1.0, help="seconds between updates (1)"
    )
    parser.add_argument("--once", action="store_true", help="print once and end")


def _top(options: argparse.Namespace) -> None:
    from sledsim.emulator.control import ask  # HTTP takes long to import

    if not 0.05 <= options.every <= 3600:
        raise SledsimError(f"--every {options.every}: must be from 0.05 to 3600")
    path = servers.which(options.server)
    status = json.loads(ask(path))
    if options.json:
        print_json(status)
        return
    screen = sys.stdout.isatty() and not options.once
    before: dict[str, Any] | None = None
    while True:
        text = "\n".join(picture(status, before))
        if screen:
            lines = text.replace("\n", "\x1b[K\n")
            print(f"{_HOME}{lines}{_CLEAR}", flush=True)
        else:
            print(text, flush=True)
        if options.once:
            return
        time.sleep(options.every)
        before, status = status, json.loads(ask(path))


def picture(status: dict[str, Any], before: dict[str, Any] | None) -> Iterator[str]:
    """Write a status in lines, with rates since the one before."""
    fronts = [front for front in status["front_ends"] if "uri" in front]
    clients = sum(front.get("clients", 0) for front in fronts)
    yield f"up {status['up_s']:.1f} s, clients: {number(clients)}"
    for front in fronts:
        yield f"  {front['uri']}"
    head = ["", "size", "used", "IO/s", "MB/s", "under way", "requests", "errors"]
    loads, times = [head], [["", "response ms: mean", "p50", "p99", "max"]]
    times[0] += ["late by us: p50", "p99", "p99.9", "max"]
    earlier = {export["name"]: export for export in (before or status)["exports"]}
    seconds = status["up_s"] - (before or {"up_s": 0})["up_s"]
    for export in status["exports"]:
        name, summary, late = export["name"], export["summary"], export["lateness_us"]
        past = earlier[name]["summary"] if before else None
        done, moved = (count(summary) - (count(past) if past else 0) for count in (_done, _moved))
        loads.append(
            [
                name,
                size(export["bytes"]),
                size(export["allocated_bytes"]),
                measured(done / seconds),
                measured(moved / 1e6 / seconds),
                number(export["outstanding"]),
                number(summary["requests"]),
                number(summary["errors"]),
            ]
        )
        response = summary["response_time_ms"] or {}
        times.append(
            [
                name,
                *(measured(response.get(key)) for key in ("mean", "p50", "p99", "max")),
                *(measured(late[key]) for key in ("p50", "p99", "p99_9", "max")),
            ]
        )
    yield ""
    yield table(loads, "<" + ">" * (len(head) - 1))
    yield ""
    yield table(times, "<" + ">" * 8)
    if (faults := faults_table(status)) is not None:
        yield from ("", faults)
    failed = list(failures(status))
    if failed:
        yield ""
        yield from failed


def _done(summary: dict[str, Any]) -> int:
    return int(summary["requests"])


def _moved(summary: dict[str, Any]) -> int:
    return 512 * int(summary["blocks_read"] + summary["blocks_written"])
