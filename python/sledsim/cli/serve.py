"""``sledsim serve``: a simulated device for real programs."""

from __future__ import annotations

import contextlib
import signal
import sys
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from sledsim._arguments import real
from sledsim._core import SledsimError
from sledsim._number_text import number, size
from sledsim.cli import load_options
from sledsim.cli.failures import failures
from sledsim.cli.parser import command, print_json
from sledsim.emulator import Export, Server, serve, tip_faults
from sledsim.emulator.export_spec import DEFAULTS, export_of
from sledsim.emulator.server import MOST_GRACE_S
from sledsim.hardware import device_of
from sledsim.hardware.labels import file_name, split_list
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from types import FrameType

    from sledsim.cli.parser import Commands, Parser
    from sledsim.emulator.control import Control

_ABOUT = """\
Serve a simulated device to real programs, in real time.

  sledsim serve --device g2 --nbd unix:/tmp/s.sock
  nbdinfo 'nbd+unix:///?socket=/tmp/s.sock'

  sledsim serve --device atlas10k --file disk.img --nbd :10809 --record requests.parquet
  sledsim serve --device g2 --fuse /tmp/devices
  sledsim serve --device cmu2003 --rpc unix:/tmp/r.sock
  sledsim serve --device cmu2003 --iscsi 127.0.0.1:3260
  sledsim serve --export fast=g2 --export slow=atlas10k,file=slow.img,speed=10

Requests get their times from the device's model, the same as in simulation; reads return what was
written, from memory or from a backing file that survives the server. Without --nbd, --iscsi,
--rpc and --fuse it listens on a socket of its own, for NBD, and says where. Ctrl-C or SIGTERM ends
it: what is under way is answered, the backing file flushed, the recording completed. More signals
change nothing: --grace bounds the wait. sledsim top watches it.

Each --export is NAME=DEVICE, with file=PATH, scheduler=NAME, layout=NAME, batch-window-ms=MS,
speed=FACTOR, record=PATH, record-data=DIR, power-cut=WHEN, faults=(KEY=VALUE,...) or read-only
after commas. NBD and RPC clients ask for it by name; the first also has the empty one. iSCSI
initiators find them as logical units 0, 1 and so on.
"""


