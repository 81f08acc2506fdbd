"""``sledsim devices``: list, show and import devices."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError
from sledsim._input_files import check_output
from sledsim._number_text import number, size
from sledsim.cli.parser import command, print_json
from sledsim.hardware import Device, device, devices, wrap
from sledsim.show.text import WIDTH, table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands, Parser

_WORD = re.compile(r"\w+")
_RISEN = 60
"""Seek times listed at most: a curve given by a formula may fall at every distance."""

_ABOUT = """\
List the devices that come with sledsim, or show one.

Wherever a device is named, the path of a TOML file will do; it may start from a preset with
base = "g2" and state only what differs. Drives and sleds described for DiskSim are imported.
"""

_LIST = """\
List the devices that come with sledsim (the default).

  sledsim devices list
  sledsim devices list hybrid
"""

_SHOW = """\
Show a device: every parameter, what it rests on, its source, and derived quantities.

What a value rests on is said by the mark of the comment behind it: [M] measured, [P] or [S]
published, [D] derived, [A] assumed, [F] fitted.

Of a device with keys set, and of one with a base, it also lists the parameters that differ from
the device as it comes, or from the base.

  sledsim devices show g2
  sledsim devices show g2 --set active_tips=640
"""

_IMPORT = """\
Make a device file of a DiskSim 4.0 parameter file.

Takes disks (disksim_disk) and MEMS devices (memsmodel_mems) from .parv and .diskspecs files, with
the files they source and their seek files. A .parv also names the bus of the device, whose times
count. The device file is printed, or written with -o. Parameters that it cannot express go to
stderr, with the effect of ignoring them, and into comments at its end. Errors name file and line.

  sledsim devices import atlas10k.parv -o atlas10k.toml
  sledsim devices import memsdevices.specs --device mems.g2 | less
  sledsim devices show atlas10k.toml
"""


_NEW = """\
Make a device file from the numbers of a data sheet.

The file says of each value whether it was given, derived (and by which rule) or assumed.

  sledsim devices new disk --capacity-tb 22 --platters 10 --rpm 7200 --outer-mb-s 291 \\
    --inner-mb-s 145 --seek-track-ms 0.25 --seek-average-ms 7.6 --seek-full-ms 15 -o mine.toml
  sledsim devices new sled --travel-um 100 --tips 6400 --bit-nm 30 --acceleration-m-s2 900 \\
    --resonance-hz 1000
"""

_DISK = {
    "capacity_tb": "capacity in 10^12 bytes",
    "platters": "platters, each with two surfaces",
    "rpm": "revolutions a minute",
    "outer_mb_s": "sustained rate of the outermost tracks, in 10^6 bytes per second",
    "inner_mb_s": "sustained rate of the innermost tracks",
    "seek_track_ms": "seek of a read to the next track",
    "seek_average_ms": "average seek of a read",
    "seek_full_ms": "seek of a read over all cylinders",
    "heads": "surfaces in use; by default two for each platter",
    "head_switch_ms": "time of a head switch; by default that of a seek to the next track",
    "write_settle_ms": "average seek of a write less that of a read; by default 0.8",
    "command_overhead_ms": "time of a command; by default 0.2",
    "interface_mb_s": "rate of the interface; by default 600",
    "buffer_mib": "size of the buffer; by default 256",
}
_COUNTS = {"platters", "heads", "tips"}
_UNITS = ("tb", "mb_s", "ms", "mib", "um", "nm", "m_s2", "hz")
_SLED = {
    "travel_um": "full travel in X and Y",
    "tips": "probe tips",
    "bit_nm": "side of a bit cell",
    "acceleration_m_s2": "acceleration of the actuators",
    "resonance_hz": "resonance of the sled on its springs",
}
"""Numbers of data sheets, with the help of their options."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "devices", _list, _ABOUT)
    actions = parser.add_commands()
    listing = command(actions, "list", _list, _LIST)
    listing.add_argument(
        "word", metavar="WORD", nargs="?", help="only those whose description has it"
    )
    show = command(actions, "show", _show, _SHOW)
    show.add_argument("device", metavar="DEVICE", help="a preset, or the path of a TOML file")
    show.add_argument("--all", action="store_true", help="list every zone, not 20 at the most")
    add_set(show)
    _add_new(command(actions, "new", _new, _NEW).add_commands())
    take = command(actions, "import", _import, _IMPORT)
    take.add_argument("file", metavar="FILE", help="a .parv or .diskspecs file of DiskSim 4.0")
    take.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="the device file to write, or - for stdout (the default); an old one is replaced",
    )
    take.add_argument(
        "--device",
        metavar="NAME",
        help="which device, if the file has different ones: its name or that of its block",
    )


def _add_new(kinds: Commands) -> None:
    """Add ``new disk`` and ``new sled``: an option for each number."""
    for kind, numbers in (("disk", _DISK), ("sled", _SLED)):
        parser = command(kinds, kind, _new, _NEW)
        parser.set_defaults(kind=kind)
        for name, what in numbers.items():
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                metavar=next((unit.upper() for unit in _UNITS if name.endswith(f"_{unit}")), "N"),
                type=int if name in _COUNTS else float,
                required="by default" not in what,
                help=what,
            )
        parser.add_argument(
            "-o",
            "--output",
            metavar="OUT",
            help="the device file to write, or - for stdout (the default); an old one is replaced",
        )


