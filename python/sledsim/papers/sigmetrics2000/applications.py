"""Figures 13 and 14: recorded applications, replayed on the three devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import applications
from sledsim.papers.sigmetrics2000.devices import DEVICES, device

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.applications import Outcome
    from sledsim.papers import Setup, Simulated


def outcomes(name: str, setup: Setup) -> dict[str, Outcome]:
    """Replay the recording of an application; return outcomes by the names of the paper."""
    devices = [device(setup, own) for own in DEVICES.values()]
    ran = applications.replay(f"sample:{name}", devices)
    return dict(zip(DEVICES, ran, strict=True))


def series(found: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return the bars of the figure, for the document."""
    return {name: outcome.to_dict() for name, outcome in found.items()}


def compared(found: Mapping[str, Outcome]) -> dict[str, Simulated]:
    """Return the values that the text states of both applications."""
    mems, atlas = found["MEMS"], found["Atlas 10K"]
    return {
        "times_faster": atlas.run_s / mems.run_s,
        "times_faster_than_superdisk": found["Superdisk"].run_s / mems.run_s,
        "order_s": {name: outcome.run_s for name, outcome in found.items()},
        "stall_saved": 1 - mems.stall_s / atlas.stall_s,
    }
