"""Imports: from a parameter file to a device file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import optional, path_text, placed, text
from sledsim._core import SpecError
from sledsim.disksim import disks, mems
from sledsim.disksim.parameter_coverage import Account
from sledsim.disksim.parser import read
from sledsim.disksim.toml_writer import Sheet
from sledsim.disksim.topology import DEVICES, Drive, base_of, described, drives, lineage_of
from sledsim.disksim.tree import error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from sledsim.disksim.tree import Block, Tree

_KINDS = {
    "disksim_disk": ("disk", disks.write),
    "memsmodel_mems": ("mems", mems.write),
}
_WHY = {
    "disksim_global": "seeds and output of DiskSim",
    "disksim_stats": "output of DiskSim",
    "disksim_iodriver": "the host, its delays and its queue; see --scheduler",
    "disksim_ctlr": "a controller between host and drive, and its delays",
    "disksim_bus": "a bus of other devices",
    "disksim_cachemem": "a cache between host and drive",
    "disksim_cachedev": "a cache between host and drive",
    "disksim_logorg": "how blocks are dealt out to several drives; see devices made of devices",
    "disksim_syncset": "drives that turn in step",
    "disksim_pf": "processes of DiskSim's workload",
    "disksim_synthio": "DiskSim's workload; see --workload",
    "dm_disk": "a model that the device does not use",
}


@dataclass(frozen=True, slots=True)
class Imported:
    """A device of a parameter file."""

    toml: str
    """The text of the device file."""
    report: dict[str, Any]
    """The report on the parameters: see :func:`import_device`."""


def import_device(
    path: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    *,
    device: str | None = None,
) -> Imported:
    """Make a device file of a DiskSim 4.0 parameter file.

    Parameters
    ----------
    path
        A ``.parv`` (the times of the bus count) or ``.diskspecs`` file. What it sources, and the
        seek files it names, are sought in the folder of the file that names them.
    output
        Where the device file is written, whole or not at all; None for nowhere.
    device
        Which device of the file, by the name it has in the topology or that of its block; a block
        that is in no topology has no bus. It may be left out if all devices that the file wires up,
        or describes where it has no topology, are the same.

    Returns
    -------
    Imported
        The text, and a report with ``path``, ``output``, ``device``, ``type``, ``sources`` (the
        files read), ``blocks``, ``unused_cylinders``, ``unused_end_blocks``, ``risen_seeks``
        (measured seek times that fall, and their replacements), ``ignored`` (parameters without
        a counterpart, and the effect of ignoring them), ``without_effect`` (those whose value
        changes nothing) and ``skipped`` (blocks that are not about the device).

    Raises
    ------
    SledsimError
        With file and line, for a file that is not well-formed, a parameter that is missing or out
        of range, a value that is not modelled, or zones, defects, seeks and capacities that cannot
        be.
    """
    path, device = path_text("path", path), optional(text, "device", device)
    output = optional(path_text, "output", output)
    tree = read(path)
    found = drives(tree)
    drive = _choose(tree, found, device)
    if drive.type not in _KINDS:
        kinds = " and ".join(_KINDS)
        raise error(
            drive.block.place, f"'{drive.name}' is a {drive.type}: only {kinds} can be imported"
        )
    sheet, account = Sheet(), Account()
    kind, write = _KINDS[drive.type]
    title = drive.block.name or drive.name
    sheet.top.add("title", title, f"the name of its {drive.type}", drive.block.place)
    sheet.top.add("kind", kind, drive.type, drive.block.place)
    write(drive, sheet, account)
    account.settle()
    sources = [*tree.sourced, *account.files]
    sheet.head = [f"Imported from {Path(path).name}.", *_read_from(drive, sources)]
    sheet.tail = list(_tail(account))
    written = sheet.text()
    if output is not None:
        _core.refuse_overwriting(output, sources)
        _core.write_atomically(output, written.encode())
    return Imported(written, _report(path, output, drive, tree, sources, account, sheet))


def _choose(tree: Tree, found: tuple[Drive, ...], name: str | None) -> Drive:
    if not found:
        blocks = ", ".join(f"{block.type} {block.name}" for block in tree.blocks.values())
        what = f"it has {blocks}" if blocks else "it is empty"
        raise placed(
            SpecError, f"{tree.file}: has no device ({', '.join(DEVICES)}): {what}", file=tree.file
        )
    names = ", ".join(dict.fromkeys(_named(drive) for drive in found))
    if name is not None:
        wired = [drive for drive in found if name in {drive.name, drive.block.name}]
        found = tuple(wired or (drive for drive in described(tree) if drive.name == name))
        if not found:
            raise placed(
                SpecError, f"{tree.file}: has no device '{name}': it has {names}", file=tree.file
            )
    first = found[0]
    if any(_alike(drive) != _alike(first) for drive in found):
        raise placed(
            SpecError,
            f"{tree.file}: has different devices: choose one with device (--device): {names}",
            file=tree.file,
        )
    return first


def _named(drive: Drive) -> str:
    block = drive.block.name
    return drive.name if block in {None, drive.name} else f"{drive.name} ({block})"


def _alike(drive: Drive) -> object:
    bus = None if drive.bus is None else drive.bus.values
    return drive.type, drive.block.values, bus


def _read_from(drive: Drive, sources: list[Path]) -> Iterator[str]:
    yield f"Device: {drive.block.title}."
    if drive.bus is not None:
        yield f"Bus: {drive.bus.title}."
    if len(sources) > 1:
        yield f"Read as well: {', '.join(path.name for path in sources[1:])}."
    yield "The comment behind a value names the DiskSim parameter it is from."


def _tail(account: Account) -> Iterator[str]:
    changing = [item for item in account.ignored if not item.harmless]
    harmless = [item for item in account.ignored if item.harmless]
    if changing:
        yield "Parameters without a counterpart, and the effect of ignoring them:"
        for item in changing:
            yield f"  {item.parameter} = {item.value}"
            yield f"    {item.changes}"
    if harmless:
        yield "Parameters without a counterpart whose values change nothing:"
        yield from (f"  {item.parameter} = {item.value}" for item in harmless)


def _report(
    path: str | PathLike[str],
    output: str | PathLike[str] | None,
    drive: Drive,
    tree: Tree,
    sources: list[Path],
    account: Account,
    sheet: Sheet,
) -> dict[str, Any]:
    values = {line.key: line.value for line in sheet.top.lines}
    return {
        "path": str(path),
        "output": None if output is None else str(output),
        "device": drive.block.name or drive.name,
        "type": drive.type,
        "sources": [str(source) for source in sources],
        "blocks": sheet.resolved().blocks,
        "unused_cylinders": account.unused_cylinders,
        "unused_end_blocks": values.get("unused_end_blocks", 0),
        "risen_seeks": [
            {
                "cylinders": point.cylinders,
                "measured_ms": point.measured_ms,
                "taken_ms": point.taken_ms,
                "place": str(point.place),
            }
            for point in account.risen
        ],
        "ignored": [
            {
                "parameter": item.parameter,
                "value": item.value,
                "changes": item.changes,
                "place": str(item.place),
            }
            for item in account.ignored
            if not item.harmless
        ],
        "without_effect": [item.parameter for item in account.ignored if item.harmless],
        "skipped": [
            {"block": block.title, "what": why, "place": str(block.place)}
            for block, why in _skipped(tree, drive)
        ],
    }


def _skipped(tree: Tree, drive: Drive) -> Iterator[tuple[Block, str]]:
    """Yield the blocks that are no part of the device, with their kinds."""
    used: list[Block] = []
    for part in (drive.block, drive.bus):
        if part is not None:
            used += lineage_of(tree, tree.blocks[part.name or ""])
    for block in tree.blocks.values():
        if block not in used:
            base = base_of(tree, block)
            another = "a device that is not this one" if base in DEVICES else base
            yield block, _WHY.get(base, another)
