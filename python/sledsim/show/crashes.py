"""What is shown of a crash test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._number_text import measured, number
from sledsim.show.sheet import Sentence, Sheet, Word
from sledsim.show.sheet import facts as facts_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.failures.crashes import CrashReport

PROMISES = {
    "completion": "what is complete survives",
    "flush": "what was flushed, or written through, survives",
}
"""What a device promises, by the name of the promise."""


def sheet(crash: CrashReport) -> Sheet:
    """Describe a crash test."""
    document = crash.to_dict()
    notes = [str(violation["text"]) for violation in document["shown"]]
    if left := document["violations"] - len(notes):
        notes.append(f"... and {number(left)} more")
    return Sheet(
        title=f"{document['device']} in {number(document['points'])} power failures",
        lead=list(_lead(document)),
        facts=facts_table(list(_facts(document)), "The test"),
        warnings=[] if document["passed"] else [_broken(document)],
        notes=notes,
    )


def _broken(document: Mapping[str, Any]) -> Sentence:
    first = document["shown"][0]["text"] if document["shown"] else "not described"
    return Sentence(
        "{} broke {} {} {} times: {}",
        document["device"],
        "its" if document["promise"] == document["device_promise"] else "the asked-for",
        Word("promise", "Promise"),
        number(document["violations"]),
        first,
    )


def _lead(document: Mapping[str, Any]) -> Iterator[Sentence | str]:
    device, points = document["device"], number(document["points"])
    promise = PROMISES[document["promise"]]
    own = document["promise"] == document["device_promise"]
    if document["passed"]:
        yield Sentence(
            "{} kept {} {} in all of {} power failures: {}.",
            device,
            "its" if own else "the asked-for",
            Word("promise", "Promise"),
            points,
            promise,
        )
    else:
        yield Sentence(
            "{} failed {} checks in {} power failures. {} {} is that {}.",
            device,
            number(document["violations"]),
            points,
            "Its" if own else "The asked-for",
            Word("promise", "Promise"),
            promise,
        )
    way = document["under_way"]
    recovery = document["recovery_ms"]
    took = ""
    if recovery["max"]:
        took = f" Recovery took {number(recovery['mean'], 3)} ms in the mean, at most"
        took += f" {number(recovery['max'], 3)} ms."
    yield Sentence(
        "The power failed during {} writes: {} of them were lost, {} {} and {} kept, as they may"
        " be. {} blocks were looked at afterwards.{}",
        number(way["writes"]),
        number(way["lost"]),
        number(way["torn"]),
        Word("torn", "Torn write"),
        number(way["kept"]),
        number(document["blocks_checked"]),
        took,
    )


def _facts(document: dict[str, Any]) -> Iterator[list[str]]:
    """Describe a crash test, line by line: a name and a text."""
    yield ["device", f"{document['device']}, scheduler {document['scheduler']}"]
    yield [Word("promise", "Promise"), PROMISES[document["promise"]]]
    if (own := document["device_promise"]) != document["promise"]:
        yield ["", f"as asked for; that of the device itself: {PROMISES[own]}"]
    points, rounds = number(document["points"]), number(document["rounds"])
    again = document["in_recovery"]
    during = f", and {number(again)} during recovery" if again else ""
    yield ["power failures", f"{points}{during}; the load was begun {rounds} times"]
    requests = ("requests", "reads", "writes")
    count, reads, writes = (number(document[kind]) for kind in requests)
    yield ["requests", f"{count}: {reads} reads, {writes} writes, and flushes"]
    way = document["under_way"]
    lost, torn, kept = (number(way[kind]) for kind in ("lost", "torn", "kept"))
    yield ["under way", f"{number(way['writes'])} writes: {lost} lost, {torn} torn, {kept} kept"]
    found, returned = (number(document[k]) for k in ("blocks_checked", "read_blocks_checked"))
    yield ["looked at", f"{found} blocks after failures, {returned} that were read"]
    times = document["recovery_ms"]
    if times["max"]:
        mean, p99, most = (measured(times[kind]) for kind in ("mean", "p99", "max"))
        yield ["recovery", f"{mean} ms in the mean, p99 {p99}, at most {most}"]
    violations = document["violations"]
    yield ["violations", number(violations) if violations else "none"]
