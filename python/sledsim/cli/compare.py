"""``sledsim compare``: the same load on several devices or under several schedulers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._core import SledsimError
from sledsim._load import Load
from sledsim.cli import load_options, outputs
from sledsim.cli.parser import command, print_json, split_names
from sledsim.cli.progress import work
from sledsim.comparison import compare
from sledsim.hardware import wrap
from sledsim.traces.files import samples_folder, trace_path

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Run the same load on several devices or under several schedulers and set the results side by side.

  sledsim compare --devices g1,g2,g3,flash --workload random --set rate=300 --precision 1%
  sledsim compare --devices g2,g3 --trace sample:postmark-ext4 --plot compare.png
  sledsim compare --devices atlas10k,g2 --trace sample:tpch-q4 --paired

The first device and scheduler are the baseline of the speed-ups. A generated load has the same
arrivals, operations and sizes everywhere, and its places are the same shares of each device;
--same-lbns lays it on the blocks that every device has.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "compare", _compare, _ABOUT)
    parser.add_argument(
        "--devices",
        metavar="A,B,...",
        required=True,
        help="presets, or paths of TOML files, separated by commas; the first is the baseline",
    )
    parser.add_argument(
        "--schedulers",
        metavar="A,B,...",
        default="fcfs",
        help=f"schedulers: any of {load_options.SCHEDULERS}; or yours, as FILE.py:CLASS",
    )
    parser.add_argument(
        "--layout",
        metavar="NAME",
        help=f"layout on all devices: {load_options.LAYOUTS}",
    )
    load_options.add_load(parser)
    parser.add_argument(
        "--same-lbns",
        action="store_true",
        help="lay a generated load on the LBNs that every device has",
    )
    parser.add_argument(
        "--paired",
        action="store_true",
        help="compare request by request with the baseline: for a trace or an open load",
    )
    load_options.add_precision(parser)
    drawn = "the distributions, the time split by cause and paired differences"
    outputs.add_plot(parser, drawn, "cdf", "causes", "differences")
    outputs.add_report(parser)
    outputs.add_table(parser)
    outputs.add_explore(parser)


def _compare(options: argparse.Namespace) -> None:
    outputs.check_plot(options)
    outputs.check_report(options)
    outputs.check_table(options)
    outputs.check_explore(options)
    names = split_names(options.devices, "--devices")
    schedulers = split_names(options.schedulers, "--schedulers")
    if options.explore is not None and len(names) * len(schedulers) > 2:
        from sledsim.explore import TWO  # few comparisons write a page

        count = f"{len(names) * len(schedulers)} runs"
        raise SledsimError(f"--explore {options.explore}: there are {count}; must be {TWO}")
    workload, settings = load_options.workload(options, names[0])
    precision = load_options.precision(options)
    trace = None if options.trace is None else trace_path(options.trace)
    scenarios = [
        _core.scenario(
            None,
            name,
            load_options.scheduler(schedulers[0])[0],
            workload,
            trace,
            settings,
            samples_folder(),
            options.layout,
        )
        for name in names
    ]
    devices = [wrap(core_device) for core_device, _, _ in scenarios]
    load = Load(scenarios[0][1], "load")
    comparison = work(
        lambda beat: compare(
            load,
            devices,
            schedulers,
            same_lbns=options.same_lbns,
            paired=options.paired,
            precision=precision,
            replications=options.replications,
            workers=load_options.workers(options),
            progress=beat,
        )
    )
    outputs.write_plot(options, comparison.plot)
    outputs.write_report(options, comparison)
    outputs.write_table(options, comparison)
    outputs.write_explore(options, comparison)
    if options.json:
        print_json(comparison.to_dict())
        return
    comparison.show()
    for file in (options.plot, options.report, options.table, options.explore):
        if file is not None:
            print(f"\nwritten: {file}")
