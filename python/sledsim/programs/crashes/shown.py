"""What is shown of crash tests of applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.programs.crashes.outcomes import OUTCOMES
from sledsim.programs.crashes.result import SHARES
from sledsim.programs.crashes.strata import STRATA
from sledsim.programs.crashes.trial import PHASES
from sledsim.show.text import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.programs.crashes.result import Result


def outcome_rows(result: Result) -> list[list[str]]:
    """Return the table of outcomes by stratum, its head first."""
    shown = [name for name, count in result.counts().items() if count]
    rows = [["power failed in", "cuts", *(OUTCOMES[name] for name in shown)]]
    for stratum in [*result.strata, None]:
        counts = result.counts(stratum)
        name = "all" if stratum is None else STRATA[stratum]
        rows.append([name, number(sum(counts.values())), *(number(counts[each]) for each in shown)])
    return rows


def time_rows(result: Result) -> list[list[str]]:
    """Return the table of times to be back in service, its head first."""
    rows = [["back in service, ms", "mean", "p50", "max"]]
    for name, times in result.times_ms().items():
        shown = (times[key] for key in ("mean", "p50", "max"))
        rows.append([PHASES[name], *("-" if ms is None else number(ms, 3) for ms in shown)])
    return rows


def share_rows(result: Result) -> list[list[str]]:
    """Return the table of what cuts left to lose or to recover."""
    return [
        ["cuts that left", "share"],
        *([SHARES[name], f"{share:.0%}"] for name, share in result.shares().items()),
    ]


def run_line(result: Result) -> str:
    """Tell what ran, in a line."""
    facts = result.facts
    return (
        f"{number(facts['transactions'])} transactions in {facts['duration_s']:.3f} s: "
        f"{number(facts['writes'])} writes of {number(facts['blocks_written'])} blocks, "
        f"{number(facts['flushes'])} flushes"
    )


def lines(result: Result) -> Iterator[str]:
    """Write the result as text, line by line."""
    yield result.title
    yield run_line(result)
    for rows in (outcome_rows(result), time_rows(result), share_rows(result)):
        yield ""
        yield table(rows, "<" + ">" * (len(rows[0]) - 1))
    yield ""
    yield from result.lines()
