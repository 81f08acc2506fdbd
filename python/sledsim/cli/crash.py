"""``sledsim crash``: cut the power, and check every block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._load import Load
from sledsim.cli import load_options, outputs
from sledsim.cli.parser import add_exit_zero, command, print_json
from sledsim.cli.progress import work
from sledsim.failures.crashes import crash_test
from sledsim.hardware import wrap
from sledsim.traces.files import samples_folder, trace_path

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Cut the power of a device repeatedly, and check that it keeps the data it promised to.

  sledsim crash --device g2 --set last_lbn=500 --set queue_depth=8
  sledsim crash --device atlas10k --scheduler sptf --points 5000 --set read_fraction=0.3
  sledsim crash --device atlas10k --promise completion --set last_lbn=500

After each failure every block that was ever written must hold something that it may hold, and every
read must return something that was there while it was under way. A device that reports writes from
a volatile buffer need only keep what was flushed since, or written through; --promise completion
asks for more. Small loads (last_lbn) with many writes under way (queue_depth) find most.

Exit codes: 0 if all that was promised was kept; 1 if any of it was lost, or anything was invented
or brought back (0 with --exit-zero); 2 if an input must be changed.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "crash", _crash, _ABOUT)
    load_options.add_device(parser, required=True)
    load_options.add_load(parser)
    parser.add_argument(
        "--points", metavar="N", type=int, default=1000, help="how often power fails (1000)"
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=1,
        help="seed of the instants, and of the torn writes (1); that of the workload "
        "is --set seed=N",
    )
    parser.add_argument(
        "--promise",
        metavar="NAME",
        help="when a write is to survive: completion or flush; by default as the device promises",
    )
    parser.add_argument(
        "--requests-between",
        metavar="N",
        type=int,
        help="requests from one failure to the next in the mean",
    )
    for name, what in (
        ("fua", "the share of writes that are written through (0.2)"),
        ("flush", "the share of requests after which a flush is put in (0.05)"),
        ("in-recovery", "the share of recoveries in which power fails again (0.2)"),
    ):
        parser.add_argument(f"--{name}", metavar="SHARE", type=float, help=what)
    add_exit_zero(parser)
    outputs.add_report(parser)


def _crash(options: argparse.Namespace) -> bool:
    outputs.check_report(options)
    workload, settings = load_options.workload(options, options.device)
    core_device, core_load, scheduler = _core.scenario(
        None,
        options.device,
        options.scheduler,
        workload,
        None if options.trace is None else trace_path(options.trace),
        settings,
        samples_folder(),
        options.layout,
    )
    device, load = wrap(core_device), Load(core_load, "load")
    report = work(
        lambda beat: crash_test(
            load,
            device,
            scheduler,
            points=options.points,
            seed=options.seed,
            promise=options.promise,
            requests_between=options.requests_between,
            fua=options.fua,
            flush=options.flush,
            in_recovery=options.in_recovery,
            progress=beat,
        ),
        "failures",
    )
    outputs.write_report(options, report)
    passed = report.passed or bool(options.exit_zero)
    if options.json:
        print_json(report.to_dict())
        return passed
    report.show()
    if options.report is not None:
        print(f"\nwritten: {options.report}")
    return passed
