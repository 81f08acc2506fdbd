"""Devices: presets, geometry, and what a seek or an access would take."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sledsim import _core
from sledsim.arguments import path_text, real, refuse, several, whole
from sledsim.identity import of_device

if TYPE_CHECKING:
    from os import PathLike

Point: TypeAlias = tuple[float, float, int | str]
"""X and Y in metres from the centre, and the direction of Y motion: +1 or ``"up"``, -1 or
``"down"``."""

Op: TypeAlias = Literal["read", "write"]

_DIRECTIONS = {"up": 1, "down": -1}


@dataclass(frozen=True, slots=True)
class Seek:
    """A seek of the sled, in seconds (SIGMETRICS 2000, section 3.1).

    X and Y move in parallel: ``seek_s`` is the larger of ``x_seek_s`` (with settle) and
    ``y_seek_s`` (with turnarounds).
    """

    seek_s: float
    x_seek_s: float
    y_seek_s: float
    settle_s: float
    turnaround_s: float
    turns: int


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant of a move of the sled along one axis."""

    time_s: float
    """Since the start of the move."""
    place_m: float
    """From the centre."""
    velocity_m_s: float
    """Towards greater places."""
    acceleration_m_s2: float
    """Actuators and springs, from here to the next instant; at the last one, up to here."""


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of an access: a seek, then an uninterrupted transfer, in seconds."""

    seek_s: float
    x_seek_s: float
    y_seek_s: float
    settle_s: float
    turnaround_s: float
    transfer_s: float
    turns: int
    direction: int
    """+1 up, -1 down."""
    lbn: int
    """First block of the pass."""
    blocks: int

    @property
    def total_s(self) -> float:
        """Seek and transfer."""
        return self.seek_s + self.transfer_s


@dataclass(frozen=True, slots=True)
class Access:
    """An access from the start of motion to the last bit off the media, in seconds.

    No command overhead, startup or bus is in it. Times are the sums over ``steps``.
    """

    steps: tuple[Step, ...]
    end: tuple[float, float, int]
    """Where the sled ends up: X and Y in metres from the centre, direction."""

    @property
    def seek_s(self) -> float:
        """Time seeking."""
        return sum(step.seek_s for step in self.steps)

    @property
    def x_seek_s(self) -> float:
        """X moves with settle."""
        return sum(step.x_seek_s for step in self.steps)

    @property
    def y_seek_s(self) -> float:
        """Y moves with turnarounds."""
        return sum(step.y_seek_s for step in self.steps)

    @property
    def settle_s(self) -> float:
        """Settling after X moves."""
        return sum(step.settle_s for step in self.steps)

    @property
    def turnaround_s(self) -> float:
        """Reversals of the Y velocity."""
        return sum(step.turnaround_s for step in self.steps)

    @property
    def transfer_s(self) -> float:
        """Media transfer."""
        return sum(step.transfer_s for step in self.steps)

    @property
    def total_s(self) -> float:
        """Seeks and transfers."""
        return sum(step.total_s for step in self.steps)

    @property
    def passes(self) -> int:
        """How many uninterrupted passes."""
        return len(self.steps)

    @property
    def turns(self) -> int:
        """How many reversals of the Y velocity."""
        return sum(step.turns for step in self.steps)


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of a batch: blocks of one row, taken at once."""

    cylinder: int
    """Where the sled is; the blocks are there or as near as tips reach."""
    row: int
    """Physical row."""
    lbns: tuple[int, ...]
    """Its blocks, in order."""
    step: Step
    """What it takes."""

    @property
    def direction(self) -> int:
        """+1 up, -1 down."""
        return self.step.direction

    @property
    def seek_s(self) -> float:
        """The seek before it."""
        return self.step.seek_s

    @property
    def transfer_s(self) -> float:
        """Media transfer."""
        return self.step.transfer_s


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch from the start of motion to the last bit off the media.

    No command overhead, startup or bus is in it. Times are the sums over ``passes``.
    """

    passes: tuple[Pass, ...]
    end: tuple[float, float, int]
    """Where the sled ends up: X and Y in metres from the centre, direction."""

    @property
    def blocks(self) -> int:
        """Blocks in all passes."""
        return sum(len(one.lbns) for one in self.passes)

    @property
    def seek_s(self) -> float:
        """Time seeking."""
        return sum(one.seek_s for one in self.passes)

    @property
    def transfer_s(self) -> float:
        """Media transfer."""
        return sum(one.transfer_s for one in self.passes)

    @property
    def total_s(self) -> float:
        """Seeks and transfers."""
        return sum(one.step.total_s for one in self.passes)


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


@dataclass(frozen=True, slots=True)
class Sector:
    """Where a block of a disk lies."""

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
    """How many the arm moves over."""
    seek_s: float
    """The arm's move, settling included."""
    head_switch_s: float
    """What changing the head takes beyond it."""
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


