"""``sledsim devices``: what there is, and what it is made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim.cli.parser import command, print_json
from sledsim.cli.tables import number, size, table
from sledsim.devices import Device, device, of_core, presets

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands, Parser

_ABOUT = """\
List the devices that come with sledsim, or show one.

Wherever a device is named, the path of a TOML file will do; it may start from a preset with
base = "g2" and state only what differs.
"""

_SHOW = """\
Show a device: every parameter with its source, and what follows from them.

  sledsim devices show g2
  sledsim devices show g2 --set active_tips=640
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "devices", _list, _ABOUT)
    actions = parser.add_commands()
    command(actions, "list", _list, "List the devices that come with sledsim (the default).")
    show = command(actions, "show", _show, _SHOW)
    show.add_argument("device", metavar="DEVICE", help="a preset, or the path of a TOML file")
    add_set(show)


def add_set(parser: Parser) -> None:
    """Take ``--set`` for keys of a device."""
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="override a key of the device, as in --set spring_factor=0; repeatable",
    )


def resolve(name: str, settings: list[str]) -> Device:
    """Resolve a device with ``key=value`` overrides; keys may carry the prefix of ``run``."""
    if not settings:
        return device(name)
    full = [item if item.startswith("device.") else f"device.{item}" for item in settings]
    core, _, _ = _core.scenario(None, name, None, None, None, full)
    return of_core(core)


def _list(options: argparse.Namespace) -> None:
    devices = [_line(device(name)) for name in presets()]
    if options.json:
        print_json({"devices": devices})
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
        for line in devices
    ]
    print(table(rows, "<>>><"))


def _line(listed: Device) -> dict[str, Any]:
    spec = listed.spec
    return {"name": listed.name, "title": spec["parameters"]["title"]["value"], **spec["derived"]}


def _quantity(line: dict[str, Any], key: str, unit: str) -> str:
    """Write a derived quantity; ``-`` where the kind of device has none."""
    value = line.get(key)
    return "-" if value is None else f"{number(value)} {unit}"


def _show(options: argparse.Namespace) -> None:
    spec = resolve(options.device, options.set).spec
    if options.json:
        print_json(spec)
        return
    print(spec["name"], spec["about"], sep="\n\n", end="\n\n")
    rows = [["parameter", "value", "source", "from"]]
    rows += [
        [key, _value(entry["value"]), entry["source"] or "", entry["origin"]]
        for key, entry in spec["parameters"].items()
    ]
    print(table(rows, "<><<"), end="\n\n")
    derived = [["derived", "value"]]
    derived += [[key, number(value, 6)] for key, value in spec["derived"].items()]
    print(table(derived, "<>"))


def _value(value: bool | float | str) -> str:
    return value if isinstance(value, str) else json.dumps(value)