def _new(options: argparse.Namespace) -> None:
    kind = getattr(options, "kind", None)
    if kind is None:
        raise SledsimError("devices new: must be followed by disk or sled")
    from sledsim.hardware import datasheets  # other commands do without

    given = {name: getattr(options, name) for name in (_DISK if kind == "disk" else _SLED)}
    made = getattr(datasheets, kind)(
        **{n: value for n, value in given.items() if value is not None}
    )
    if options.output in {None, "-"}:
        print(made.to_toml(), end="")
        return
    check_output(options.output, (".toml",), (), f"-o {options.output}")
    _core.write_atomically(options.output, made.to_toml().encode())
    facts = [["written", options.output], ["device", f"{kind}, {size(512 * made.blocks)}"]]
    print(table(facts, "<<"))


def add_set(parser: Parser) -> None:
    """Take ``--set`` for keys of a device."""
    parser.add_repeatable(
        "--set", "KEY=VALUE", "override a key of the device, as in --set spring_factor=0"
    )


def resolve(name: str, settings: list[str]) -> Device:
    """Resolve a device with ``key=value`` overrides; keys may carry the prefix of ``run``."""
    if not settings:
        return device(name)
    full = [item if item.startswith("device.") else f"device.{item}" for item in settings]
    core, _, _ = _core.scenario(None, name, None, None, None, full)
    return wrap(core)


def _list(options: argparse.Namespace) -> None:
    word = getattr(options, "word", None)
    found = [made for name in devices() if _matches(made := device(name), word)]
    if not found:
        raise SledsimError(f"no device is described by '{word}'; sledsim devices list names all")
    lines = [_line(made) for made in found]
    if options.json:
        print_json({"devices": lines})
        return
    rows = [["device", "capacity", "streaming", "settle", "title"]]
    rows += [
        [
            line["name"],
            size(line["capacity_bytes"]),
            _quantity(line, "streaming_mb_s", "MB/s"),
            _quantity(line, "settle_ms", "ms"),
            line["title"],
        ]
        for line in lines
    ]
    print(table(rows, "<>>><", WIDTH))


def _matches(listed: Device, words: str | None) -> bool:
    """Return whether all words are in the name, title or description of a device."""
    if words is None:
        return True
    spec = listed.spec
    text = f"{listed.name} {spec['parameters']['title']['value']} {spec['about']}"
    there = set(_WORD.findall(text.lower()))
    return there.issuperset(_WORD.findall(words.lower()))


def _line(listed: Device) -> dict[str, Any]:
    spec = listed.spec
    return {"name": listed.name, "title": spec["parameters"]["title"]["value"], **spec["derived"]}


def _quantity(line: dict[str, Any], key: str, unit: str) -> str:
    """Write a derived quantity; ``-`` where the kind of device has none."""
    value = line.get(key)
    return "-" if value is None else f"{number(value)} {unit}"


def _show(options: argparse.Namespace) -> None:
    from sledsim.hardware.evidence import counts  # a list does without
    from sledsim.show import devices as shown

    made = resolve(options.device, options.set)
    plain, keys = _core.split_device_name(options.device)
    base = device(plain) if keys or options.set else shown.base_of(made.spec)
    changed = shown.against(made.spec, base)
    if options.json:
        evidence = made.evidence
        found = {"evidence": {key: asdict(one) for key, one in evidence.items()}}
        print_json({**made.spec, **found, "evidence_counts": counts(evidence), **changed})
        return
    print(shown.text(made, changed, None if options.all else shown.MOST_LISTED))


def _import(options: argparse.Namespace) -> None:
    from sledsim.disksim import import_device  # no other command needs it

    output = None if options.output == "-" else options.output
    imported = import_device(options.file, output, device=options.device)
    report = imported.report
    if options.json:
        print_json(report | ({"toml": imported.toml} if output is None else {}))
        return
    notes = "\n".join(_notes(report))
    if notes:
        print(notes, file=sys.stderr)
    if output is None:
        print(imported.toml, end="")
        return
    facts = [
        ["written", output],
        ["device", f"{report['device']}, {size(512 * report['blocks'])}"],
        ["from", ", ".join(report["sources"])],
    ]
    print(table(facts, "<<"))


def _notes(report: dict[str, Any]) -> Iterator[str]:
    """Describe the differences between the device file and the parameter file."""
    if report["risen_seeks"]:
        yield "Measured seek times that fall, and their replacements:"
        for point in report["risen_seeks"][:_RISEN]:
            taken = f"{point['taken_ms']:g} ms for {point['measured_ms']:g} ms"
            yield f"  {point['place']}: {point['cylinders']} cylinders: {taken}"
        if (more := len(report["risen_seeks"]) - _RISEN) > 0:
            yield f"  ... and {more} more (--json lists them)"
    if report["unused_cylinders"]:
        listed = ", ".join(map(str, report["unused_cylinders"]))
        yield f"Cylinders between zones, taken as unused: {listed}"
    if report["unused_end_blocks"]:
        count = report["unused_end_blocks"]
        yield f"Blocks that the zones hold beyond 'Block count', taken as unused: {count}"
    if report["ignored"]:
        yield "Parameters without a counterpart, and the effect of ignoring them:"
        for item in report["ignored"]:
            yield f"  {item['place']}: {item['parameter']} = {item['value']}: {item['changes']}"
    if report["without_effect"]:
        names = ", ".join(report["without_effect"])
        yield f"Parameters without a counterpart whose values change nothing: {names}"
    if report["skipped"]:
        yield "Blocks that are not about the device or its bus:"
        for block in report["skipped"]:
            yield f"  {block['place']}: {block['block']}: {block['what']}"
