"""Failures of power under real programs: run once, cut at many instants, recover, check."""

from sledsim.crash_app.experiment import experiment, replay
from sledsim.crash_app.outcomes import GOOD, OUTCOMES, Verdict
from sledsim.crash_app.result import CutResult, Result
from sledsim.crash_app.setup import PROGRAMS, Setup, kind

__all__ = [
    "GOOD",
    "OUTCOMES",
    "PROGRAMS",
    "CutResult",
    "Result",
    "Setup",
    "Verdict",
    "experiment",
    "kind",
    "replay",
]
