"""The bus of a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.disksim.parameter_coverage import place_of

if TYPE_CHECKING:
    from sledsim.disksim.tree import Block, Place


def block_time(device: Block, bus: Block | None, name: str) -> tuple[float, str, Place]:
    """Return the time of a block in ms between device and host, its source and its place.

    The slower of device and bus counts, as a block is on both at once.

    Parameters
    ----------
    device, bus
        The device, and its bus if it has one.
    name
        The parameter of the bus for one direction.
    """
    own = "Bulk sector transfer time"
    time = device.number(own, at_least=0)
    if bus is None:
        return time, own, place_of(device, own)
    shared = bus.number(name, at_least=0)
    if shared > time:
        return shared, f"{name} of the bus", place_of(bus, name)
    return time, own, place_of(device, own)
