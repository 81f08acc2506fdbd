"""MEMS devices: ``memsmodel_mems`` as a device file of ``kind = "mems"``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.disksim import unmapped_parameters
from sledsim.disksim.bus import block_time
from sledsim.disksim.parameter_coverage import enumerated, place_of
from sledsim.disksim.tree import error

if TYPE_CHECKING:
    from sledsim.disksim.parameter_coverage import Account
    from sledsim.disksim.toml_writer import Sheet, Table
    from sledsim.disksim.topology import Drive
    from sledsim.disksim.tree import Block

_MAPS = {6: "ascending", 7: "serpentine"}
_KINEMATICS = {0: "disksim", 1: "analytic"}
_MEDIA = {
    "tips": "Number of usable tips",
    "active_tips": "Simultaneously active tips",
    "tips_per_lbn": "Tip sectors per lbn",
    "tip_sector_bits": "Tip sector length",
    "servo_bits": "Servo burst length",
}
_MOTION = {
    "acceleration_x_m_s2": "Sled acceleration X",
    "acceleration_y_m_s2": "Sled acceleration Y",
    "resonance_hz": "Sled resonant frequency",
    "settling_constants": "Settling time constants",
    "spring_factor": "Spring constant factor",
}
_IDLING = {
    "inactive_after_ms": "Time before sled inactive",
    "startup_ms": "Startup delay",
    "power_active_mw": "Sled active power",
    "power_idle_mw": "Sled active power",
    "power_startup_mw": "Sled active power",
    "power_inactive_mw": "Sled inactive power",
    "power_tip_mw": "Tip access power",
}
_MODEL = "DiskSim's MEMS model"


def write(drive: Drive, sheet: Sheet, account: Account) -> None:
    """Put a MEMS device on the sheet.

    Parameters
    ----------
    drive
        The device, and its bus.
    sheet
        What it is added to.
    account
        Where it is noted what the sheet does not express.

    Raises
    ------
    SledsimError
        For a parameter that is missing, out of range or not modelled, with its line.
    """
    block = account.open(drive.block, unmapped_parameters.MEMS)
    if "Scheduler" in block:
        account.open(block.block("Scheduler"), unmapped_parameters.SCHEDULER, "Scheduler: ")
    name = "Number of sleds"
    if block.integer(name) != 1:
        raise error(
            place_of(block, name),
            f"'{name}' is {block.integer(name)}: must be 1, for a device with one sled",
        )
    top = sheet.top

    def scaled(key: str, name: str, scale: float, source: str) -> None:
        number = float(f"{block.number(name, at_least=0) * scale:.15g}")
        top.add(key, number, source, place_of(block, name))

    def plain(names: dict[str, str]) -> None:
        for key, name in names.items():
            scaled(key, name, 1, name)

    def fixed(key: str, value: str, source: str = _MODEL) -> None:
        top.add(key, value, source, block.place)

    scaled("bit_cell_nm", "Bit cell length", 1, "Bit cell length")
    scaled("travel_x_um", "Sled movement X", 1e-3, "Sled movement X, in nm")
    scaled("travel_y_um", "Sled movement Y", 1e-3, "Sled movement Y, in nm")
    plain(_MEDIA)
    name = "Layout policy"
    source = f"{name} = {block.item(name)}"
    top.add("lbn_map", enumerated(block, name, _MAPS), source, place_of(block, name))
    top.add("micropositioning_cylinders", 0, _MODEL, block.place)
    plain(_MOTION)
    _write_springs(block, top, account)
    scaled("tip_rate_kbit_s", "Sled access speed", 1e-3, "Sled access speed, in bit/s")
    _write_kinematics(block, top, account)
    fixed("cylinder_switch", "seek")
    fixed("direction", "greedy_row")
    name = "Bidirectional access"
    top.add("reads_both_ways", block.flag(name), name, place_of(block, name))
    plain({"command_overhead_ms": "Command overhead"})
    _write_bus(drive, block, top, account)
    fixed("idle", "hold", "sledsim default: DiskSim's coasting is effectively random")
    fixed("park", "middle_lbn")
    plain(_IDLING)
    fixed("tips_powered", "used", "sledsim default: only the tips that transfer")
    _write_buffer(block, sheet, account)
    sheet.resolved()


def _write_springs(block: Block, top: Table, account: Account) -> None:
    """Add the displacement that the spring factor refers to, which DiskSim takes axis by axis."""
    x, y = "Sled movement X", "Sled movement Y"
    travel = {name: block.number(name) for name in (x, y)}
    longer = x if travel[x] >= travel[y] else y
    shorter = y if longer == x else x
    top.add(
        "spring_reference_um",
        travel[longer] / 2000,
        f"half of {longer}",
        place_of(block, longer),
    )
    if travel[shorter] != travel[longer]:
        changes = "the springs are as stiff as those along the longer movement, not stiffer"
        account.ignore(shorter, block.item(shorter), changes, place_of(block, shorter))


def _write_kinematics(block: Block, top: Table, account: Account) -> None:
    name = "Seek function"
    number, place = block.integer(name), place_of(block, name)
    top.add("kinematics", enumerated(block, name, _KINEMATICS), f"{name} = {number}", place)
    top.add("piecewise_chunks", 8, _MODEL, place)
    top.add("turnaround", "paper", _MODEL, place)
    if number == 1:
        changes = "seeks have the stated springs; DiskSim's formula takes springs half as stiff"
        account.ignore(name, number, changes, place)


def _write_bus(drive: Drive, block: Block, top: Table, account: Account) -> None:
    bus = None if drive.bus is None else account.open(drive.bus, unmapped_parameters.BUS, "Bus: ")
    reading = block_time(block, bus, "Read block transfer time")
    writing = block_time(block, bus, "Write block transfer time")
    top.add("bus_ms_per_block", *reading)
    if writing[0] != reading[0]:
        changes = (
            f"data to be written take {reading[0]:g} ms for a block on the bus, as read ones do"
        )
        account.ignore(writing[1], f"{writing[0]:g}", changes, writing[2])


def _write_buffer(block: Block, sheet: Sheet, account: Account) -> None:
    """Add the buffer, if there is one."""
    counted, sized, ahead = "Number of buffer segments", "Segment size (in blks)", "Prefetch depth"
    segments = block.integer(counted, at_least=0, at_most=1024)
    blocks = block.integer(sized, at_least=0, at_most=1 << 20)
    depth = block.integer(ahead, at_least=0, at_most=(1 << 32) - 1)
    if segments == 0 or blocks == 0:
        if depth:
            changes = "nothing: there is no buffer to read ahead into"
            account.ignore(ahead, depth, changes, place_of(block, ahead))
        return
    if segments * blocks % 2:
        raise error(
            place_of(block, sized),
            f"'{sized}' is {blocks}: must make {segments} segments come to whole KiB",
        )
    table = sheet.table("[buffer]")
    place = place_of(block, counted)
    table.add("size_kib", segments * blocks // 2, f"{counted}, times {sized}", place)
    table.add("segments", segments, counted, place)
    table.add("read_ahead", depth or "none", f"{ahead} = {depth}", place_of(block, ahead))
