"""Failures of power under real programs: run once, cut at many instants, recover, check."""

from sledsim.programs.crashes.experiment import experiment, replay
from sledsim.programs.crashes.outcomes import GOOD, OUTCOMES, Verdict
from sledsim.programs.crashes.result import CutResult, Result
from sledsim.programs.crashes.setup import Setup
from sledsim.programs.registry import CRASH_PROGRAMS
from sledsim.programs.registry import crash_program as kind

PROGRAMS = CRASH_PROGRAMS
"""The programs by name."""

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