class Device:
    """A resolved device; made by :func:`device`."""

    def __init__(self, core: _core.Device) -> None:
        self._core = core
        self._made_from: str | None = None

    def __repr__(self) -> str:
        return f"<sledsim device {self.name}: {self.blocks} blocks>"

    @property
    def name(self) -> str:
        """Name of the preset, or of the file without its ending."""
        return self._core.name

    @property
    def blocks(self) -> int:
        """How many blocks of 512 bytes it offers: LBNs ``0`` to ``blocks - 1``."""
        return self._core.blocks

    @property
    def spec(self) -> dict[str, Any]:
        """The resolved spec: ``name``, ``about``, ``parameters`` and ``derived``.

        Every parameter has its ``value``, its ``source`` and the ``origin`` it was read from.
        """
        spec: dict[str, Any] = json.loads(self._core.show())
        return spec

    @property
    def parameters(self) -> dict[str, Any]:
        """The plain value of every key of the spec."""
        return {key: entry["value"] for key, entry in self.spec["parameters"].items()}

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
            For a point outside the travel of the sled, or a device without a sled of its own.
        """
        return Seek(*self._core.seek(_point(start), _point(end)))

    def trajectory(self, axis: Literal["x", "y"], start_m: float, end_m: float) -> list[Instant]:
        """Return where the sled is during a move, how fast, and what accelerates it.

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
            For a place outside the travel of the sled, kinematics without trajectories
            (``"disksim"``), or a device without a sled of its own.
        """
        if axis not in ("x", "y"):
            refuse("axis", axis, "'x' or 'y'")
        start_m, end_m = real("start_m", start_m), real("end_m", end_m)
        instants = self._core.trajectory(axis == "x", start_m, end_m)
        return [Instant(*instant) for instant in instants]

    def access(
        self,
        lbn: int,
        blocks: int,
        op: Op = "read",
        start: Point | None = None,
    ) -> Access:
        """Return what it takes to read or write blocks, pass by pass.

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
        _is_write(op)
        lbn = _block_number("lbn", lbn, 2**64)
        blocks = _block_number("blocks", blocks, 2**32)
        steps, end = self._core.access(lbn, blocks, None if start is None else _point(start))
        return Access(tuple(Step(*step) for step in steps), end)

    def batch(
        self,
        commands: Iterable[tuple[Op, int, int]],
        start: Point | None = None,
        at_s: float = 0.0,
    ) -> Batch:
        """Return what it takes to serve several commands as one batch.

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
            For no commands, blocks outside the device or in two commands, a point outside the
            travel of the sled, or a device without a sled of its own.
        """
        extents = []
        for command in several("commands", commands):
            if not isinstance(command, tuple | list) or len(command) != 3:
                refuse("commands", command, "of the form (op, lbn, blocks)")
            _is_write(command[0])
            lbn = _block_number("lbn", command[1], 2**64)
            blocks = _block_number("blocks", command[2], 2**32)
            extents.append((lbn, blocks))
        point = None if start is None else _point(start)
        passes, end = self._core.batch(extents, _seconds(at_s), point)
        return Batch(
            tuple(
                Pass(cylinder, row, tuple(lbns), Step(*step))
                for cylinder, row, lbns, step in passes
            ),
            end,
        )

    def locate(self, lbn: int) -> Location:
        """Where block ``lbn`` lies.

        Raises
        ------
        SledsimError
            If there is no such block.
        """
        lbn = _block_number("lbn", lbn, 2**64)
        cylinder, track, row, cell, tip, tips, x_m, y_m = self._core.locate(lbn)
        return Location(cylinder, track, row, cell, range(tip, tip + tips), x_m, y_m)

    def lbn(self, cylinder: int, track: int, row: int, cell: int) -> int:
        """Return the block at a place: the inverse of :meth:`locate`.

        Raises
        ------
        SledsimError
            If a coordinate is outside the device.
        """
        places = {"cylinder": cylinder, "track": track, "row": row, "cell": cell}
        return self._core.lbn(*(_block_number(name, at, 2**32) for name, at in places.items()))

    @property
    def parallelism(self) -> Parallelism:
        """What the sled can access at once.

        Raises
        ------
        SledsimError
            For a device without a sled of its own; so do the methods below.
        """
        return Parallelism(**json.loads(self._core.parallelism()))

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
        lbn = _block_number("lbn", lbn, 2**64)
        return self._core.equivalent(lbn, _seconds(at_s))

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
        a, b = _block_number("a", a, 2**64), _block_number("b", b, 2**64)
        return self._core.conflicting(a, b, _seconds(at_s))

    def boundaries(self, lbn: int) -> tuple[int, int]:
        """Return first and last block of the track that holds ``lbn``.

        That is the request which the device serves most efficiently (CMU-CS-03-125, section 3.4).

        Raises
        ------
        SledsimError
            If there is no such block.
        """
        lbn = _block_number("lbn", lbn, 2**64)
        return self._core.boundaries(lbn)


