"""The result of an experiment: its cuts and what they came to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from sledsim._above import Drawn, Paged, Shown
from sledsim.programs.crashes.outcomes import GOOD, OUTCOMES
from sledsim.programs.crashes.strata import STRATA
from sledsim.programs.crashes.trial import PHASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture
    from sledsim.programs.crashes.setup import Setup
    from sledsim.programs.crashes.strata import Instant
    from sledsim.programs.crashes.trial import Trial
    from sledsim.show.pages.parts import Report
    from sledsim.show.sheet import Sheet

LITTLE = 0.3
"""A set-up shows little if a smaller share of its cuts left anything to lose or to recover."""

SHARES = {
    "acknowledged_unflushed": "acknowledged writes not on the media",
    "torn": "torn blocks",
    "recovery_device": "work in the recovery of the device",
    "recovery_file_system": "work in the recovery of the file system",
    "recovery_program": "work in the recovery of the program",
    "any": "any of these",
}
"""What a cut may have left to lose or to recover."""


@dataclass(frozen=True)
class CutResult:
    """One cut and what it came to."""

    number: int
    instant: Instant
    acknowledged: int
    """How many transactions were acknowledged by then."""
    facts: dict[str, Any]
    """What the device knows of it."""
    trial: Trial
    same_as: int | None
    """The cut with an equal image and as many acknowledged transactions, if that was tried."""

    @property
    def marks(self) -> dict[str, bool]:
        """Which of `SHARES` it counts for."""
        work = self.trial.work
        found = {
            "acknowledged_unflushed": self.facts["acknowledged_unflushed"] + self.facts["lost"] > 0,
            "torn": self.facts["torn"] > 0,
            "recovery_device": work["device"],
            "recovery_file_system": work["file_system"],
            "recovery_program": work["program"],
        }
        return found | {"any": any(found.values())}

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        verdict = self.trial.verdict
        return {
            "number": self.number,
            "at_ms": self.instant.at_ns / 1e6,
            "at_ns": self.instant.at_ns,
            "stratum": self.instant.stratum,
            "acknowledged": self.acknowledged,
            "outcome": verdict.outcome,
            "text": verdict.text,
            "transactions": verdict.transactions,
            "file_system_damage": self.trial.damage or None,
            "back_ms": dict(self.trial.times_ms),
            "recovery_had_work": dict(self.trial.work),
            "same_as": self.same_as,
            "device": self.facts,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Result(Drawn, Paged, Shown):
    """What an experiment found."""

    setup: Setup
    facts: dict[str, Any]
    """What is known of the run."""
    cuts: Sequence[CutResult]
    """In order of their numbers."""
    title: str
    """Program, file system and device in a line."""

    def _sheet(self) -> Sheet:
        from sledsim.programs.crashes import shown  # it imports this

        return shown.sheet(self)

    def _page(self) -> Report:
        from sledsim.programs.crashes import shown  # it imports this

        return shown.page(self)

    def _draw(self, **how: Unpack[How]) -> Picture:
        from sledsim.programs.crashes.picture import draw  # matplotlib is an extra

        return draw(self, **how)

    def counts(self, stratum: str | None = None) -> dict[str, int]:
        """Return how many cuts had each outcome, of all or of a stratum."""
        found = Counter(
            cut.trial.verdict.outcome
            for cut in self.cuts
            if stratum is None or cut.instant.stratum == stratum
        )
        return {name: found[name] for name in OUTCOMES}

    @property
    def strata(self) -> list[str]:
        """The strata that had cuts."""
        return [name for name in STRATA if any(cut.instant.stratum == name for cut in self.cuts)]

    @property
    def bad(self) -> list[CutResult]:
        """The cuts after which a promise was broken."""
        return [cut for cut in self.cuts if not cut.trial.verdict.is_good]

    @property
    def damaged(self) -> list[CutResult]:
        """The cuts after which a check of the file system found damage."""
        return [cut for cut in self.cuts if cut.trial.damage]

    def shares(self) -> dict[str, float]:
        """Return the share of cuts for each of `SHARES`."""
        marks = [cut.marks for cut in self.cuts]
        return {name: fmean(mark[name] for mark in marks) for name in SHARES}

    @property
    def shows_little(self) -> bool:
        """Whether too few cuts left anything to lose or to recover."""
        return self.shares()["any"] < LITTLE

    @property
    def broken_promises(self) -> int:
        """How many cuts lost what the device had promised to keep."""
        return sum(cut.facts["promised_lost"] > 0 for cut in self.cuts)

    @property
    def passed(self) -> bool:
        """Whether no promise was broken and no file system was damaged."""
        return not (self.bad or self.damaged or self.broken_promises)

    def times_ms(self) -> dict[str, dict[str, float | None]]:
        """Return mean, median and greatest time to be back in service, by cause."""
        found = {}
        for name in PHASES:
            times = [ms for cut in self.cuts if (ms := cut.trial.times_ms[name]) is not None]
            found[name] = {
                "mean": fmean(times) if times else None,
                "p50": median(times) if times else None,
                "max": max(times) if times else None,
            }
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "title": self.title,
            "setup": self.setup.to_dict(),
            "run": self.facts,
            "cuts": len(self.cuts),
            "tried": sum(cut.same_as is None for cut in self.cuts),
            "outcomes": self.counts(),
            "outcomes_by_stratum": {name: self.counts(name) for name in self.strata},
            "bad": sum(n for name, n in self.counts().items() if name not in GOOD),
            "file_systems_damaged": len(self.damaged),
            "promises_broken_by_the_device": self.broken_promises,
            "shares": self.shares(),
            "shows_little": self.shows_little,
            "back_in_service_ms": self.times_ms(),
            "each": [cut.to_dict() for cut in self.cuts],
        }

    def lines(self) -> Iterator[str]:
        """Yield what there is to say of the findings."""
        if self.bad:
            first = self.bad[0]
            yield (
                f"{len(self.bad)} of {len(self.cuts)} cuts ended badly; the first is cut "
                f"{first.number} ({OUTCOMES[first.trial.verdict.outcome]}): "
                f"{first.trial.verdict.text or 'no word'}"
            )
        else:
            yield f"No promise was broken in {len(self.cuts)} cuts."
        if self.damaged:
            first = self.damaged[0]
            yield (
                f"{len(self.damaged)} file systems were damaged; the first after cut "
                f"{first.number}: {first.trial.damage}"
            )
        if self.broken_promises:
            count = self.broken_promises
            yield f"The device lost writes that it had promised to keep in {count} cuts."
        if self.shows_little:
            share = self.shares()["any"]
            yield (
                f"This set-up shows little: only {share:.0%} of the cuts left anything to lose or "
                f"to recover ({LITTLE:.0%} are needed)."
            )
