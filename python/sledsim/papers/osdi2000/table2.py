"""Table 2: reading, modifying and writing the same sectors."""

from sledsim.hardware import Disk, Sled
from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import parts

SECTORS = (8, 334)


def row_lbns(device: Sled, sectors: int) -> list[int]:
    """Return the first blocks of neighbouring rows that hold so many sectors.

    They are on a track that is read upwards, as near to the centre as can be.
    """
    shape = device.spec["derived"]
    rows, cells = shape["rows_per_track"], shape["blocks_per_row"]
    need = -(-sectors // cells)
    first = (rows - need) // 2
    return [device.lbn(shape["cylinders"] // 2, 0, row, 0) for row in range(first, first + need)]


def sled_ms(device: Sled, sectors: int, *, in_order: bool) -> dict[str, float]:
    """Read rows upwards, then write them: the last first, or in their order."""
    shape = device.spec["derived"]
    lbns, cells = row_lbns(device, sectors), shape["blocks_per_row"]
    blocks = len(lbns) * cells if sectors > cells else sectors
    place = device.locate(lbns[0])
    read = device.access(lbns[0], blocks, start=(place.x_m, place.y_m, "up"))
    if in_order:
        steps = device.access(lbns[0], blocks, "write", start=read.end).steps
    else:
        steps, end = (), read.end
        for lbn in reversed(lbns):
            access = device.access(lbn, min(blocks, cells), "write", start=end)
            steps, end = (*steps, *access.steps), access.end
    times = {
        "read": read.total_s,
        "reposition": sum(step.seek_s for step in steps),
        "write": sum(step.transfer_s for step in steps),
    }
    return {key: 1e3 * value for key, value in times.items()}


def disk_ms(disk: Disk, sectors: int) -> dict[str, float]:
    """Read the first blocks of the first track, then write them: the media alone, as they turn."""
    revolution_ms = disk.spec["derived"]["revolution_ms"]
    per_track = disk.zones()[0].blocks_per_track
    transfer = sectors / per_track * revolution_ms
    first, last = disk.locate(0), disk.locate(sectors - 1)
    after = last.angle + 1 / per_track
    # Rounding must not turn no wait into a whole revolution.
    wait = revolution_ms * (round(first.angle - after, 9) % 1)
    return {"read": transfer, "reposition": wait, "write": transfer}


def simulate(*, quick: bool, setup: Setup) -> Found:  # nothing is run
    """Compute the table."""
    sled, disk, one_request = parts.sled(setup), parts.disk(setup), setup["one_request"]
    found: dict[str, float] = {}
    for sectors in SECTORS:
        devices = {
            "mems": sled_ms(sled, sectors, in_order=one_request),
            "atlas": disk_ms(disk, sectors),
        }
        for device, times in devices.items():
            for key, value in (times | {"total": sum(times.values())}).items():
                found[f"{device}_{sectors}_{key}_ms"] = value
    return Found(found)
