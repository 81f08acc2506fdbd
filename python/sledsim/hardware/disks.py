"""Disks: where blocks are, seek curves, moves, zones."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledsim.hardware.base import Device
from sledsim.hardware.checks import block_number, is_write

if TYPE_CHECKING:
    from sledsim import _core
    from sledsim.hardware.checks import Op


@dataclass(frozen=True, slots=True)
class Sector:
    """The sector of a block of a disk."""

    cylinder: int
    head: int
    sector: int
    """Physical number on the track; sectors 0 of all tracks begin at angle 0."""
    angle: float
    """Where it begins, in revolutions from 0 to 1."""


@dataclass(frozen=True, slots=True)
class DiskSeek:
    """From one block of a disk to another, in seconds.

    Arm and heads move first, the larger counting; then the media turn until the block comes by.
    """

    cylinders: int
    """Cylinders that the arm crosses."""
    seek_s: float
    """The arm's move, settling included."""
    head_switch_s: float
    """Time of a head switch beyond the seek."""
    rotation_s: float
    """The wait after both, less than a revolution."""

    @property
    def total_s(self) -> float:
        """Until the first block begins to pass."""
        return self.seek_s + self.head_switch_s + self.rotation_s


@dataclass(frozen=True, slots=True)
class Zone:
    """Cylinders of a disk with equally many sectors on a track."""

    first_cylinder: int
    last_cylinder: int
    blocks_per_track: int
    """Sectors on a track, spares included."""
    first_lbn: int
    blocks: int
    """Blocks dealt out to it: without spares, slipped and reserved sectors."""
    media_mb_s: float
    """Rate at which sectors pass, in 10^6 bytes per second."""
    track_skew_ms: float
    """How much later the first block of the next track in a cylinder comes by."""
    cylinder_skew_ms: float
    """The same from the last track of a cylinder to the first of the next."""


class Disk(Device):
    """A disk; what :func:`device` makes of a device of kind ``disk``."""

    def __init__(self, core: _core.Device, disk: _core.Disk) -> None:
        super().__init__(core)
        self._disk = disk

    def locate(self, lbn: int) -> Sector:
        """Where block ``lbn`` lies.

        Raises
        ------
        SledsimError
            If there is no such block.
        """
        lbn = block_number("lbn", lbn, 2**64)
        return Sector(**self._disk.locate(lbn))

    def lbn(self, cylinder: int, head: int, sector: int) -> int | None:
        """Return the block in a sector: the inverse of :meth:`locate`.

        ``None`` if it holds none: it is a spare, slipped, reserved, or replaced by another.

        Raises
        ------
        SledsimError
            If no zone has such a sector.
        """
        places = {"cylinder": cylinder, "head": head, "sector": sector}
        return self._disk.lbn(*(block_number(name, at, 2**32) for name, at in places.items()))

    def seek(self, start: int, end: int, op: Op = "read") -> DiskSeek:
        """Return the time from one block to another, by cause.

        Parameters
        ----------
        start
            The block that has just been read: the time begins as it ends.
        end
            The block that is asked for then.
        op
            What is done with it; before a ``"write"`` the heads settle for longer.

        Raises
        ------
        SledsimError
            If there is no such block.
        """
        start, end = block_number("start", start, 2**64), block_number("end", end, 2**64)
        return DiskSeek(**self._disk.seek(start, end, is_write(op)))

    def seek_ms(self, cylinders: int, op: Op = "read") -> float:
        """Time in ms to move the arm over so many cylinders, settling for ``op`` included.

        For 0 cylinders it is the fixed part of an access, which every seek holds.

        Raises
        ------
        SledsimError
            If the disk does not have as many.
        """
        cylinders = block_number("cylinders", cylinders, 2**32)
        return self._disk.seek_ms(cylinders, is_write(op))

    def seek_curve_ms(self, op: Op = "read") -> array[float]:
        """Return :meth:`seek_ms` for 0, 1, 2 ... cylinders as an array.

        numpy, matplotlib and others take it as it is: ``numpy.asarray(disk.seek_curve_ms())``.
        """
        return array("d", self._disk.seek_curve_ms(is_write(op)))

    def zones(self) -> list[Zone]:
        """Return the zones, from the outer edge inwards."""
        return [Zone(**zone) for zone in self._disk.zones()]
