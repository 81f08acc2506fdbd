"""Pairs: the same request in two runs of one load, by its id."""

from __future__ import annotations

import tomllib
from array import array
from bisect import bisect_left, bisect_right
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sledsim._load import Load
    from sledsim.results.rows import Rows

QUANTILES = (5, 25, 50, 75, 95)
"""Percentiles of the differences in documents and tables."""
STATISTICS = ("mean", "min", *(f"p{each}" for each in QUANTILES), "max")
"""What is told of the differences."""
_STEPS = 1000
"""Most steps of a distribution function of differences."""
_AT_ONCE = 1 << 16
"""Rows that are lists at a time."""
_MISSING = -1


def have_one_order(load: Load) -> bool:
    """Whether a load has the same requests in the same order on every device.

    That is so of open loads, and of traces but those that are replayed as a recording: there, what
    is sent next depends on which request is completed first. So does it where parts of a mix are
    closed.
    """
    keys = tomllib.loads(load._core.canonical())
    if keys["kind"] == "trace":
        return keys.get("think") != "recorded"
    parts = keys.get("part")
    return all("rate" in part for part in (parts.values() if parts else [keys]))


def responses(rows: Rows, warm_up: int) -> array[int]:
    """Return response times in ns by id, 8 bytes each; -1 for requests without one.

    Parameters
    ----------
    rows
        Those of the host.
    warm_up
        How many of the first completed requests do not count.
    """
    found = array("q")
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        ids = part["id"]
        found.extend(repeat(_MISSING, max(ids) + 1 - len(found)))
        for at, arrival, end in zip(ids, part["arrival_ns"], part["completion_ns"], strict=True):
            found[at] = end - arrival
    completed = (at for at, time in enumerate(found) if time != _MISSING)
    for at in list(islice(completed, warm_up)):
        found[at] = _MISSING
    return found


def between(
    baseline: array[int], other: array[int]
) -> tuple[dict[str, Any], list[tuple[float, float]]]:
    """Pair the requests of two runs: statistics of the differences, and their distribution.

    Parameters
    ----------
    baseline, other
        What :func:`responses` returns.

    Returns
    -------
    dict, list of (ms, share)
        Counts, shares and differences, other minus baseline, in ms; rising differences, each with
        the share of the pairs that do not exceed it, at most 1,000 of them.
    """
    both = zip(baseline, other, strict=False)  # one may have ended early
    found = sorted(ours - theirs for theirs, ours in both if min(theirs, ours) != _MISSING)
    count = len(found)
    faster, not_slower = bisect_left(found, 0), bisect_right(found, 0)
    ms: dict[str, float | None] = {
        "mean": sum(found) / count / 1e6 if count else None,
        "min": found[0] / 1e6 if count else None,
        **{f"p{each}": _quantile(found, each, 100) if count else None for each in QUANTILES},
        "max": found[-1] / 1e6 if count else None,
    }
    document = {
        "requests": count,
        "unpaired": len(other) - other.count(_MISSING) - count,
        "unpaired_baseline": len(baseline) - baseline.count(_MISSING) - count,
        "faster_share": faster / count if count else None,
        "equal_share": (not_slower - faster) / count if count else None,
        "slower_share": (count - not_slower) / count if count else None,
        "difference_ms": ms,
    }
    steps = min(count, _STEPS)
    return document, [(_quantile(found, n, steps), n / steps) for n in range(1, steps + 1)]


def _quantile(rising: list[int], n: int, of: int) -> float:
    """Return the least value, in ms of ns, that at least ``n / of`` of all do not exceed."""
    return rising[-(-n * len(rising) // of) - 1] / 1e6
