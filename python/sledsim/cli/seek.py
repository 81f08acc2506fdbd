"""``sledsim seek``: seek times of sleds and disk arms."""

from __future__ import annotations

import argparse
import re
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from sledsim._core import SledsimError
from sledsim._number_text import number
from sledsim.cli.devices import add_set, resolve
from sledsim.cli.parser import command, print_json
from sledsim.hardware import Disk, sled_of
from sledsim.show.text import table

if TYPE_CHECKING:
    from sledsim.cli.parser import Commands
    from sledsim.hardware import Device, Op

    Point: TypeAlias = tuple[float, float, str]

_ABOUT = """\
Compute the seek time of a sled or the arm of a disk, by cause.

Of a MEMS device, a place is X, Y and the direction of Y motion, with X and Y from the centre in nm,
um, mm or m:

  sledsim seek --device g2 --start=-50um,-50um,up --end=50um,0,down

The sled is at rest in X and at access velocity in Y at both ends. X and Y move in parallel, so the
seek takes the longer of the two.

Of a disk, a place is an LBN; the time begins when the first block has been read and ends when the
other comes by. Or give seek distance in cylinders, or nothing for some of each length:

  sledsim seek --device atlas10k --start 0 --end 1000000
  sledsim seek --device atlas10k 100
  sledsim seek --device atlas10k
"""

_NUMBER = re.compile(r"[0-9](?:_?[0-9])*")
_EXPONENTS = {"nm": -9, "um": -6, "µm": -6, "μm": -6, "mm": -3, "m": 0}
_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*([^\d\s]*)", re.ASCII)


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "seek", _seek, _ABOUT)
    parser.add_argument(
        "--device", metavar="DEVICE", required=True, help="a preset, or the path of a TOML file"
    )
    parser.add_argument(
        "cylinders",
        metavar="CYLINDERS",
        type=_cylinders,
        nargs="?",
        help="of a disk: seek distance in cylinders",
    )
    for end, what in (("start", "where it is"), ("end", "end of the seek")):
        parser.add_argument(f"--{end}", metavar="X,Y,up|down or LBN", type=_place, help=what)
    parser.add_argument("--write", action="store_true", help="of a disk: settle for a write")
    add_set(parser)


def length_m(text: str) -> float:
    """Read a length with its unit, to the nearest float."""
    match = _LENGTH.fullmatch(text.strip())
    if match:
        value, unit = Decimal(match[1]), match[2]
        if unit in _EXPONENTS:
            return float(value.scaleb(_EXPONENTS[unit]))
        if not unit and value == 0:
            return 0.0
    raise argparse.ArgumentTypeError(
        f"'{text}' must be a number with its unit, nm, um, mm or m, as in -12.5um"
    )