_WORDS = {"file", "scheduler", "layout", "record", "record-data", "power-cut"}
"""Keys of ``--export`` with a word."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "serve", _serve, _ABOUT)
    add_device(parser, required=False)
    parser.add_argument("--name", metavar="NAME", help="its name for clients (the device's)")
    parser.add_repeatable("--export", "NAME=DEVICE,...", "serve this one, too")
    parser.add_repeatable(
        "--nbd", "ADDRESS", "address for NBD clients: unix:PATH, HOST:PORT or :PORT"
    )
    parser.add_repeatable(
        "--iscsi",
        "ADDRESS",
        "address for iSCSI initiators: HOST:PORT or HOST:PORT/NAME with the name of the target",
    )
    parser.add_argument(
        "--iscsi-secrets",
        metavar="FILE",
        help="secrets of CHAP, in lines 'initiator NAME SECRET' and perhaps 'target NAME SECRET'; "
        "needed beyond this machine; only its owner may read it",
    )
    parser.add_repeatable(
        "--rpc", "ADDRESS", "address for clients of the parallel interface (gRPC)"
    )
    parser.add_argument(
        "--fuse", metavar="DIR", help="show each device as a file in this empty folder"
    )
    parser.add_argument(
        "--tls",
        metavar="DIR",
        help="TLS for NBD and RPC with server-cert.pem, server-key.pem and ca-cert.pem of this "
        "folder; clients need a certificate that the last one signed",
    )
    parser.add_argument(
        "--allow-unauthenticated-remote",
        action="store_true",
        help="accept NBD and RPC clients without authentication beyond this machine, and let "
        "metrics be read from there",
    )
    parser.add_argument("--max-clients", metavar="N", type=int, help="connections at once (64)")
    parser.add_argument(
        "--max-outstanding",
        metavar="N",
        type=int,
        help="requests of a connection under way, RPC: batches (128)",
    )
    parser.add_argument(
        "--busy-poll-us",
        metavar="US",
        type=int,
        default=0,
        help="how long an NBD or iSCSI connection polls for its next request before it sleeps (0)",
    )
    parser.add_argument(
        "--metrics",
        metavar="ADDRESS",
        help="serve metrics for Prometheus at HOST:PORT or :PORT, path /metrics",
    )
    parser.add_argument(
        "--grace",
        metavar="S",
        type=float,
        default=10.0,
        help="how many seconds requests under way may take at the end, from 0 (10)",
    )


def add_device(parser: Parser, *, required: bool) -> None:
    """Take the options of an export."""
    load_options.add_device(parser, required=required)
    load_options.add_background(parser)
    parser.add_repeatable(
        "--set",
        "device.KEY=VALUE",
        "override a key of the device, as in --set device.command_overhead_ms=0",
    )
    parser.add_argument(
        "--faults",
        metavar="FAULTS",
        help="let the tips of a sled fail, or a disk err: keys of [faults] as in ecc_tips=4,"
        "spare_tips=64,tip_failures_per_hour=3600, or the path of a TOML file",
    )
    parser.add_argument(
        "--file", metavar="PATH", help="keep the data in this file, made if there is none"
    )
    parser.add_argument("--read-only", action="store_true", help="refuse writes")
    parser.add_argument(
        "--speed",
        metavar="FACTOR",
        type=float,
        default=1.0,
        help="seconds of the device in a real second (1)",
    )
    parser.add_argument("--record", metavar="FILE", help="record every request (Parquet)")
    parser.add_argument(
        "--power-cut",
        metavar="WHEN",
        help="let power fail: manual (by sledsim power-cut only), at=SECONDS, after=REQUESTS, "
        "flush=COUNT or rate=PER_SECOND,seed=NUMBER, in time of the device; with back=SECONDS it "
        "returns so much later, else by sledsim power-on",
    )
    parser.add_argument(
        "--record-data",
        metavar="DIR",
        help="record every request with its data in this new folder; sledsim ledger shows what a "
        "power cut at any instant of it loses",
    )
    parser.add_argument(
        "--batch-window-ms",
        metavar="MS",
        type=float,
        help="batch the commands that arrive so long after the first; a single sled only",
    )


def _export(text: str) -> Export:
    """Read the value of ``--export``."""
    first, *rest = split_list(text)
    name, equals, device = first.partition("=")
    if not (name and equals and device):
        raise SledsimError(f"--export {text}: must begin with NAME=DEVICE")
    said: dict[str, Any] = {"device": device}
    for word in rest:
        key, equals, value = word.partition("=")
        if key == "read-only" and not equals:
            said["read_only"] = True
        elif key in {"speed", "batch-window-ms"} and equals:
            try:
                said[key.replace("-", "_")] = float(value)
            except ValueError:
                raise SledsimError(f"--export {text}: {key} = {value}: must be a number") from None
        elif key == "faults" and value:
            base = device_of(said["device"])
            said["device"] = tip_faults.with_said(base, value, f"--export {text}: faults")
        elif key in _WORDS and value:
            said[key.replace("-", "_")] = value
        else:
            known = (
                "file=PATH, scheduler=NAME, layout=NAME, batch-window-ms=MS, speed=FACTOR, "
                "record=PATH, record-data=DIR, power-cut=WHEN, faults=(KEY=VALUE,...) or read-only"
            )
            raise SledsimError(f"--export {text}: '{word}': must be {known}")
    return Export(name=name, **said)


def _serve(options: argparse.Namespace) -> None:
    # HTTP takes long to import, and only this needs it.
    from sledsim.emulator.control import (
        Control,
        control_path,
        folder,
        local_address,
    )

    grace_s = real("--grace", options.grace, 0, MOST_GRACE_S)
    exports = [_export(text) for text in options.export]
    if options.device is not None:
        exports.insert(0, export_of(vars(options), options.name))
    elif not exports:
        raise SledsimError("no device: give --device DEVICE, or --export NAME=DEVICE")
    else:
        _refuse_stray(options)
    addresses = list(options.nbd)
    if not (addresses or options.iscsi or options.rpc or options.fuse):
        addresses.append(f"unix:{folder() / _file_name(exports[0])}")
    failed = None
    with _signals() as signals:  # to the end: a second one must not cost the recording
        server = serve(
            exports,
            nbd=addresses,
            iscsi=options.iscsi,
            iscsi_secrets=options.iscsi_secrets,
            rpc=options.rpc,
            fuse=options.fuse,
            tls=options.tls,
            allow_unauthenticated_remote=options.allow_unauthenticated_remote,
            max_clients=options.max_clients,
            max_outstanding=options.max_outstanding,
            busy_poll_us=options.busy_poll_us,
        )
        controls: list[Control] = []
        try:
            controls.append(Control(server, control_path()))
            if options.metrics is not None:
                address = local_address(
                    options.metrics, anywhere=options.allow_unauthenticated_remote
                )
                controls.append(Control(server, address))
            said = sys.stderr if options.json else sys.stdout
            for line in _opening(server, controls):
                print(line, file=said, flush=True)
            while server.is_alive and not _came(signals):
                pass
        finally:
            for control in controls:
                control.close()
            try:
                document = server.stop(grace_s)
            except SledsimError as error:
                document, failed = server.status(), error
        if options.json:
            print_json(document)
        else:
            print("\n".join(closing(document)), flush=True)
    if failed is not None:
        raise failed


def _refuse_stray(options: argparse.Namespace) -> None:
    """Refuse options that need ``--device`` if it is not given."""
    for key, default in {"name": None, **DEFAULTS}.items():
        if getattr(options, key) not in (default, None):
            option = f"--{key.replace('_', '-')}"
            raise SledsimError(
                f"{option}: needs --device; give keys of an export in the value of --export"
            )


@contextlib.contextmanager
def _signals() -> Iterator[SimpleQueue[int]]:
    """Queue the signals that stop the server; a handler may interrupt itself in ``put`` alone."""
    signals: SimpleQueue[int] = SimpleQueue()

    def take(number: int, _frame: FrameType | None) -> None:
        signals.put(number)

    kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(kind, take) for kind in kinds]
    try:
        yield signals
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def _came(signals: SimpleQueue[int]) -> bool:
    """Wait for a signal for a moment."""
    with contextlib.suppress(Empty):
        return bool(signals.get(timeout=0.2))
    return False


def _file_name(export: Export) -> str:
    device = export.device if isinstance(export.device, str) else device_of(export.device).name
    return f"{file_name(export.name or device)}.sock"


def _opening(server: Server, controls: list[Control]) -> Iterator[str]:
    for export in server.status()["exports"]:
        reads = ", read-only" if export["read_only"] else ""
        yield f"serving {export['name']}, {size(export['bytes'])}{reads}"
    for front in server.status()["front_ends"]:
        where = front["uri"] if "uri" in front else front["mount_point"]
        yield f"  {front['kind']:<5} {where}"
    for control in controls:
        if control.path is None:
            yield f"  metrics on port {control.port}, path /metrics"
    yield "Ctrl-C ends it"


def closing(document: dict[str, Any]) -> Iterator[str]:
    """Write the final statistics of a server."""
    head = ["", "requests", "mean ms", "p99", "late by p50 us", "p99", "p99.9", "max", "errors"]
    rows = [head]
    for export in document["exports"]:
        summary, late = export["summary"], export["lateness_us"]
        times = summary["response_time_ms"] or {}
        rows.append(
            [
                export["name"],
                number(summary["requests"]),
                *(number(times.get(key)) for key in ("mean", "p99")),
                *(number(late[key], 3) for key in ("p50", "p99", "p99_9", "max")),
                number(summary["errors"]),
            ]
        )
    yield table(rows, "<" + ">" * (len(head) - 1))
    if (faults := tip_faults.faults_table(document)) is not None:
        yield from ("", faults)
    yield from failures(document)
