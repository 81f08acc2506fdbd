"""``sledsim parallel``: parallel access of a sled."""

from __future__ import annotations

import argparse
import re
import textwrap
from dataclasses import asdict
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim._number_text import number
from sledsim.cli.devices import add_set, resolve
from sledsim.cli.parser import command, print_json
from sledsim.hardware import sled_of
from sledsim.show.text import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledsim.cli.parser import Commands
    from sledsim.hardware import Sled

_ABOUT = """\
Show what a sled can access in parallel: equivalence classes and conflicts.

All tips are at the same place of their squares, so that each square has one block under them, and a
few of these can be accessed together. How many, and the shape of the media:

  sledsim parallel --device cmu2003

Give an LBN for its class, the blocks that are under the tips together with it, and for its track,
the request that the sled serves most efficiently:

  sledsim parallel 33 --device cmu2003
  sledsim parallel 33 --device cmu2003 --set micropositioning_cylinders=5

Give several, or ranges of them, for those that cannot be accessed together:

  sledsim parallel 33 508 1000-1009 --device cmu2003
"""

_MEANINGS = {
    "p": "blocks that can be accessed at once",
    "N": "squares: blocks under the tips at one place",
    "S_x": "blocks of a square in X: cylinders",
    "S_y": "blocks of a square in Y: rows",
    "M": "cylinders in either direction that a tip reaches",
    "N_x": "squares under the blocks of a row: p",
    "N_y": "sets of tips: N / p",
    "S_T": "blocks of a track",
    "S_C": "blocks of a cylinder",
}
_EXTENT = re.compile(r"(\d{1,20})(?:-(\d{1,20}))?", re.ASCII)
_MOST = 1000
"""Most blocks whose pairs are listed."""
_WIDTH = 100


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "parallel", _parallel, _ABOUT)
    parser.add_argument(
        "extents",
        metavar="EXTENT",
        type=_extent,
        nargs="*",
        help="an LBN, or a range with its first and last, as 33-38",
    )
    parser.add_argument(
        "--device", metavar="DEVICE", required=True, help="a preset, or the path of a TOML file"
    )
    add_set(parser)
    parser.add_argument(
        "--at-s",
        metavar="T",
        type=_seconds,
        help="at a time in seconds, if micropositioning changes in the course of a run",
    )


def ranges(lbns: Iterable[int]) -> list[tuple[int, int]]:
    """Return rising numbers as ranges, first and last of each."""
    found: list[tuple[int, int]] = []
    for lbn in lbns:
        if found and lbn == found[-1][1] + 1:
            found[-1] = (found[-1][0], lbn)
        else:
            found.append((lbn, lbn))
    return found


def _written(lbns: Iterable[int]) -> str:
    """Write rising numbers as ranges."""
    parts = (f"{first}" if first == last else f"{first}-{last}" for first, last in ranges(lbns))
    return ", ".join(parts)


def _extent(text: str) -> range:
    match = _EXTENT.fullmatch(text)
    if match:
        first, last = int(match[1]), int(match[2] or match[1])
        if first <= last:
            return range(first, last + 1)
    raise argparse.ArgumentTypeError(
        f"'{text}' must be an LBN, or a range with its first and last, as 33-38"
    )


def _seconds(text: str) -> float:
    try:
        time_s = float(text)
    except ValueError:
        time_s = -1.0
    if not 0 <= time_s < 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number of seconds from 0 to 1e9")
    return time_s


def _parallel(options: argparse.Namespace) -> None:
    device = sled_of(resolve(options.device, options.set))
    shape = device.parallelism
    if not options.extents:
        if options.at_s is not None:
            raise SledsimError(
                "--at-s: must come with an LBN; the parameters are those at the start"
            )
        values = asdict(shape)
        if options.json:
            print_json({"device": device.name, "parallelism": values})
        else:
            rows = [[name, number(value), _MEANINGS[name]] for name, value in values.items()]
            print(table(rows, "<><"))
        return
    at_s = options.at_s or 0.0
    if len(options.extents) == 1 and len(options.extents[0]) == 1:
        _class(device, options.extents[0][0], at_s, json=options.json)
    else:
        _conflicts(device, _blocks(device, options.extents), at_s, json=options.json)


def _blocks(device: Sled, extents: list[range]) -> list[int]:
    """Return the blocks of LBNs and ranges, in the order of LBNs."""
    last = max(extent[-1] for extent in extents)
    if last >= device.blocks:
        raise SledsimError(f"LBN {last}: must be from 0 to {device.blocks - 1}")
    count = sum(map(len, extents))
    if count > _MOST:
        raise SledsimError(f"EXTENT: {count} blocks; must be at most {_MOST} in all")
    lbns = sorted(lbn for extent in extents for lbn in extent)
    for before, lbn in pairwise(lbns):
        if before == lbn:
            raise SledsimError(f"LBN {lbn}: must be given once")
    return lbns


def _class(device: Sled, lbn: int, at_s: float, *, json: bool) -> None:
    blocks = device.equivalent(lbn, at_s)
    first, last = device.boundaries(lbn)
    if json:
        print_json(
            {
                "device": device.name,
                "at_s": at_s,
                "lbn": lbn,
                "at_once": device.parallelism.p,
                "equivalent": blocks,
                "boundaries": [first, last],
            }
        )
        return
    class_of = f"{number(len(blocks))} blocks from {blocks[0]} to {blocks[-1]}"
    rows = [
        ["class", f"{class_of}, at most {device.parallelism.p} of them at once"],
        ["track", f"{number(last - first + 1)} blocks from {first} to {last}"],
    ]
    print(table(rows, "<<"), end="\n\n")
    print(textwrap.fill(_written(blocks), _WIDTH, break_on_hyphens=False))


def _conflicts(device: Sled, lbns: list[int], at_s: float, *, json: bool) -> None:
    pairs = [pair for pair in combinations(lbns, 2) if device.conflicting(*pair, at_s)]
    if json:
        print_json(
            {
                "device": device.name,
                "at_s": at_s,
                "lbns": lbns,
                "at_once": device.parallelism.p,
                "conflicts": pairs,
            }
        )
        return
    others: dict[int, list[int]] = {lbn: [] for lbn in lbns}
    for one, other in pairs:
        others[one].append(other)
        others[other].append(one)
    rows = [["LBN", "conflicts with"]]
    rows += [[str(lbn), _written(sorted(with_it)) or "none"] for lbn, with_it in others.items()]
    print(table(rows, "><"))
    of = number(len(lbns) * (len(lbns) - 1) // 2)
    at_once = device.parallelism.p
    print(f"\n{number(len(pairs))} of {of} pairs conflict; at most {at_once} blocks at once")
