"""``sledsim keys``: the keys of workloads, devices and others, and the names of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError
from sledsim._keys import results, things
from sledsim.cli.parser import command, nearest, print_json
from sledsim.show.text import WIDTH, table

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
List keys, with unit, default, range, meaning and source; or find a key or a result by its name.

  sledsim keys                 what has keys
  sledsim keys zipf            those of a workload
  sledsim keys mems            of a kind of device; a device, such as g2, will do
  sledsim keys aged_sptf       of a scheduler, a layout (columnar), a policy of caches (arc)
  sledsim keys trace           of a trace that is replayed
  sledsim keys think_ms        what has this key
  sledsim keys p99             results with this name, as sledsim sweep draws them

The types and ranges are those that the readers of the keys ask for.
"""

_GIVEN = {
    "workloads": "--set {key}=VALUE",
    "traces": "--set {key}=VALUE",
    "devices": "--set device.{key}=VALUE",
    "schedulers": "--set scheduler.{key}=VALUE",
    "layouts": "--set layout.{key}=VALUE",
    "caches": '"{thing}({key}=VALUE)"',
}
"""How a key is given on the command line."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "keys", _keys, _ABOUT)
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="a workload, a kind of device, a scheduler, a layout, a policy, a key or a result",
    )


def _keys(options: argparse.Namespace) -> None:
    named = options.name
    if named is None:
        _print_all(json=options.json)
        return
    own = things(_kind_of(named))
    with_it = [] if own else [_with_key(thing, named) for thing in things()]
    with_it = [thing for thing in with_it if thing["keys"]]
    known = {} if own else results()
    named_so = {name: about for name, about in known.items() if _is(named, name)}
    if not (own or with_it or named_so):
        names = [thing["name"] for thing in things()]
        keys = [key["key"] for thing in things() for key in thing["keys"]]
        hint = nearest(named, [*dict.fromkeys([*names, *keys, *known])])
        raise SledsimError(
            f"NAME = {named!r}: no key, no result, nothing that has keys{hint}; see sledsim keys"
        )
    if options.json:
        print_json({"things": own or with_it, "results": named_so})
        return
    parts = [_thing(thing) for thing in own] + _owners(with_it)
    if named_so:
        rows = [["result", "meaning"], *map(list, named_so.items())]
        parts.append(table(rows, "<<", WIDTH))
    print("\n\n".join(parts))


def _print_all(*, json: bool) -> None:
    found = things()
    if json:
        print_json({"things": found, "results": results()})
        return
    families: dict[str, list[str]] = {}
    for thing in found:
        families.setdefault(thing["family"], []).append(thing["name"])
    rows = [["family", "what has keys"]]
    rows += [[family, ", ".join(names)] for family, names in families.items()]
    print(table(rows, "<<", WIDTH), end="\n\n")
    print("sledsim keys NAME lists the keys of one; sledsim keys KEY tells what has a key.")


def _kind_of(name: str) -> str:
    """Return the kind of a device or a workload that comes with sledsim, or the name itself."""
    if name in _core.names("presets") and name not in _core.names("device_kinds"):
        from sledsim.hardware import device  # most names are no devices

        return str(device(name).spec["parameters"]["kind"]["value"])
    if name in _core.names("workload_presets"):
        from sledsim.loads import workload_spec

        return str(workload_spec(name)["parameters"]["kind"]["value"])
    return name


def _is(wanted: str, name: str) -> bool:
    """Tell whether a name is the wanted one, or ends or begins with it after a dot."""
    return name == wanted or name.endswith(f".{wanted}") or name.startswith(f"{wanted}.")


def _with_key(thing: dict[str, Any], wanted: str) -> dict[str, Any]:
    bare = wanted.removeprefix("device.").removeprefix("scheduler.").removeprefix("layout.")
    return thing | {"keys": [key for key in thing["keys"] if _is(bare, key["key"])]}


def _thing(thing: dict[str, Any]) -> str:
    title = f"{thing['name']} ({thing['family']})"
    about = f"{title}: {_plain(thing['about'])}" if thing["about"] else title
    if not thing["keys"]:
        return f"{about}\n\nIt has no keys."
    example = next(
        (key for key in thing["keys"] if key["group"] == thing["name"]), thing["keys"][0]
    )
    given = _GIVEN[thing["family"]].format(thing=thing["name"], key=example["key"])
    page = f"; docs/reference/{thing['page'].partition('#')[0]}.md" if thing["page"] else ""
    return f"{about}\n\n{_table(thing['keys'])}\n\nGiven as {given}{page}."


def _owners(found: list[dict[str, Any]]) -> list[str]:
    """Write keys of the same meaning once, with what has them."""
    by_meaning: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for thing in found:
        for key in thing["keys"]:
            same = by_meaning.setdefault(f"{thing['family']} {key}", (key, []))
            same[1].append(thing["name"])
    return [f"{_table([key])}\n\nOf {', '.join(names)}." for key, names in by_meaning.values()]


def _table(keys: list[dict[str, Any]]) -> str:
    rows = [["key", "meaning"]]
    for key in keys:
        unit = f" in {key['unit']}" if key["unit"] else ""
        said = [key["meaning"], f"{key['takes']}{unit}"]
        if key["default"]:
            said.append(f"default: {key['default']}")
        elif key["required"]:
            said.append("must be given" + (f", usual: {key['usual']}" if key["usual"] else ""))
        source = f" [{key['source']}]" if key["source"] else ""
        rows.append([key["key"], _plain("; ".join(said)) + source])
    return table(rows, "<<", WIDTH)


def _plain(meaning: str) -> str:
    """Return a meaning without the marks of Markdown."""
    return meaning.replace('`"', '"').replace('"`', '"').replace("`", "'")
