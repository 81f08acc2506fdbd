"""The storage devices of a parameter file, and the bus of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledsim.disksim.tree import Block, Place, Tree, error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.disksim.tree import Item, Wiring

DEVICES = ("disksim_disk", "disksim_simpledisk", "memsmodel_mems", "ssdmodel_ssd")
_BUS = "disksim_bus"
_PARTS = ("disksim_iodriver", "disksim_ctlr", _BUS, *DEVICES)


@dataclass(frozen=True, slots=True)
class Drive:
    """A storage device."""

    name: str
    """Its name in the topology, or that of its block where the file has none."""
    type: str
    """One of ``DEVICES``."""
    block: Block
    """Its parameters, those of the block it extends included."""
    bus: Block | None
    """Its bus; None in a file without a topology."""
    place: Place
    """Where it was named."""

    @property
    def read_block_ms(self) -> float:
        """Time a block takes over the bus to the host."""
        return self._transfer_ms("Read block transfer time")

    @property
    def write_block_ms(self) -> float:
        """Time a block takes over the bus to the drive."""
        return self._transfer_ms("Write block transfer time")

    def _transfer_ms(self, key: str) -> float:
        return 0.0 if self.bus is None else self.bus.number(key, at_least=0)


def drives(tree: Tree) -> tuple[Drive, ...]:
    """Return the storage devices of a file, in the order of its topology.

    A file without a topology (``.diskspecs``) has one device for each block that describes one,
    without a bus.
    """
    specs = _instantiated(tree)
    if not tree.topologies:
        return described(tree)
    found: dict[str, Drive] = {}
    for wiring in tree.topologies:
        for drive in _below(tree, specs, wiring, None):
            if drive.name in found:
                first = found[drive.name].place
                raise error(drive.place, f"'{drive.name}' is in two places, first at {first}")
            found[drive.name] = drive
    return tuple(found.values())


def described(tree: Tree) -> tuple[Drive, ...]:
    """Return the devices that have a block, whether in the topology or not, without a bus."""
    return tuple(
        Drive(name, base, _extended(tree, block), None, block.place)
        for name, block in tree.blocks.items()
        if (base := base_of(tree, block)) in DEVICES
    )


def _instantiated(tree: Tree) -> dict[str, Block]:
    specs: dict[str, Block] = {}
    for made in tree.instantiations:
        if made.spec not in tree.blocks:
            raise error(made.place, f"no block is named '{made.spec}'")
        for name in made.names:
            if name in specs:
                raise error(made.place, f"'{name}' is instantiated a second time")
            specs[name] = tree.blocks[made.spec]
    return specs


def _below(
    tree: Tree, specs: dict[str, Block], wiring: Wiring, bus: Block | None
) -> Iterator[Drive]:
    if wiring.name not in specs:
        raise error(wiring.place, f"'{wiring.name}' is in the topology, but not instantiated")
    block = specs[wiring.name]
    base = base_of(tree, block)
    if wiring.type != base:
        raise error(wiring.place, f"'{wiring.name}' is a {base}, not a {wiring.type}")
    if base not in _PARTS:
        parts = ", ".join(_PARTS)
        raise error(wiring.place, f"'{wiring.name}' is a {base}: a topology has only {parts}")
    extended = _extended(tree, block)
    if base in DEVICES:
        if wiring.below:
            raise error(wiring.below[0].place, f"nothing can be below the device '{wiring.name}'")
        yield Drive(wiring.name, base, extended, bus, wiring.place)
    for part in wiring.below:
        yield from _below(tree, specs, part, extended if base == _BUS else bus)


def lineage_of(tree: Tree, block: Block) -> list[Block]:
    """Return the block, the one it extends (its type is that one's name), and so on."""
    lineage = [block]
    while (parent := tree.blocks.get(lineage[-1].type)) is not None:
        if parent in lineage:
            raise error(block.place, f"'{block.name}' extends itself")
        lineage.append(parent)
    return lineage


def base_of(tree: Tree, block: Block) -> str:
    """Return the type that a block is of in the end."""
    return lineage_of(tree, block)[-1].type


def _extended(tree: Tree, block: Block) -> Block:
    lineage = lineage_of(tree, block)
    if len(lineage) == 1:
        return block
    values: dict[str, Item] = {}
    keys: dict[str, Place] = {}
    for part in reversed(lineage):
        values |= part.values
        keys |= part.keys
    return Block(lineage[-1].type, block.name, values, block.place, keys)
