"""The report of an application on several devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from sledsim import programs
from sledsim._number_text import number
from sledsim.programs.benchmarks import shown
from sledsim.show.pages.figures import drawn
from sledsim.show.pages.glossary import word
from sledsim.show.pages.parts import Report, Section
from sledsim.show.sheet import Table
from sledsim.show.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledsim.programs import Outcome
    from sledsim.show.sheet import Text


def report(outcomes: Sequence[Outcome]) -> Report:
    """Return the report of the outcomes of an application."""
    title = programs.kind(outcomes[0].application).title
    devices = listed([each.device for each in outcomes])
    run = "on emulated" if outcomes[0].emulated else "replayed on simulated"
    return Report(
        title=f"{title} {run} devices: {devices}",
        lead=list(_lead(title, outcomes)),
        sections=[_pictures(title, outcomes), _numbers(outcomes)],
    )


def _lead(title: str, outcomes: Sequence[Outcome]) -> Iterator[Text]:
    ordered = sorted(outcomes, key=lambda each: each.run_s)
    first, last = ordered[0], ordered[-1]
    if first is last:
        yield f"{title} runs for {number(first.run_s, 3)} s on {first.device}."
    else:
        times = number(last.run_s / first.run_s, 3) if first.run_s else "-"
        less = 1 - first.stall_s / last.stall_s if last.stall_s else 0.0
        yield Markup(
            "{} is {} times as fast on {} as on {}: it runs for {} s instead of {} s, with {:.0f} %"
            " less I/O {}."
        ).format(
            title,
            times,
            first.device,
            last.device,
            number(first.run_s, 3),
            number(last.run_s, 3),
            100 * less,
            word("stall", "Stall"),
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


def _pictures(title: str, outcomes: Sequence[Outcome]) -> Section:
    said = "; ".join(
        f"{each.device} {number(each.run_s, 3)} s, of it {number(each.stall_s, 3)} s stall"
        for each in outcomes
    )
    return Section(
        "Where the time goes",
        [
            drawn(
                "applications",
                outcomes,
                caption="Run times, split into processor time and the time in which the program"
                " waited for I/O.",
                alt=f"Run times of {title}: {said}.",
            )
        ],
    )


def _numbers(outcomes: Sequence[Outcome]) -> Section:
    head, *rows = shown.rows_of(outcomes)
    about = "Run times in s, and what the application asked of each device"
    return Section("Numbers", [Table(head, rows, about)])
