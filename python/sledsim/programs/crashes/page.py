"""The report of an experiment, as one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._number_text import number
from sledsim.plots.files import encoded
from sledsim.programs.crashes import shown
from sledsim.programs.crashes.outcomes import OUTCOMES
from sledsim.programs.crashes.picture import draw
from sledsim.programs.crashes.strata import STRATA
from sledsim.show.pages import writer as pages
from sledsim.show.pages.parts import Figure, Paragraph, Report, Section
from sledsim.show.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledsim.programs.crashes.result import Result

_SHOWN = 50
"""Most bad cuts that are listed."""


def write(result: Result, path: str, command: Sequence[str] | None = None) -> None:
    """Write the page; the file appears when it is complete.

    Raises
    ------
    SledsimError
        If it cannot be written.
    """
    _core.write_atomically(path, pages.html(report(result), command).encode())


def report(result: Result) -> Report:
    """Return what stands on the page."""
    lines = list(result.lines())
    good = sum(not cut.trial.verdict.is_good for cut in result.cuts) == 0
    return Report(
        title=f"{result.title}: {number(len(result.cuts))} failures of power",
        lead=[shown.run_line(result) + ".", *(lines if good else [])],
        warnings=[] if good else lines,
        sections=list(_sections(result)),
    )


def _sections(result: Result) -> Iterator[Section]:
    counts = {name: count for name, count in result.counts().items() if count}
    said = ", ".join(f"{OUTCOMES[name]}: {count}" for name, count in counts.items())
    yield Section(
        "How the cuts ended",
        [
            Figure(
                encoded(draw(result, title="", size=(6.6, 4.6)), "svg"),
                "Above: outcomes by what the device did at the cut. Below: the time to be"
                " back in service, in model time.",
                f"Outcomes of {len(result.cuts)} cuts: {said}.",
            ),
            _table(shown.outcome_rows(result), "Outcomes by what the device did"),
        ],
    )
    yield Section("Back in service", [_table(shown.time_rows(result), "Time by cause, in ms")])
    yield Section(
        "What the cuts met",
        [_table(shown.share_rows(result), "The share of cuts that left something")],
    )
    if result.bad:
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
        yield Section("Bad outcomes", [*parts, *more])
    setup = result.setup.to_dict()
    facts = [[name.replace("_", " "), str(value)] for name, value in setup.items() if value]
    facts += [[name.replace("_", " "), str(value)] for name, value in result.facts.items()]
    yield Section("Set-up", [Table(["", ""], facts, "The experiment", frozenset({0, 1}))])


def _table(rows: Sequence[Sequence[str]], caption: str) -> Table:
    return Table(rows[0], rows[1:], caption)
