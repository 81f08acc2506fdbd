"""``sledsim mount``: a file system on a simulated device."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim._number_text import size
from sledsim.cli.failures import refuse_failures
from sledsim.cli.parser import command, print_json
from sledsim.cli.serve import add_device, closing
from sledsim.emulator import export_spec, tip_faults
from sledsim.hardware import labels

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Mount a file system that lies on a simulated device.

  sledsim mount --device g2 --fs ext4 /mnt/g2
  sledsim mount --device atlas10k --file disk.img /mnt/disk
  sledsim mount --device g2 --fs none
  sledsim umount /mnt/g2

It starts a server in the background, makes a loop device of its file with direct I/O, a file system
on that, and mounts it; then it returns. It needs root. sledsim umount, a plain umount, SIGTERM to
the supervisor or the server, and the end of the server undo everything. --foreground stays until
Ctrl-C. A second signal ends the wait for users of the file system; the recording is completed.

A backing file (--file) keeps the file system: mounted again, it is used as it is. --mkfs makes it
anew; nothing else is ever overwritten.
"""

_FILE_SYSTEMS = ("ext4", "xfs", "btrfs", "none")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "mount", _mount, _ABOUT)
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", help="an empty folder; none with --fs none"
    )
    add_device(parser, required=True)
    parser.add_argument(
        "--fs",
        choices=_FILE_SYSTEMS,
        metavar="TYPE",
        help=f"{', '.join(_FILE_SYSTEMS)}: the last is the block device alone (what the backing "
        "file holds, else ext4)",
    )
    parser.add_argument("--mkfs", action="store_true", help="make the file system anew")
    parser.add_argument(
        "--options", metavar="OPTIONS", help="for mount -o, as in --options noatime,discard"
    )
    parser.add_argument("--foreground", action="store_true", help="stay, and undo all on Ctrl-C")


def _mount(options: argparse.Namespace) -> None:
    from sledsim.emulator.mounting import supervisor, system  # Linux only

    export_spec.export_of(vars(options))  # raises errors before anything is made
    directory = _directory(options)
    system.need_root("mount", "; without it `sledsim serve --fuse` gives one file")
    there_is_none = options.file is None or not Path(options.file).exists()
    makes = directory is not None and (there_is_none or options.mkfs)
    system.need_mounting(system.MAKERS[options.fs or "ext4"][0] if makes else None)
    served = {key: getattr(options, key) for key in ("device", *export_spec.DEFAULTS)}
    for key in ("file", "record", "record_data"):
        served[key] = _absolute(served[key])
    served["device"] = labels.absolute(options.device)
    if options.faults is not None:
        served["faults"] = tip_faults.read(options.faults)
    wanted = supervisor.Wanted(
        directory=directory,
        name=labels.file_name(options.device),
        file_system=None if options.fs == "none" else options.fs,
        make=options.mkfs,
        options=options.options,
        serve=served,
    )
    if not options.foreground:
        _say(supervisor.background(wanted), options)
        return
    document = supervisor.Supervisor(wanted).run(lambda made: _say(made, options))
    if document is not None:
        say_closing([document], options)


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).absolute())


def _directory(options: argparse.Namespace) -> str | None:
    """Return the mount point, without links."""
    from sledsim.emulator.mounting import system
    from sledsim.emulator.mounting.state import State

    said: str | None = options.directory
    if options.fs == "none":
        for given, name in (
            (said, "DIR"),
            (options.mkfs, "--mkfs"),
            (options.options, "--options"),
        ):
            if given:
                raise SledsimError(
                    f"{name}: --fs none gives a block device alone, and mounts nothing"
                )
        return None
    if said is None:
        raise SledsimError(
            "mount point missing: give an empty folder, or --fs none for a block device alone"
        )
    path = os.path.realpath(said)
    other = State.named(path)
    if other is not None and other.supervisor.is_alive():
        raise SledsimError(
            f"{said}: is mounted already by sledsim (process {other.supervisor.pid})"
        )
    if other is None and (found := system.mounted_at(path)) is not None:
        raise SledsimError(f"{said}: is a mount point already, of {found[0]} on {found[1]}")
    if other is None:  # else it is checked after the clean-up
        try:
            full = any(Path(path).iterdir())
        except OSError as error:
            raise SledsimError(f"{said}: {error.strerror}; give an empty folder") from None
        if full:
            raise SledsimError(f"{said}: is not empty: its files would be hidden")
    return path


def _say(made: dict[str, Any], options: argparse.Namespace) -> None:
    if options.json:
        print_json(made)
        return
    what = f"{made['device']}, {size(made['bytes'])}"
    if made["directory"] is None:
        print(f"{what}: {made['loop']}")
    else:
        new = "a new " if made["made"] else ""
        mode = f" ({made['options']})" if made["options"] else ""
        print(f"{what}: {new}{made['file_system']}{mode} on {made['directory']}")
        print(f"  loop  {made['loop']}, direct I/O")
    print(f"  fuse  {made['fuse']}")
    if made["file"]:
        print(f"  file  {made['file']}")
    if options.foreground:
        print("Ctrl-C ends it", flush=True)
    else:
        print(f"sledsim umount {made['directory'] or made['loop']} ends it", flush=True)


def say_closing(documents: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Print the final statistics of servers."""
    for document in documents:
        if options.json:
            print_json(document)
        else:
            print("\n".join(closing(document)))
    refuse_failures(*documents)
