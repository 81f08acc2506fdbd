"""The JSON document of an item: its values, published and simulated, with their verdicts."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim.papers import judge, nearness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.papers.model import Found, Item, Published


def document(
    item: Item,
    found: Mapping[str, Found],
    *,
    quick: bool,
    reading: str,
    disksim: Found | None = None,
) -> dict[str, Any]:
    """Return the document of an item.

    Parameters
    ----------
    item
        The item.
    found
        What it came to under the set-up of the paper, by an empty name, and under each reading, by
        its name; or under ``reading`` alone.
    quick
        Whether fewer requests were simulated.
    reading
        The reading that alone was simulated, if one was.
    disksim
        What it came to with the set-up of DiskSim, if it has one.
    """
    for own in (*found.values(), *([disksim] if disksim else [])):
        _same(item, own)
    others = {name: own.values for name, own in found.items() if name}
    first = found[reading]
    verdicts = judge.judge(item.values, first.values, others)
    if reading:
        verdicts = {key: _under(reading, *verdict, verdicts) for key, verdict in verdicts.items()}
    shown = {} if reading else others
    near = nearness.document(item, first.values, shown)
    words = [verdict for verdict, _ in verdicts.values()]
    return {
        "id": item.id,
        "title": item.title,
        "place": item.place,
        "verdict": judge.worst(words),
        "line": nearness.line(item, near, words),
        "nearness": near,
        "quick": quick,
        "reading": reading,
        "how": "\n\n".join(part for part in (item.how, first.note) if part),
        "readings": {one.name: one.what for one in item.readings},
        "values": [
            _stated(value)
            | {"verdict": verdicts[value.key][0], "reading": verdicts[value.key][1]}
            | _compared(value, first.values)
            | {"readings": {name: _compared(value, other) for name, other in shown.items()}}
            | {"disksim": _compared(value, disksim.values) if disksim else None}
            for value in item.values
        ],
        "series": dict(first.series),
    }


def _under(
    reading: str,
    verdict: judge.Verdict,
    holds_under: str,
    verdicts: Mapping[str, tuple[judge.Verdict, str]],
) -> tuple[judge.Verdict, str]:
    """Return the verdict on a value under a reading alone: conditional if all values agree."""
    if verdict != "reproduced":
        return verdict, holds_under
    whole = all(other != "missed" for other, _ in verdicts.values())
    return ("conditional", reading) if whole else ("missed", "")


def _same(item: Item, found: Found) -> None:
    stated = {value.key for value in item.values if value.judged_as != "not_modelled"}
    if different := sorted(set(found.values) ^ stated):
        raise SledsimError(
            f"{item.id}: values {', '.join(different)}: only its code or its data file has them"
        )


def _stated(value: Published) -> dict[str, Any]:
    """Return what the data file states of a value."""
    expected = value.expected
    return {
        "key": value.key,
        "what": value.what,
        "published": value.published,
        "place": value.place,
        "unit": value.unit,
        "kind": value.kind,
        "tolerance": value.tolerance,
        "tolerance_because": value.error_because,
        "class": value.judged_as,
        "because": value.because,
        "words": value.words,
        "percent": value.percent,
        "repeats": value.repeats,
        "cause": value.cause,
        "contradiction": value.contradiction and asdict(value.contradiction),
        "expected": None if expected is None else asdict(expected),
        "history": [asdict(change) for change in value.history],
    }


def _compared(value: Published, simulated: Mapping[str, Any]) -> dict[str, Any]:
    if value.judged_as == "not_modelled":
        return {"simulated": None, "agrees": None, "distance": None}
    own = simulated[value.key]
    return {
        "simulated": own,
        "agrees": judge.agrees(value, own),
        "distance": nearness.distance(value, own),
    }