def _cylinders(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError(f"'{text}' must be a number of cylinders")
    return int(text)


def _place(text: str) -> Point | int:
    if _NUMBER.fullmatch(text):
        return int(text)
    parts = text.split(",")
    if len(parts) != 3:
        raise argparse.ArgumentTypeError(
            f"'{text}' must be X,Y,up or X,Y,down, as in -50um,0,up; or the LBN of a disk"
        )
    direction = parts[2].strip()
    if direction not in {"up", "down"}:
        raise argparse.ArgumentTypeError(f"direction '{direction}' must be up or down")
    return length_m(parts[0]), length_m(parts[1]), direction


def _seek(options: argparse.Namespace) -> None:
    device = resolve(options.device, options.set)
    if isinstance(device, Disk):
        _of_disk(device, options)
    else:
        _of_sled(device, options)


def _of_disk(disk: Disk, options: argparse.Namespace) -> None:
    for end in ("start", "end"):
        if isinstance(getattr(options, end), tuple):
            raise SledsimError(f"--{end}: must be an LBN, as {disk.name} is a disk")
    if options.start is None and options.end is None:
        _curve(disk, options)
        return
    _both_ends(options)
    if options.cylinders is not None:
        raise SledsimError("CYLINDERS: must not be given along with --start and --end")
    op: Op = "write" if options.write else "read"
    seek = disk.seek(options.start, options.end, op)
    ends = {"start": options.start, "end": options.end}
    places = {end: disk.locate(lbn) for end, lbn in ends.items()}
    if options.json:
        named = {end: {"lbn": ends[end]} | asdict(place) for end, place in places.items()}
        times = asdict(seek) | {"total_s": seek.total_s}
        print_json({"device": disk.name, "op": op} | named | times)
        return
    for end, at in places.items():
        where = f"cylinder {at.cylinder}, head {at.head}, sector {at.sector}"
        print(f"{end:<5} LBN {ends[end]}: {where}, {at.angle:.4f} of a revolution")
    many = f"{seek.cylinders} cylinder{'' if seek.cylinders == 1 else 's'}"
    rows = (
        ("seek", seek.seek_s, many),
        ("head switch", seek.head_switch_s, "beyond the seek"),
        ("rotation", seek.rotation_s, "until the block comes by"),
        ("in all", seek.total_s, ""),
    )
    print(table([[name, f"{number(1e3 * time)} ms", note] for name, time, note in rows], "<><"))


def _curve(disk: Disk, options: argparse.Namespace) -> None:
    if options.write:
        raise SledsimError(
            "--write: must come with --start and --end; times for writes are shown anyway"
        )
    derived = disk.spec["derived"]
    longest = derived["cylinders"] - 1
    if options.cylinders is None:
        tens = [10**power for power in range(len(str(longest)))]
        listed = sorted({*(ten for ten in tens if ten <= longest), longest // 3, longest})
    else:
        listed = [options.cylinders]
    lines = [
        {"cylinders": over, "read_ms": disk.seek_ms(over), "write_ms": disk.seek_ms(over, "write")}
        for over in listed
    ]
    if options.json:
        print_json({"device": disk.name, "seeks": lines, "mean_seek_ms": derived["mean_seek_ms"]})
        return
    rows = [["cylinders", "read", "write"]]
    rows += [
        [
            f"{line['cylinders']:,}",
            f"{number(line['read_ms'])} ms",
            f"{number(line['write_ms'])} ms",
        ]
        for line in lines
    ]
    print(table(rows, ">>>"))


def _both_ends(options: argparse.Namespace) -> None:
    for end in ("start", "end"):
        if getattr(options, end) is None:
            raise SledsimError(f"--{end}: missing; --start and --end go together")


def _of_sled(device: Device, options: argparse.Namespace) -> None:
    if device.parameters["kind"] != "mems":
        raise SledsimError(
            f"--device {device.name}: must be of kind mems or disk, which have something to seek"
        )
    for given, name in ((options.cylinders is not None, "CYLINDERS"), (options.write, "--write")):
        if given:
            raise SledsimError(f"{name}: must not be given, as {device.name} is not a disk")
    _both_ends(options)
    for end in ("start", "end"):
        if isinstance(getattr(options, end), int):
            raise SledsimError(
                f"--{end}: must be X,Y,up or X,Y,down, as {device.name} is not a disk"
            )
    seek = sled_of(device).seek(options.start, options.end)
    if options.json:
        points = {"start": options.start, "end": options.end}
        named = {
            end: dict(zip(("x_m", "y_m", "direction"), points[end], strict=True)) for end in points
        }
        print_json({"device": device.name} | named | asdict(seek))
        return
    turns = f"{seek.turns} turnaround{'' if seek.turns == 1 else 's'}"
    rows = (
        ("seek", seek.seek_s, "the longer of X and Y"),
        ("  X", seek.x_seek_s, "with settle"),
        ("    settle", seek.settle_s, ""),
        ("  Y", seek.y_seek_s, "with turnarounds"),
        ("    turnaround", seek.turnaround_s, turns),
    )
    print(table([[name, f"{number(1e3 * time)} ms", note] for name, time, note in rows], "<><"))
