"""What becomes of a program's data when the power fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OUTCOMES = {
    "whole": "recovered whole",
    "lost_unacknowledged": "lost unacknowledged only",
    "lost_acknowledged": "lost acknowledged",
    "corrupt_detected": "corrupt, detected",
    "corrupt_silent": "corrupt, silent",
    "not_mounted": "did not mount",
    "check_hung": "check did not end",
    "check_failed": "check failed",
}
"""The outcomes by name, the good ones first."""

GOOD = ("whole", "lost_unacknowledged")
"""Outcomes that keep every promise."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one cut, as the check of a program finds it."""

    outcome: str
    """One of `OUTCOMES`."""
    text: str = ""
    """What was found, in a sentence; empty if all is well."""
    transactions: int | None = None
    """How many transactions the data hold; ``None`` where nothing tells."""

    @property
    def is_good(self) -> bool:
        """Whether every promise was kept."""
        return self.outcome in GOOD


def counted(held: int, acknowledged: int, total: int) -> Verdict:
    """Judge data that are exactly as after some of the transactions.

    Parameters
    ----------
    held
        How many of them they hold.
    acknowledged
        How many were acknowledged when the power failed; one more may have been under way.
    total
        How many the whole load has.
    """
    if held < acknowledged:
        lost = acknowledged - held
        text = f"{lost} of {acknowledged} acknowledged transactions are lost"
        return Verdict("lost_acknowledged", text, held)
    if held > acknowledged + 1:
        text = f"holds {held} transactions where {acknowledged + 1} at most were begun"
        return Verdict("corrupt_silent", text, held)
    if held == acknowledged < total:
        return Verdict("lost_unacknowledged", transactions=held)
    return Verdict("whole", transactions=held)


@dataclass
class Inspection:
    """What the check of a program needs, and what it reports beside its verdict."""

    acknowledged: Path
    """A file of the lines ``token monotonic_ns`` that were written before the power failed."""
    patience_s: float
    """How long the check may take."""
    begins: Callable[[], None] = lambda: None
    """Called when the program's own recovery begins."""
    ends: Callable[[], None] = lambda: None
    """Called when the program is back in service."""
    had_work: bool = False
    """Set by the check: whether the program's recovery had anything to do."""

    def count(self) -> int:
        """Return how many transactions were acknowledged before the power failed."""
        return len(self.acknowledged.read_bytes().splitlines())

    def hung(self) -> Verdict:
        """Return the verdict of a check that took longer than it may."""
        return Verdict("check_hung", f"did not end in {self.patience_s:g} s")
