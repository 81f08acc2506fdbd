"""Sleds: geometry, moves, accesses, parallelism."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sledsim._arguments import as_list, real, refuse
from sledsim._core import SpecError
from sledsim.hardware.accesses import Access, Batch, Instant, Pass, Seek, Step
from sledsim.hardware.base import Device
from sledsim.hardware.checks import block_number, is_write, point_of, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledsim import _core
    from sledsim.hardware.checks import Op, Point


@dataclass(frozen=True, slots=True)
class Location:
    """Where a block lies."""

    cylinder: int
    track: int
    row: int
    """Physical row of tip sectors, 0 at the lowest Y."""
    cell: int
    """Place among the blocks of the row."""
    tips: range
    """The tips it is striped over, numbered through all tracks."""
    x_m: float
    """X of its cylinder, in metres from the centre."""
    y_m: float
    """Y at which a pass upwards over its row starts, in metres from the centre."""


@dataclass(frozen=True, slots=True)
class Parallelism:
    """What a sled can access at once, by the names of CMU-CS-03-125, Tables 2 and 3.

    A square is what the tips over which a block is striped see of the media. As an integer it is
    ``p``.
    """

    p: int
    """Blocks that can be accessed at once."""
    N: int
    """Squares."""
    S_x: int
    """Blocks of a square in X: cylinders."""
    S_y: int
    """Blocks of a square in Y: rows."""
    M: int
    """By how many cylinders in either direction a tip can be micropositioned, at the start."""
    N_x: int
    """Squares under the blocks of one row: ``p``."""
    N_y: int
    """Sets of tips, each with its tracks: ``N / p``."""
    S_T: int
    """Blocks of a track."""
    S_C: int
    """Blocks of a cylinder."""

    def __index__(self) -> int:
        return self.p

    __int__ = __index__


class Sled(Device):
    """A sled; what :func:`device` makes of a device of kind ``mems``."""

    def __init__(self, core: _core.Device, sled: _core.Sled) -> None:
        super().__init__(core)
        self._sled = sled

    def seek(self, start: Point, end: Point) -> Seek:
        """Return the seek times between two points, by cause.

        Parameters
        ----------
        start, end
            X and Y in metres from the centre and the direction of Y motion (+1 or ``"up"``, -1 or
            ``"down"``). The sled is at rest in X and at access velocity in Y at both.

        Raises
        ------
        SledsimError
            For a point outside the travel of the sled.
        """
        return Seek(**self._sled.seek(point_of(start), point_of(end)))

    def trajectory(self, axis: Literal["x", "y"], start_m: float, end_m: float) -> list[Instant]:
        """Return position, velocity and acceleration of the sled during a move.

        The sled begins and ends at rest in X and at access velocity in Y. Settling and turnarounds
        are not part of the move. With ``kinematics="piecewise"`` the instants are the ends of the
        chunks of constant acceleration (SIGMETRICS 2000, Figure 6); with ``"analytic"`` they are
        201 of the exact move.

        Parameters
        ----------
        axis
            ``"x"`` or ``"y"``.
        start_m, end_m
            Places in metres from the centre.

        Raises
        ------
        SledsimError
            For a place outside the travel of the sled, or kinematics without trajectories
            (``"disksim"``).
        """
        if axis not in ("x", "y"):
            refuse("axis", axis, "'x' or 'y'")
        start_m, end_m = real("start_m", start_m), real("end_m", end_m)
        instants = self._sled.trajectory(axis == "x", start_m, end_m)
        return [Instant(**instant) for instant in instants]

    def access(
        self,
        lbn: int,
        blocks: int,
        op: Op = "read",
        start: Point | None = None,
    ) -> Access:
        """Return the time to read or write blocks, pass by pass.

        Parameters
        ----------
        lbn, blocks
            First block and number of blocks.
        op
            ``"read"`` or ``"write"``; the sled takes the same time for either.
        start
            Where the sled is, as for :meth:`seek`; by default where it parks.

        Raises
        ------
        SledsimError
            For blocks outside the device or a point outside the travel of the sled.
        """
        is_write(op)
        lbn = block_number("lbn", lbn, 2**64)
        blocks = block_number("blocks", blocks, 2**32)
        steps, end = self._sled.access(lbn, blocks, None if start is None else point_of(start))
        return Access(tuple(Step(**step) for step in steps), end)

    def batch(
        self,
        commands: Iterable[tuple[Op, int, int]],
        start: Point | None = None,
        at_s: float = 0.0,
    ) -> Batch:
        """Return the time to serve several commands as one batch.

        Their blocks are taken in as few passes as there can be: each takes blocks of one row that
        the tips reach with the sled at one cylinder, at most ``parallelism.p``, one per square,
        and of the squares that share a resource no more than it bears (CMU-CS-03-125, sections
        2.2 and 3.4).

        Parameters
        ----------
        commands
            ``(op, lbn, blocks)`` each, ``op`` being ``"read"`` or ``"write"``; both may be in one
            batch. No block may be in two of them.
        start
            Where the sled is, as for :meth:`seek`; by default where it parks.
        at_s
            When, in simulated seconds: micropositioning may change (``micropositioning_later``).

        Raises
        ------
        SledsimError
            For no commands, blocks outside the device or in two commands, or a point outside the
            travel of the sled.
        """
        extents = []
        for command in as_list("commands", commands):
            if not isinstance(command, tuple | list) or len(command) != 3:
                refuse("commands", command, "of the form (op, lbn, blocks)")
            is_write(command[0])
            lbn = block_number("lbn", command[1], 2**64)
            blocks = block_number("blocks", command[2], 2**32)
            extents.append((lbn, blocks))
        point = None if start is None else point_of(start)
        passes, end = self._sled.batch(extents, seconds(at_s), point)
        return Batch(tuple(_pass(**each) for each in passes), end)

    def locate(self, lbn: int) -> Location:
        """Where block ``lbn`` lies.

        Raises
        ------
        SledsimError
            If there is no such block.
        """
        lbn = block_number("lbn", lbn, 2**64)
        return Location(**self._sled.locate(lbn))

    def lbn(self, cylinder: int, track: int, row: int, cell: int) -> int:
        """Return the block at a place: the inverse of :meth:`locate`.

        Raises
        ------
        SledsimError
            If a coordinate is outside the device.
        """
        places = {"cylinder": cylinder, "track": track, "row": row, "cell": cell}
        return self._sled.lbn(*(block_number(name, at, 2**32) for name, at in places.items()))

    @property
    def parallelism(self) -> Parallelism:
        """The parallelism of the sled."""
        return Parallelism(**json.loads(self._sled.parallelism()))

    def equivalent(self, lbn: int, at_s: float = 0.0) -> list[int]:
        """Return the equivalence class of a block, in the order of LBNs.

        These are the blocks that can come under the tips while the sled is where it must be for
        ``lbn``, itself among them; at most ``parallelism.p`` of them can be accessed at once
        (CMU-CS-03-125, section 3.2).

        Parameters
        ----------
        lbn
            The block.
        at_s
            When, in simulated seconds: micropositioning may change (``micropositioning_later``).

        Raises
        ------
        SledsimError
            If there is no such block.
        """
        lbn = block_number("lbn", lbn, 2**64)
        return self._sled.equivalent(lbn, seconds(at_s))

    def conflicting(self, a: int, b: int, at_s: float = 0.0) -> bool:
        """Whether two blocks cannot be accessed together, wherever the sled is.

        They lie in different rows, farther apart than tips reach, under the same tips, or under
        tips that share a resource which bears only one of them (CMU-CS-03-125, section 2.2).

        Parameters
        ----------
        a, b
            The blocks. A block does not conflict with itself.
        at_s
            When, in simulated seconds.

        Raises
        ------
        SledsimError
            If there is no such block.
        """
        a, b = block_number("a", a, 2**64), block_number("b", b, 2**64)
        return self._sled.conflicting(a, b, seconds(at_s))

    def boundaries(self, lbn: int) -> tuple[int, int]:
        """Return first and last block of the track that holds ``lbn``.

        That is the request which the device serves most efficiently (CMU-CS-03-125, section 3.4).

        Raises
        ------
        SledsimError
            If there is no such block.
        """
        lbn = block_number("lbn", lbn, 2**64)
        return self._sled.boundaries(lbn)


def sled_of(device: Device) -> Sled:
    """Return a device that must be a sled."""
    if isinstance(device, Sled):
        return device
    raise SpecError(f"device '{device.name}' has no sled of its own: must be of kind \"mems\"")


def _pass(step: dict[str, Any], lbns: list[int], **place: int) -> Pass:
    return Pass(step=Step(**step), lbns=tuple(lbns), **place)
