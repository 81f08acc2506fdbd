"""What is shown of runs of applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.show.sheet import Sentence, Sheet, Table, Word
from sledsim.show.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledsim.programs import Outcome
    from sledsim.show.pages.parts import Report

_HEAD = (
    *("device", "run s", "compute", Word("stall", "Stall"), "of it device", Word("way", "Way")),
    *(Word("accesses", "Access"), "blocks", Word("flushes", "Flush"), "access ms", "read hits"),
    *("late p50 us", "replay s", "off"),
)


def sheet(outcomes: Sequence[Outcome]) -> Sheet:
    """Describe the outcomes of an application on several devices."""
    title, emulated = outcomes[0].title, outcomes[0].emulated
    devices = listed([each.device for each in outcomes])
    run = "on emulated" if emulated else "replayed on simulated"
    notes = ["\n".join(_ratios(outcomes))]
    if not emulated:
        notes.append(
            "Replayed, not run: processor time and path overhead are those of the recording."
        )
    return Sheet(
        title=f"{title} {run} devices: {devices}",
        lead=list(_lead(title, outcomes)),
        tables=[_table(outcomes)],
        notes=[note for note in notes if note],
    )


def page(outcomes: Sequence[Outcome]) -> Report:
    """Return the page of the outcomes of an application."""
    from sledsim.show.pages import sheets  # an extra
    from sledsim.show.pages.figures import drawn

    said = "; ".join(
        f"{each.device} {number(each.run_s, 3)} s, of it {number(each.stall_s, 3)} s stall"
        for each in outcomes
    )
    picture = drawn(
        "applications",
        outcomes,
        caption="Run times, split into processor time and the time in which the program waited for"
        " I/O.",
        alt=f"Run times of {outcomes[0].title}: {said}.",
    )
    return sheets.report(sheet(outcomes), ("Where the time goes", [picture]))


def _table(outcomes: Sequence[Outcome]) -> Table:
    rows = []
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
    about = "Run times in s, and what the application asked of each device"
    return Table(_HEAD, rows, about)


def _ratios(outcomes: Sequence[Outcome]) -> Iterator[str]:
    slowest = max(outcomes, key=lambda each: each.run_s)
    if len(outcomes) > 1 and slowest.run_s > 0:
        for each in outcomes:
            if each is not slowest and each.run_s > 0:
                less = 1 - each.stall_s / slowest.stall_s if slowest.stall_s else 0.0
                yield (
                    f"{each.device}: {slowest.run_s / each.run_s:.2f} times as fast as "
                    f"{slowest.device}, {less:.0%} less stall"
                )


def _lead(title: str, outcomes: Sequence[Outcome]) -> Iterator[Sentence | str]:
    ordered = sorted(outcomes, key=lambda each: each.run_s)
    first, last = ordered[0], ordered[-1]
    if first is last:
        yield f"{title} runs for {number(first.run_s, 3)} s on {first.device}."
    else:
        times = number(last.run_s / first.run_s, 3) if first.run_s else "-"
        less = 1 - first.stall_s / last.stall_s if last.stall_s else 0.0
        yield Sentence(
            "{} is {} times as fast on {} as on {}: it runs for {} s instead of {} s, with {} %"
            " less I/O {}.",
            title,
            times,
            first.device,
            last.device,
            number(first.run_s, 3),
            number(last.run_s, 3),
            f"{100 * less:.0f}",
            Word("stall", "Stall"),
        )
    parts = [
        f"{100 * each.stall_s / each.run_s:.0f} % of the time on {each.device}"
        for each in ordered
        if each.run_s
    ]
    yield f"It waits for I/O {listed(parts)}."
    if outcomes[0].emulated:
        yield "Each device was measured once, so that there are no intervals."
    else:
        yield (
            "A recording was replayed, nothing was run: processor time and the overhead of the path"
            " are those of the recording."
        )
