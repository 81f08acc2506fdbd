"""Figures 13 and 14: applications on the three devices, modelled or replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import programs
from sledsim.loads import workload
from sledsim.papers import summary_of
from sledsim.papers.sigmetrics2000.devices import DEVICES, device
from sledsim.programs import Outcome
from sledsim.programs.benchmarks.io_statistics import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.papers import Setup, Simulated


def outcomes(name: str, setup: Setup) -> dict[str, Outcome]:
    """Replay the recording of an application; return outcomes by the names of the paper."""
    devices = [device(setup, own) for own in DEVICES.values()]
    ran = programs.replay(f"sample:{name}", devices)
    return dict(zip(DEVICES, ran, strict=True))


def postmark(setup: Setup) -> dict[str, Outcome]:
    """Run PostMark on the file system of the set-up; return outcomes by the names of the paper.

    Nothing is computed: a run is its requests, one after the other.
    """
    load = workload("postmark", **setup["postmark"])
    found = {}
    for name, own in DEVICES.items():
        on = device(setup, own)
        summary = summary_of(load, on)
        requests, run_s = summary["requests"], summary["duration_s"]
        mean_ms = summary["response_time_ms"]["mean"]
        facts = Facts(
            requests=requests,
            reads=summary["reads"],
            writes=summary["writes"],
            flushes=0,
            mean_blocks=(summary["blocks_read"] + summary["blocks_written"]) / requests,
            response_ms=mean_ms,
            busy_s=run_s,
            access_ms=mean_ms,
            read_hits=None,
            duration_s=run_s,
        )
        found[name] = Outcome("postmark", on.name, run_s, 0.0, facts, emulated=False)
    return found


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
