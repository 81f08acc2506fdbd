"""The list of commands; the module of each is imported when its parser is needed."""

from __future__ import annotations

from importlib import import_module

from sledsim.cli.parser import listed

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    from collections.abc import Container

    from sledsim.cli.parser import Commands

TITLES = {
    "run": "Run a workload or a trace on a device and split its times by cause.",
    "compare": "Run the same load on several devices or under several schedulers and set the "
    "results side by side.",
    "sweep": "Run a simulation at every point of a design, on all cores or a cluster.",
    "validate": "Replay measurements of a real device on its model and compare the times.",
    "crash": "Cut the power of a device repeatedly, and check that it keeps the data it "
    "promised to.",
    "faults": "Let the tips of many devices fail one after the other, and count the losses.",
    "devices": "List the devices that come with sledsim, or show one.",
    "workloads": "List the workloads that come with sledsim, show one, or characterise its "
    "requests.",
    "keys": "List keys, with unit, default, range, meaning and source; or find a key or a result "
    "by its name.",
    "seek": "Compute the seek time of a sled or the arm of a disk, by cause.",
    "parallel": "Show what a sled can access in parallel: equivalence classes and conflicts.",
    "trace": "Analyse a trace or caches of it, convert it, write a workload as one, or list the "
    "samples.",
    "papers": "Redraw every table and figure of the papers and compare with the published values.",
    "serve": "Serve a simulated device to real programs, in real time.",
    "mount": "Mount a file system that lies on a simulated device.",
    "umount": "Unmount a mount of sledsim mount, and end its server.",
    "top": "Watch a server of emulated devices.",
    "power-cut": "Let power fail under a device that sledsim serve serves with --power-cut.",
    "power-on": "Let power return to a device after sledsim power-cut.",
    "ledger": "Show which acknowledged writes a power cut has lost.",
    "bench-app": "Run a real application on emulated devices, one after the other, and split its "
    "run time.",
    "crash-app": "Fail the power of a device at many instants under a real program, recover, and "
    "check its data.",
    "completion": "Print a script that completes sledsim's commands, options and names in a shell.",
}
"""The commands in the order of the list, each with the first line of its help.

The command ``bench-app`` is in the module ``sledsim.cli.bench_app``, and so on.
"""


def add(commands: Commands, wanted: Container[str]) -> None:
    """Add the parsers of the wanted commands; of the others only their lines in the list."""
    for name, title in TITLES.items():
        if name in wanted:
            import_module(f"sledsim.cli.{name.replace('-', '_')}").add(commands)
        else:
            commands.add_parser(name, help=listed(title))
