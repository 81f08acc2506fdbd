"""``sledsim trace generate``: a workload as a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._load import Load
from sledsim._number_text import number
from sledsim.cli import load_options
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.cli.trace.options import add_output, check_whole, lost, refuse
from sledsim.hardware import Device, wrap
from sledsim.loads import generate_trace
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Write a generated workload as a trace.

  sledsim trace generate --workload random --set rate=500 --blocks 6750000 -o random.trace
  sledsim trace generate --workload random --set queue_depth=4 --device g2 -o closed.trace

An open load needs only to know how many blocks there are. The requests of a closed one wait for
completions, so it is simulated on --device and written with the arrivals that happened.
"""


def add(actions: Commands) -> None:
    """Add the subcommand."""
    parser = command(actions, "generate", _generate, _ABOUT)
    parser.add_argument("--workload", metavar="NAME", required=True, help="as in sledsim run")
    parser.add_repeatable("--set", "KEY=VALUE", "a key of the workload, as in --set rate=500")
    add_output(parser)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--device", metavar="DEVICE", help="a preset, or the path of a TOML file")
    place.add_argument("--blocks", metavar="N", type=int, help="so many blocks, without a device")
    parser.add_argument("--scheduler", metavar="NAME", help="for closed loads (default: fcfs)")


def _generate(options: argparse.Namespace) -> None:
    check_whole("--blocks", options.blocks, 1)
    if options.scheduler is not None and options.device is None:
        refuse("--scheduler: is for closed loads, and needs --device")
    load, device, scheduler = _load(options)
    report = work(
        lambda beat: generate_trace(
            load,
            options.output,
            device=device,
            blocks=options.blocks,
            scheduler=scheduler,
            to=options.to,
            progress=beat,
        )
    )
    if options.json:
        print_json(report)
        return
    written = report["output"]
    first, last = number(written["first_time_s"], 6), number(written["last_time_s"], 6)
    place = report["device"] or "no device"
    facts = [
        ["written", f"{written['path']}, {written['format']}"],
        ["workload", report["workload"]["workload"]],
        ["requests", number(written["requests"])],
        ["times", f"{first} s to {last} s, {report['arrivals']}"],
        ["addresses", f"{number(report['blocks'])} blocks, {place}"],
        *lost(report),
    ]
    print(table(facts, "<<"))


def _load(options: argparse.Namespace) -> tuple[Load, Device | None, str]:
    """Resolve the load, and the device with its settings if there is one."""
    workload, settings = load_options.workload(options, options.device, blocks=options.blocks)
    assert workload is not None
    if options.device is None:
        core = _core.workload_of_settings(workload, settings)
        return Load(core, options.workload), None, "fcfs"
    device, core, scheduler = _core.scenario(
        None, options.device, options.scheduler, workload, None, settings
    )
    return Load(core, options.workload), wrap(device), scheduler
