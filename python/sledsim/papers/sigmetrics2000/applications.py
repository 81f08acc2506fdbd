"""Figures 13 and 14: applications on the three devices, run or replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import applications
from sledsim._core import SledsimError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.applications import Outcome

DEVICES = {"MEMS": "sigmetrics2000", "Superdisk": "superdisk", "Atlas 10K": "atlas10k"}


def outcomes(
    name: str, keys: Mapping[str, float], *, quick: bool
) -> tuple[dict[str, Outcome], str]:
    """Run an application, if the machine lets us and it need not be quick; else replay it.

    Returns
    -------
    dict, str
        Outcomes by the names of the paper, and the method.
    """
    why = "quick"
    if not quick:
        try:
            applications.check(name, keys)
        except SledsimError as error:
            why = str(error)
        else:
            ran = applications.bench(name, list(DEVICES.values()), keys=keys)
            return dict(zip(DEVICES, ran, strict=True)), _agreement(ran)
    ran = applications.replay(f"sample:{name}", list(DEVICES.values()))
    note = f"The recording sample:{name}, replayed closed on all three ({why})."
    return dict(zip(DEVICES, ran, strict=True)), note


def _agreement(ran: list[Outcome]) -> str:
    errors = [each.prediction_error or 0.0 for each in ran]
    told = ", ".join(f"{name} {error:+.1%}" for name, error in zip(DEVICES, errors, strict=True))
    return f"Emulated in real time. Closed replays of another device's recording: {told}."


def series(found: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return the bars of the figure, for the document."""
    return {name: outcome.to_dict() for name, outcome in found.items()}


def times_faster(found: Mapping[str, Outcome], than: str) -> float:
    """Return how many times faster the application runs on the MEMS device."""
    return found[than].run_s / found["MEMS"].run_s


def stall_saved(found: Mapping[str, Outcome]) -> float:
    """Return the share of the Atlas 10K's I/O stall that the MEMS device saves."""
    return 1 - found["MEMS"].stall_s / found["Atlas 10K"].stall_s
