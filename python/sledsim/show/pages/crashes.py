"""The report of a crash test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sledsim._number_text import number
from sledsim.show import crashes as shown
from sledsim.show.pages import differences, texts
from sledsim.show.pages.figures import drawn
from sledsim.show.pages.glossary import word
from sledsim.show.pages.parts import Items, Report, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.failures.crashes import CrashReport
    from sledsim.show.pages.parts import Text


def report(crash: CrashReport) -> Report:
    """Return the report of a crash test."""
    document = crash.to_dict()
    device, points = document["device"], number(document["points"])
    warnings = []
    if not crash.passed:
        warnings.append(
            Markup("<strong>{} broke {} {}</strong> {} times. The first: {}").format(
                device,
                "its" if document["promise"] == document["device_promise"] else "the asked-for",
                word("promise", "Promise"),
                number(document["violations"]),
                crash.violations[0]["text"] if crash.violations else "not described.",
            )
        )
    return Report(
        title=f"{device} in {points} power failures",
        lead=list(_lead(document)),
        warnings=warnings,
        sections=list(_sections(crash)),
        made_from=crash.made_from(),
    )


def _lead(document: Mapping[str, Any]) -> Iterator[Text]:
    device, points = document["device"], number(document["points"])
    promise = shown.PROMISES[document["promise"]]
    own = document["promise"] == document["device_promise"]
    if document["passed"]:
        yield Markup("{} kept {} {} in all of {} power failures: {}.").format(
            device, "its" if own else "the asked-for", word("promise", "Promise"), points, promise
        )
    else:
        yield Markup("{} failed {} checks in {} power failures. {} {} is that {}.").format(
            device,
            number(document["violations"]),
            points,
            "Its" if own else "The asked-for",
            word("promise", "Promise"),
            promise,
        )
    way = document["under_way"]
    recovery = document["recovery_ms"]
    took = ""
    if recovery["max"]:
        took = f" Recovery took {number(recovery['mean'], 3)} ms in the mean, at most"
        took += f" {number(recovery['max'], 3)} ms."
    yield Markup(
        "The power failed during {} writes: {} of them were lost, {} {} and {} kept, as they may"
        " be. {} blocks were looked at afterwards.{}"
    ).format(
        number(way["writes"]),
        number(way["lost"]),
        number(way["torn"]),
        word("torn", "Torn write"),
        number(way["kept"]),
        number(document["blocks_checked"]),
        took,
    )


def _sections(crash: CrashReport) -> Iterator[Section]:
    document = crash.to_dict()
    way = document["under_way"]
    if way["writes"]:
        said = ", ".join(f"{number(way[kind])} {kind}" for kind in ("lost", "torn", "kept"))
        yield Section(
            "What became of writes",
            [
                drawn(
                    "crash",
                    crash,
                    size=(4.4, 2.2),
                    caption="Writes that were under way when the power failed. Each may end in any"
                    " of these ways; what is complete must be kept.",
                    alt=f"Writes under way: {said}.",
                )
            ],
        )
    if crash.violations:
        texts_of = [str(each["text"]) for each in crash.violations]
        if left := document["violations"] - len(texts_of):
            texts_of.append(f"\u2026 and {number(left)} more.")
        yield Section("What was found", [Items(texts_of)])
    facts = [[texts.heading(name), text] for name, text in shown.facts(document)]
    yield Section("Numbers", [Table(["", ""], facts, "The test", frozenset({0, 1}))])
    if crash.origin is not None and (changed := differences.against_base(crash.origin.device)):
        yield changed
