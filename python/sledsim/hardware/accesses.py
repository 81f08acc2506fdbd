"""Times of seeks, accesses and batches of a sled."""

from __future__ import annotations

from dataclasses import dataclass


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
    """State of motion of the sled along one axis at an instant."""

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
        return sum(step.seek_s + step.transfer_s for step in self.steps)

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
    """Its times."""

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
