"""``sledsim seek``: how long the sled takes from one point to another."""

from __future__ import annotations

import argparse
import re
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from sledsim.cli.devices import add_set, resolve
from sledsim.cli.parser import command, print_json
from sledsim.cli.tables import table

if TYPE_CHECKING:
    from sledsim.cli.parser import Commands

    Point: TypeAlias = tuple[float, float, str]

_ABOUT = """\
Tell how long the sled takes from one point to another, by cause.

A point is X, Y and the direction of Y motion, with X and Y from the centre in nm, um, mm or m:

  sledsim seek --device g2 --start=-50um,-50um,up --end=50um,0,down

The sled is at rest in X and at access velocity in Y at both ends. X and Y move in parallel, so the
seek takes the longer of the two.
"""

_EXPONENTS = {"nm": -9, "um": -6, "µm": -6, "μm": -6, "mm": -3, "m": 0}
_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*([^\d\s]*)", re.ASCII)


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "seek", _seek, _ABOUT)
    parser.add_argument(
        "--device", metavar="DEVICE", required=True, help="a preset, or the path of a TOML file"
    )
    for end, what in (("start", "where the sled is"), ("end", "where it goes")):
        parser.add_argument(
            f"--{end}", metavar="X,Y,up|down", type=_point, required=True, help=what
        )
    add_set(parser)


def length_m(text: str) -> float:
    """Read a length with its unit, to the nearest float.

    Raises
    ------
    argparse.ArgumentTypeError
        For anything else.
    """
    match = _LENGTH.fullmatch(text.strip())
    if match:
        value, unit = Decimal(match[1]), match[2]
        if unit in _EXPONENTS:
            return float(value.scaleb(_EXPONENTS[unit]))
        if not unit and value == 0:
            return 0.0
    msg = f"'{text}' must be a number with its unit, nm, um, mm or m, as in -12.5um"
    raise argparse.ArgumentTypeError(msg)


def _point(text: str) -> Point:
    parts = text.split(",")
    if len(parts) != 3:
        msg = f"'{text}' must be X,Y,up or X,Y,down, as in -50um,0,up"
        raise argparse.ArgumentTypeError(msg)
    direction = parts[2].strip()
    if direction not in {"up", "down"}:
        msg = f"direction '{direction}' must be up or down"
        raise argparse.ArgumentTypeError(msg)
    return length_m(parts[0]), length_m(parts[1]), direction


def _seek(options: argparse.Namespace) -> None:
    device = resolve(options.device, options.set)
    seek = device.seek(options.start, options.end)
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
    print(table([[name, f"{1e3 * time:.6f} ms", note] for name, time, note in rows], "<><"))
