"""What is shown of runs of applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.show.text import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledsim.programs import Outcome

_HEADS = (
    *("device", "run s", "compute", "stall", "of it device", "way", "accesses", "blocks"),
    *("flushes", "access ms", "read hits", "late p50 us", "replay s", "off"),
)


def rows_of(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Return the table of outcomes, its head first."""
    rows = [list(_HEADS)]
    for each in outcomes:
        facts, predicted = each.facts, each.predicted
        error = each.prediction_error
        rows.append(
            [
                each.device,
                *map(number, (each.run_s, each.compute_s, each.stall_s)),
                *map(number, (each.device_s, each.way_s)),
                number(facts.reads + facts.writes),
                number(facts.mean_blocks, 3),
                number(facts.flushes),
                number(facts.access_ms, 3),
                "-" if facts.read_hits is None else f"{facts.read_hits:.1%}",
                number(each.lateness_us.get("p50"), 2),
                "-" if predicted is None else number(predicted.run_s),
                "-" if error is None else f"{error:+.1%}",
            ]
        )
    return rows


def lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Write runs of applications as text, line by line."""
    yield table(rows_of(outcomes), "<" + ">" * (len(_HEADS) - 1))
    slowest = max(outcomes, key=lambda each: each.run_s)
    if len(outcomes) > 1 and slowest.run_s > 0:
        yield ""
        for each in outcomes:
            if each is not slowest and each.run_s > 0:
                less = 1 - each.stall_s / slowest.stall_s if slowest.stall_s else 0.0
                yield (
                    f"{each.device}: {slowest.run_s / each.run_s:.2f} times as fast as "
                    f"{slowest.device}, {less:.0%} less stall"
                )
    if not outcomes[0].emulated:
        yield ""
        yield "Replayed, not run: processor time and path overhead are those of the recording."
