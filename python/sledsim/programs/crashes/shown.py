"""What is shown of crash tests of programs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.programs.crashes.outcomes import OUTCOMES
from sledsim.programs.crashes.result import SHARES
from sledsim.programs.crashes.strata import STRATA
from sledsim.programs.crashes.trial import PHASES
from sledsim.show.sheet import Sheet, Table
from sledsim.show.sheet import facts as facts_table

if TYPE_CHECKING:
    from sledsim.programs.crashes.result import Result
    from sledsim.show.pages.parts import Report, Section

_SHOWN = 50
"""Most bad cuts that are listed on a page."""


def sheet(result: Result) -> Sheet:
    """Describe an experiment."""
    return Sheet(
        title=result.title,
        lead=[_run_line(result)],
        tables=[_outcomes(result), _times(result), _shares(result)],
        notes=["\n".join(result.lines())],
        named=True,
    )


def page(result: Result) -> Report:
    """Return the page of an experiment."""
    from sledsim.plots.files import encoded  # an extra
    from sledsim.programs.crashes.picture import draw
    from sledsim.show.pages import sheets
    from sledsim.show.pages.parts import Figure, Section

    lines, of = list(result.lines()), sheet(result)
    described = replace(
        of,
        title=f"{of.title}: {number(len(result.cuts))} failures of power",
        lead=[f"{of.lead[0]}.", *([] if result.bad else lines)],
        warnings=lines if result.bad else [],
        notes=[],
    )
    counts = {name: count for name, count in result.counts().items() if count}
    said = ", ".join(f"{OUTCOMES[name]}: {count}" for name, count in counts.items())
    picture = Figure(
        encoded(draw(result, title="", size=(6.6, 4.6)), "svg"),
        "Above: outcomes by what the device did at the cut. Below: the time to be back in service,"
        " in model time.",
        f"Outcomes of {len(result.cuts)} cuts: {said}.",
    )
    setup = {**result.setup.to_dict(), **result.facts}
    facts = [[name.replace("_", " "), str(value)] for name, value in setup.items() if value]
    return sheets.report(
        described,
        ("How the cuts ended", [picture]),
        _bad(result),
        Section("Set-up", [facts_table(facts, "The experiment")]),
    )


def _outcomes(result: Result) -> Table:
    shown = [name for name, count in result.counts().items() if count]
    rows = []
    for stratum in [*result.strata, None]:
        counts = result.counts(stratum)
        name = "all" if stratum is None else STRATA[stratum]
        rows.append([name, number(sum(counts.values())), *(number(counts[each]) for each in shown)])
    head = ["power failed in", "cuts", *(OUTCOMES[name] for name in shown)]
    return Table(head, rows, "Outcomes by what the device did")


def _times(result: Result) -> Table:
    rows = []
    for name, times in result.times_ms().items():
        shown = (times[key] for key in ("mean", "p50", "max"))
        rows.append([PHASES[name], *("-" if ms is None else number(ms, 3) for ms in shown)])
    return Table(["back in service, ms", "mean", "p50", "max"], rows, "Time by cause, in ms")


def _shares(result: Result) -> Table:
    rows = [[SHARES[name], f"{share:.0%}"] for name, share in result.shares().items()]
    return Table(["cuts that left", "share"], rows, "The share of cuts that left something")


def _run_line(result: Result) -> str:
    """Tell what ran, in a line."""
    facts = result.facts
    return (
        f"{number(facts['transactions'])} transactions in {facts['duration_s']:.3f} s: "
        f"{number(facts['writes'])} writes of {number(facts['blocks_written'])} blocks, "
        f"{number(facts['flushes'])} flushes"
    )


def _bad(result: Result) -> Section | None:
    from sledsim.show.pages.parts import Paragraph, Section  # an extra

    if not result.bad:
        return None
    head = ["cut", "at, ms", "power failed in", "acknowledged", "outcome", "found"]
    rows = [
        [
            str(cut.number),
            number(cut.instant.at_ns / 1e6),
            STRATA[cut.instant.stratum],
            number(cut.acknowledged),
            OUTCOMES[cut.trial.verdict.outcome],
            cut.trial.verdict.text,
        ]
        for cut in result.bad[:_SHOWN]
    ]
    parts = [Table(head, rows, "Bad outcomes", frozenset({0, 2, 4, 5}))]
    left = len(result.bad) - _SHOWN
    more = [Paragraph(f"… and {number(left)} more.")] if left > 0 else []
    return Section("Bad outcomes", [*parts, *more])
