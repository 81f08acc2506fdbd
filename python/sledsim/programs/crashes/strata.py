"""Instants at which the power fails: some of each kind of moment of a run."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sledsim.programs.spans import union

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledsim.programs.spans import Span, Spans

STRATA = {
    "data": "writes of data files",
    "log": "log writes",
    "metadata": "other writes",
    "flush": "flushes",
    "idle": "idle time",
}
"""The kinds of moments by name."""
_BLOCK = 512
_EDGE = 0.3
"""The share of instants at the edges of a request: as it arrives, as it completes."""


@dataclass(frozen=True)
class Instant:
    """A moment at which the power fails."""

    at_ns: int
    """Of model time."""
    stratum: str
    """One of `STRATA`."""


def kind_of(request: Mapping[str, Any], logs: Spans, data: Spans | None) -> str | None:
    """Return the stratum of a request; ``None`` of a read.

    Parameters
    ----------
    request
        A row of a recording.
    logs, data
        Where logs and data files lie; a write of neither is one of the file system. ``None`` for
        data if there is no file system: everything else is data.
    """
    if request["op"] == "flush":
        return "flush"
    if request["op"] != "write":
        return None
    begin = request["lbn"] * _BLOCK
    end = begin + request["blocks"] * _BLOCK
    if data is None or (data.meet(begin, end) and not logs.meet(begin, end)):
        return "data"
    return "log" if logs.meet(begin, end) else "metadata"


def drawn(
    requests: Sequence[Mapping[str, Any]],
    kinds: Sequence[str | None],
    window_ns: Span,
    count: int,
    seed: int,
) -> list[Instant]:
    """Draw instants: as many in each stratum that the run has, a third at edges of requests.

    Parameters
    ----------
    requests
        Rows of a recording, with ``arrival_ns`` and ``completion_ns``.
    kinds
        The stratum of each.
    window_ns
        The load's begin and end, in model time; instants lie in it.
    count
        How many instants.
    seed
        The same seed gives the same instants.
    """
    chance = random.Random(seed)
    first, last = window_ns
    spans: dict[str, list[Span]] = {name: [] for name in STRATA}
    for request, kind in zip(requests, kinds, strict=True):
        begin, end = max(request["arrival_ns"], first), min(request["completion_ns"], last)
        if kind is not None and begin <= end:
            spans[kind].append((begin, end))
    busy = [(each["arrival_ns"], each["completion_ns"]) for each in requests]
    spans["idle"] = _gaps(busy, first, last)
    present = [name for name in STRATA if spans[name]] or ["idle"]
    spans["idle"] = spans["idle"] or [(first, last)]
    instants = []
    for number in range(count):
        stratum = present[number % len(present)]
        begin, end = chance.choice(spans[stratum])
        at = chance.randint(begin, end)
        if stratum != "idle" and chance.random() < _EDGE:
            at = chance.choice([begin, min(begin + 1, end), max(end - 1, begin), end])
        instants.append(Instant(at, stratum))
    return instants


def _gaps(busy: Sequence[Span], first: int, last: int) -> list[Span]:
    """Return the spans of a window in which no request is in the device."""
    inside = ((max(a, first), min(b, last)) for a, b in busy if b >= first and a <= last)
    ends = union([(first, first), *inside, (last, last)])
    return [(a[1] + 1, b[0] - 1) for a, b in pairwise(ends) if a[1] + 1 <= b[0] - 1]
