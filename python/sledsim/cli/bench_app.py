"""``sledsim bench-app``: real applications on emulated devices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sledsim import programs
from sledsim._core import SledsimError
from sledsim._number_text import plain
from sledsim.cli import outputs
from sledsim.cli.parser import command, print_json, split_names
from sledsim.cli.real_programs import one_signal, tell
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands
    from sledsim.programs import Outcomes

_ABOUT = """\
Run a real application on emulated devices, one after the other, and split its run time.

  sledsim bench-app postmark --devices sigmetrics2000,atlas10k
  sledsim bench-app tpch-q4 --set scale_factor=0.2 --plot q4.png
  sledsim bench-app sqlite --devices g2,slow.toml --record recordings
  sledsim bench-app postmark --replay
  sledsim bench-app pgbench --keys

A file system with the application's data is made once; each device begins with the same bytes and
cold caches. The run time is split into processor time and I/O stall: time with a request in the
device, and the overhead of the path to it. Beside it stands the prediction of a closed replay of
another device's recording. This takes real time and needs root, as sledsim mount does.

With --replay a recording is replayed on simulated devices instead, which takes seconds and needs no
rights: the one that comes with sledsim, or a file that --record has written.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "bench-app", _bench, _ABOUT)
    parser.add_argument(
        "application", metavar="NAME", help=f"{', '.join(programs.NAMES)}: what runs"
    )
    parser.add_argument(
        "--devices",
        metavar="DEVICE,...",
        default=",".join(programs.DEVICES),
        help=f"presets or TOML files ({', '.join(programs.DEVICES)})",
    )
    parser.add_argument("--scheduler", metavar="NAME", default="fcfs", help="scheduler (fcfs)")
    parser.add_repeatable("--set", "KEY=VALUE", "a key of the application")
    parser.add_argument("--keys", action="store_true", help="list the application's keys, and end")
    parser.add_argument("--fs", metavar="TYPE", help="file system (the application's own)")
    parser.add_argument(
        "--fs-mib", metavar="MIB", type=int, help="size of the file system on every device (1536)"
    )
    parser.add_argument("--options", metavar="OPTIONS", help="for mount -o (the application's own)")
    parser.add_argument(
        "--record",
        metavar="DIR",
        type=Path,
        help="keep the recording of each device in this folder",
    )
    parser.add_argument(
        "--folder", metavar="DIR", type=Path, help="where the data are kept meanwhile (in memory)"
    )
    parser.add_argument(
        "--replay",
        metavar="FILE",
        nargs="?",
        const="",
        help="replay a recording (that of sledsim), and run nothing",
    )
    outputs.add_plot(parser, "the split run times")
    outputs.add_report(parser)


def _bench(options: argparse.Namespace) -> None:
    name = options.application
    programs.kind(name)
    if options.keys:
        _list_keys(name, options)
        return
    outputs.check_plot(options)
    outputs.check_report(options)
    devices = _names(options.devices)
    if options.replay is not None:
        for option in ("set", *_SETTINGS):
            if getattr(options, option) not in (None, []):
                raise SledsimError(f"--{option.replace('_', '-')}: --replay runs nothing")
        outcomes = programs.replay(options.replay or f"sample:{name}", devices, options.scheduler)
    else:
        outcomes = _run(options, devices)
    outputs.write_plot(options, outcomes.plot)
    outputs.write_report(options, outcomes)
    if options.json:
        print_json({"application": name, "devices": [each.to_dict() for each in outcomes]})
        return
    outcomes.show()
    for file in (options.plot, options.report):
        if file is not None:
            print(f"\nwritten: {file}")


_SETTINGS = {
    "fs": "file_system",
    "fs_mib": "mib",
    "options": "options",
    "record": "record",
    "folder": "folder",
}
"""What is set by options that a replay does not have."""


def _run(options: argparse.Namespace, devices: list[str]) -> Outcomes:
    from sledsim.programs.benchmarks.emulated import Settings  # Linux only

    chosen = {name: getattr(options, option) for option, name in _SETTINGS.items()}
    given = {name: value for name, value in chosen.items() if value is not None}
    with one_signal():
        return programs.bench(
            options.application,
            devices,
            keys=dict(map(_setting, options.set)),
            settings=Settings(scheduler=options.scheduler, **given),
            tell=tell,
        )


def _names(text: str) -> list[str]:
    names = split_names(text, "--devices")
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise SledsimError(f"--devices {text}: {double} is there twice")
    return names


def _setting(text: str) -> tuple[str, float]:
    key, _, value = text.partition("=")
    try:
        return key, float(value)
    except ValueError:
        raise SledsimError(f"--set {text}: must be KEY=NUMBER") from None


def _list_keys(name: str, options: argparse.Namespace) -> None:
    kind = programs.kind(name)
    if options.json:
        keys = {key: vars(each) for key, each in kind.keys.items()}
        print_json({"application": name, "title": kind.title, "about": kind.about, "keys": keys})
        return
    rows = [["key", "default", "from", "to", ""]]
    rows += [
        [key, plain(each.default), plain(each.least), plain(each.most), each.what]
        for key, each in kind.keys.items()
    ]
    print(f"{kind.title}. {kind.about}\n\n{table(rows, '<>>><')}")
