"""Disks: ``disksim_disk`` as a device file of ``kind = "disk"``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.disksim import arm, buffers, overheads, unmapped_parameters, zones
from sledsim.disksim.bus import block_time
from sledsim.disksim.parameter_coverage import enumerated, place_of
from sledsim.disksim.toml_writer import Table
from sledsim.disksim.tree import error

if TYPE_CHECKING:
    from sledsim.disksim.parameter_coverage import Account
    from sledsim.disksim.toml_writer import Sheet
    from sledsim.disksim.topology import Drive
    from sledsim.disksim.tree import Block

_CYLINDERS = "Number of cylinders"
_TOGETHER = {0: False, 1: True, 2: True}


def write(drive: Drive, sheet: Sheet, account: Account) -> None:
    """Put a disk on the sheet.

    Parameters
    ----------
    drive
        The disk, and its bus.
    sheet
        What it is added to.
    account
        Where it is noted what the sheet does not express.

    Raises
    ------
    SledsimError
        For a parameter that is missing, out of range or not modelled, with its line.
    """
    disk = account.open(drive.block, unmapped_parameters.DISK)
    if "Scheduler" in disk:
        account.open(disk.block("Scheduler"), unmapped_parameters.SCHEDULER, "Scheduler: ")
    model = account.open(disk.block("Model"), unmapped_parameters.MODEL)
    if model.type != "dm_disk":
        raise error(model.place, f"'Model' is a {model.type}: must be a dm_disk")
    mechanics = account.open(arm.block_of(model), unmapped_parameters.MECHANICS)

    surfaces = model.integer("Number of data surfaces", at_least=1, at_most=1000)
    cylinders = _cylinders(model, account)
    top = sheet.top
    top.add(
        "surfaces", surfaces, "Number of data surfaces", place_of(model, "Number of data surfaces")
    )
    top.add("cylinders", cylinders, _CYLINDERS, place_of(model, _CYLINDERS))
    turn_ms = arm.write_rotation(mechanics, top)
    skews = zones.write(model, surfaces, cylinders, sheet, account)
    capacity_at = len(top.lines)
    arm.write_seeks(mechanics, cylinders, top, account)
    _write_access(disk, mechanics, top)
    access_at = len(top.lines)
    scale = disk.number("Time scale for overheads", at_least=0)
    _write_bus(drive, disk, scale, top, account)
    overheads.write(disk, scale, sheet.table("[overheads]"), account)
    buffers.write(disk, sheet.table("[buffer]"), account)
    if surfaces > 1:
        skews_ms = [(skew * turn_ms, place) for skew, place in skews]
        arm.limit_staying(sheet, skews_ms, access_at)
    _write_capacity(model, sheet, capacity_at)


def _cylinders(model: Block, account: Account) -> int:
    """Return the number of cylinders.

    The published HP C2490A counts one too few for its last zone: that one is added.
    """
    cylinders = model.integer(_CYLINDERS, at_least=1, at_most=1 << 22)
    zones_of = zones.layout_model(model).blocks("Zones")
    ends = [zone.integer("Last cylinder number") for zone in zones_of]
    if not ends or ends[-1] != cylinders:
        return cylinders
    place = place_of(model, _CYLINDERS)
    account.ignore(
        _CYLINDERS, cylinders, f"there are {cylinders + 1}, as the last zone says", place
    )
    return cylinders + 1


def _write_access(disk: Block, mechanics: Block, top: Table) -> None:
    name = "Head switch time"
    top.add("head_switch_ms", mechanics.number(name, at_least=0), name, place_of(mechanics, name))
    name = "Add. write settling delay"
    top.add("write_settle_ms", mechanics.number(name), name, place_of(mechanics, name))
    for key, name in (
        ("zero_latency_read", "Immediate buffer read"),
        ("zero_latency_write", "Immediate buffer write"),
    ):
        top.add(
            key,
            enumerated(disk, name, _TOGETHER),
            f"{name} = {disk.integer(name)}",
            place_of(disk, name),
        )
    name = "Minimum seek delay"
    least = disk.number(name, at_least=0, at_most=1000)
    # A constant is no curve from which the core could tell what an access without a seek takes.
    if least > 0 or mechanics.text("Seek type") == "constant":
        top.add("seek_zero_ms", least, name, place_of(disk, name))


def _write_bus(drive: Drive, disk: Block, scale: float, top: Table, account: Account) -> None:
    name = "Per-request overhead time"
    overhead = overheads.scaled(disk.number(name, at_least=0), scale)
    source = name if scale == 1 else f"{name}, times Time scale for overheads"
    top.add("command_overhead_ms", overhead, source, place_of(disk, name))

    bus = None if drive.bus is None else account.open(drive.bus, unmapped_parameters.BUS, "Bus: ")
    reading = block_time(disk, bus, "Read block transfer time")
    writing = block_time(disk, bus, "Write block transfer time")
    top.add("bus_ms_per_block", *reading)
    if writing[0] != reading[0]:
        top.add("bus_write_ms_per_block", *writing)
    for key, name in (
        ("hold_bus_reads", "Hold bus entire read xfer"),
        ("never_disconnect", "Never disconnect"),
    ):
        top.add(key, disk.flag(name), name, place_of(disk, name))


def _write_capacity(model: Block, sheet: Sheet, at: int) -> None:
    """Add the capacity behind so many keys, by what the core says the zones hold."""
    name = "Block count"
    count = model.integer(name, at_least=1)
    held = sheet.resolved().blocks
    place = place_of(model, name)
    if held < count:
        raise error(place, f"'{name}' is {count}: must be at most {held}, which the zones hold")
    capacity = Table(None)
    capacity.add("blocks", count, name, place)
    if held > count:
        source = f"the zones hold {held}, which is more than {name}"
        capacity.add("unused_end_blocks", held - count, source, place)
    sheet.top.lines[at:at] = capacity.lines
