"""Failures: tips that wear out, children of arrays, cuts of the power."""

from sledsim.failures.arrays import rebuild_risk
from sledsim.failures.crashes import CrashReport, crash_test
from sledsim.failures.tip_failures import TipFailures, tip_failures

__all__ = ["CrashReport", "TipFailures", "crash_test", "rebuild_risk", "tip_failures"]
