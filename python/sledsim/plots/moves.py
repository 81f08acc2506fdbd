"""Where arms and sleds went, and why they took so long: what rows say, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sledsim._core import SledsimError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from sledsim.simulation import Run

Axis: TypeAlias = "Literal['cylinder', 'row']"
"""X and Y of a sled; a disk has cylinders alone."""

_IN_ORDER = ("other", "overhead", "seek", "head_switch", "rotation", "retry", "transfer")
"""Causes in the order in which a mechanism meets them; the bus is none of its own."""


class Leg(NamedTuple):
    """A piece of a way: from one place to another, or a stay, for one cause."""

    cause: str
    start_ms: float
    end_ms: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Service:
    """A request, and the way of the arm or the sled for it."""

    row: Mapping[str, Any]
    """Its row."""
    row_ns: float
    """How long a sled takes over a row."""

    @property
    def arrival_ms(self) -> float:
        """When it arrived."""
        return float(self.row["arrival_ns"] / 1e6)

    @property
    def response_ms(self) -> float:
        """Its response time."""
        return float((self.row["completion_ns"] - self.row["arrival_ns"]) / 1e6)

    @property
    def start_ms(self) -> float:
        """When the mechanism took it up."""
        return float(self.row["start_ns"] / 1e6)

    @property
    def end_ms(self) -> float:
        """When the mechanism was done with it; the bus may still be busy."""
        return float((self.row["completion_ns"] - self.row["bus_ns"]) / 1e6)

    @property
    def moved(self) -> bool:
        """Whether it has a way of its own."""
        return self.row["from_cylinder"] is not None

    @property
    def is_sled(self) -> bool:
        """Whether a sled served it, which moves in Y, too."""
        return self.row["from_row"] is not None

    def legs(self, axis: Axis) -> list[Leg]:
        """Return the way along an axis, from :attr:`start_ms` to :attr:`end_ms`.

        A row has the ends of the way only: it is straight here, and as long as the causes say.
        """
        row = self.row
        start, end = float(row[f"from_{axis}"]), float(row[f"to_{axis}"])
        took = {cause: row[f"{cause}_ns"] for cause in _IN_ORDER}
        of_others = sum(took.values()) - took["overhead"]
        took["overhead"] = row["completion_ns"] - row["bus_ns"] - row["start_ns"] - of_others
        travel, over_media = took["seek"], 0.0
        if self.is_sled:  # X and Y of a sled move at the same time
            x, y = row["x_seek_ns"] - row["settle_ns"], row["y_seek_ns"]
            travel = min(travel, x if axis == "cylinder" else y)
            if axis == "row":  # it passes over the rows while it transfers
                rows = max(1, round(took["transfer"] / max(1, row["passes"]) / self.row_ns))
                over_media = row["to_direction"] * float(rows)
        moves = next((cause for cause in ("seek", "head_switch") if took[cause]), "transfer")
        there, place, now, legs = max(end - over_media, 0.0), start, row["start_ns"], []
        for cause, length in took.items():
            if length <= 0:
                continue
            lengths = [(travel, there), (length - travel, there)] if cause == "seek" else []
            if cause == "transfer":
                lengths = [(length, end)]
            for part, to in lengths or [(length, there if cause == moves else place)]:
                if part > 0 or to != place:
                    legs.append(Leg(cause, now / 1e6, (now + part) / 1e6, place, to))
                now, place = now + part, to
        return legs


class Stamp(NamedTuple):
    """When a request came and was done, and the number of its row."""

    arrival_ns: int
    completion_ns: int
    number: int


def stamps_of(run: Run) -> dict[str, list[Stamp]]:
    """Return which rows each device of a run has, in the order of arrivals.

    Parameters
    ----------
    run
        A run with rows.

    Returns
    -------
    dict of lists
        By the names of those devices that have an arm or a sled.

    Raises
    ------
    SledsimError
        If the rows were not kept in memory, or no row says where something moved.
    """
    try:
        rows = run.rows
    except RuntimeError as error:
        raise SledsimError(str(error)) from None
    devices = rows["device"]
    moving = {
        device
        for device, cylinder in zip(devices, rows["from_cylinder"], strict=True)
        if cylinder is not None
    }
    if not moving:
        raise SledsimError(
            f"no row of {run.to_dict()['device']} says where an arm or a sled went: rows of sleds "
            "and disks do, and simulate(..., parts=True) keeps those of the parts of a device"
        )
    found: dict[str, list[Stamp]] = {}
    stamps = zip(rows["arrival_ns"], rows["completion_ns"], range(len(rows)), strict=True)
    for device, stamp in sorted(zip(devices, map(Stamp._make, stamps), strict=True)):
        if device in moving:
            found.setdefault(device, []).append(stamp)
    return found


def services_of(run: Run, stamps: Sequence[Stamp]) -> list[Service]:
    """Return what the rows of so many stamps say, in their order."""
    rows = [run.rows[stamp.number] for stamp in stamps]
    # The shortest pass is one over a row: few loads have none such.
    passes = [row["transfer_ns"] / row["passes"] for row in rows if row["passes"]]
    row_ns = min((length for length in passes if length), default=1.0)
    return [Service(row, row_ns) for row in rows]
