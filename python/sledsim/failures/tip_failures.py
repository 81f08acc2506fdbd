"""Failures of tips, counted without motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import text, whole
from sledsim._progress import told
from sledsim.results.reported import JsonResult

if TYPE_CHECKING:
    from sledsim._progress import ProgressLike

_MOST = 2**32 - 1


@dataclass(frozen=True)
class TipFailures(JsonResult):
    """The losses under failures of tips; made by :func:`tip_failures`.

    The lists are by the number of tips that have failed, from none on.
    """

    keys: dict[str, Any]
    """The arguments of :func:`tip_failures`."""
    squares: int
    """Groups of tips that hold the same blocks, when the device is new."""
    spare_tips: int
    """Spare tips when the device is new, with those too few for another square."""
    data_share: float
    """Share of the tips that hold data, when the device is new."""
    loss_probability: list[float]
    """Share of the devices that have lost any block."""
    lost_share: list[float]
    """Mean share of the blocks that are lost."""
    capacity_share: list[float]
    """Mean share of the blocks that have not been given up."""
    spare_tips_left: list[float]
    """Mean number of spare tips left."""

    @property
    def failed_tips(self) -> range:
        """The numbers of failed tips."""
        return range(len(self.loss_probability))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it: the JSON of ``sledsim faults --json``."""
        facts = {name: value for name, value in vars(self).items() if name != "keys"}
        return {"faults": self.keys, **facts, "failed_tips": list(self.failed_tips)}


def tip_failures(
    tips: int = 6400,
    *,
    data_tips: int = 64,
    ecc_tips: int = 0,
    spare_tips: int = 0,
    failed_tips: int = 200,
    out_of_spares: str = "tolerance",
    trials: int = 1000,
    seed: int = 1,
    progress: ProgressLike = None,
) -> TipFailures:
    """Let tips fail one after the other, in many devices.

    A block lies on ``data_tips`` tips and as many more as ``ecc_tips`` says; any ``data_tips`` of
    them determine it. A failed tip, drawn from all that still work, spare ones included, is
    replaced by a spare tip and rebuilt before the next one fails; data are lost where more tips are
    failed at once than there are ECC tips. See the page on faults.

    Parameters
    ----------
    tips
        Tips of the device, spare ones included.
    data_tips, ecc_tips
        Tips of a block.
    spare_tips
        Tips that hold nothing at first.
    failed_tips
        How many fail.
    out_of_spares
        Sacrifice without a spare tip: ``"tolerance"``, and the square goes on without
        the tip, or ``"capacity"``, and the other tips of its square become spare ones.
    trials
        Devices that are tried. The standard error of a share p is the root of p (1 - p) / trials.
    seed
        Of the random numbers: the same seed gives the same result on every machine.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of devices
        tried, and of all.

    Raises
    ------
    SledsimError
        For numbers that make no device.
    """
    numbers = {
        "tips": tips,
        "data_tips": data_tips,
        "ecc_tips": ecc_tips,
        "spare_tips": spare_tips,
        "failed_tips": failed_tips,
        "trials": trials,
    }
    keys = {
        **{name: whole(name, number, 0, _MOST) for name, number in numbers.items()},
        "out_of_spares": text("out_of_spares", out_of_spares),
        "seed": whole("seed", seed, 0, 2**63),
    }
    with told(progress, "devices") as beat:
        return TipFailures(keys, **_core.tip_failures(keys, beat))