class Disk(Device):
    """A disk; what :func:`device` makes of one.

    Its places and seeks are not those of a sled: ``isinstance(device, Disk)`` tells them apart.
    """

    def __init__(self, core: _core.Device, disk: _core.Disk) -> None:
        super().__init__(core)
        self._disk = disk

    def locate(self, lbn: int) -> Sector:  # type: ignore[override]  # (a disk has other places)
        """Where block ``lbn`` lies.

        Raises
        ------
        SledsimError
            If there is no such block.
        """
        lbn = _block_number("lbn", lbn, 2**64)
        return Sector(*self._disk.locate(lbn))

    def lbn(  # type: ignore[override]  # (a disk has other places)
        self, cylinder: int, head: int, sector: int
    ) -> int | None:
        """Return the block in a sector: the inverse of :meth:`locate`.

        ``None`` if it holds none: it is a spare, slipped, reserved, or replaced by another.

        Raises
        ------
        SledsimError
            If no zone has such a sector.
        """
        places = {"cylinder": cylinder, "head": head, "sector": sector}
        return self._disk.lbn(*(_block_number(name, at, 2**32) for name, at in places.items()))

    def seek(  # type: ignore[override]  # (a disk has other places)
        self, start: int, end: int, op: Op = "read"
    ) -> DiskSeek:
        """Return what it takes from one block to another, by cause.

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
        start, end = _block_number("start", start, 2**64), _block_number("end", end, 2**64)
        return DiskSeek(*self._disk.seek(start, end, _is_write(op)))

    def seek_ms(self, cylinders: int, op: Op = "read") -> float:
        """Time in ms to move the arm over so many cylinders, settling for ``op`` included.

        For 0 cylinders it is the fixed part of an access, which every seek holds.

        Raises
        ------
        SledsimError
            If the disk does not have as many.
        """
        cylinders = _block_number("cylinders", cylinders, 2**32)
        return self._disk.seek_ms(cylinders, _is_write(op))

    def seek_curve_ms(self, op: Op = "read") -> array[float]:
        """Return :meth:`seek_ms` for 0, 1, 2 ... cylinders as an array.

        numpy, matplotlib and others take it as it is: ``numpy.asarray(disk.seek_curve_ms())``.
        """
        return array("d", self._disk.seek_curve_ms(_is_write(op)))

    def zones(self) -> list[Zone]:
        """Return the zones, from the outer edge inwards."""
        return [Zone(*zone) for zone in self._disk.zones()]


def device(name: str | PathLike[str], **overrides: object) -> Device:
    """Resolve a device: a preset or a TOML file, with overrides of its keys.

    A disk is a :class:`Disk`.

    Parameters
    ----------
    name
        One of :func:`presets`, or the path of a ``.toml`` file.
    **overrides
        Keys of the spec: ``device("g2", spring_factor=0.0, kinematics="disksim")``; a mapping for
        a table: ``device("g2", buffer={"size_kib": 1024, "segments": 8})``.

    Raises
    ------
    SledsimError
        For an unknown name (nearest presets offered), an unknown key, or a value out of range.
    """
    name, keys = path_text("device", name), list(flat(overrides))
    core, made_from = of_device(name, keys, lambda: _core.Device(name, keys))
    made = of_core(core)
    made._made_from = made_from  # noqa: SLF001 (of this module)
    return made


def device_of(given: object, name: str = "device") -> Device:
    """Return a device as it is, or make the one of a preset's name or a TOML file's path.

    Raises
    ------
    SledsimError
        For an unknown name, a file that is wrong, or anything else.
    """
    if isinstance(given, Device):
        return given
    if not isinstance(given, str | os.PathLike):
        refuse(name, given, "a device, the name of a preset or the path of a TOML file")
    return device(path_text(name, given))


def of_core(core: _core.Device) -> Device:
    """Wrap a device of the core."""
    disk = core.disk()
    return Device(core) if disk is None else Disk(core, disk)


def flat(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the keys of a table and, dotted, of the tables inside it."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", item) for inner, item in flat(value))
        else:
            yield key, value


def presets() -> list[str]:
    """Names of the devices that come with sledsim."""
    return _core.presets()


def _block_number(name: str, number: int, end: int) -> int:
    return whole(name, number, 0, end - 1)


def _seconds(at_s: float) -> float:
    return real("at_s", at_s, 0, 1e9)


def _is_write(op: Op) -> bool:
    if op not in ("read", "write"):
        refuse("op", op, "'read' or 'write'")
    return op == "write"


def _point(point: Point) -> tuple[float, float, int]:
    try:
        x_m, y_m, direction = point
    except (TypeError, ValueError):
        refuse("point", point, "(x_m, y_m, direction), X and Y in m and direction 'up' or 'down'")
    sign = _DIRECTIONS.get(direction, 0) if isinstance(direction, str) else direction
    if sign not in (1, -1):
        refuse("direction", direction, "+1 or 'up', -1 or 'down'")
    return real("x", x_m), real("y", y_m), int(sign)
