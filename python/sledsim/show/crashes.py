"""What is shown of a crash test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._number_text import measured, number
from sledsim.show.text_tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMISES = {
    "completion": "what is complete survives",
    "flush": "what was flushed, or written through, survives",
}
"""What a device promises, by the name of the promise."""


def paragraphs(document: dict[str, Any]) -> Iterator[str]:
    """Write a crash test as text, paragraph by paragraph."""
    yield table(list(facts(document)), "<<")
    yield from (violation["text"] for violation in document["shown"])
    if left := document["violations"] - len(document["shown"]):
        yield f"... and {number(left)} more"


def facts(document: dict[str, Any]) -> Iterator[list[str]]:
    """Describe a crash test, line by line: a name and a text."""
    yield ["device", f"{document['device']}, scheduler {document['scheduler']}"]
    yield ["promise", PROMISES[document["promise"]]]
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
