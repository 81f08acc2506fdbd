"""Cautions: warnings about the results of a run.

They are derived here alone, from the document of a run, for its JSON (``caution``), tables and
pictures, and for results that consist of runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ALL = "all"
"""Stands for all labels in :func:`lines`."""
UNRELIABLE, NOTE = "!", "*"
"""Marks of an unreliable mean, and of any other caution."""

_INTERVALS = {
    "too few requests": "there are too few requests",
    "correlated batches": "its batches are correlated: the run is too short for its queues, or not "
    "in a steady state",
}
"""Cautions of an interval, by its own name for them."""
OF_INTERVALS = frozenset({"precision", *(name.replace(" ", "_") for name in _INTERVALS)})
"""Codes of cautions that are of the interval of the mean alone."""
_MOST_APART = 0.01
"""Windows of a trace whose queues differ at the cuts by more than this share of the requests have
unreliable means."""
_ADDRESSES = {
    "wrapped": "{} requests were wrapped around at the end of the device",
    "scaled": "{} requests were moved to spread the trace over the device",
    "compacted": "{} requests were moved to close the gaps of the trace, so seeks are shorter",
    "moved": "{} requests were moved down to end within the device",
    "widened": "{} requests were widened to whole blocks",
}
"""Changes of the addresses of a trace."""


def of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the cautions of a run, the gravest first.

    Parameters
    ----------
    document
        ``summary`` and ``workload``, as in :attr:`Run.to_dict() <sledsim.Run.to_dict()>`.

    Returns
    -------
    list of dict
        ``code``, a short name; ``text``, a sentence without its full stop; ``unreliable``, whether
        the mean response time and its interval are unreliable.
    """
    return [
        {"code": code, "text": text, "unreliable": unreliable}
        for unreliable, found in (
            (True, _of_parts(document.get("split"))),
            (True, _of_means(document["summary"], document.get("split"))),
            (_cuts_matter(document.get("split")), _of_cuts(document.get("split"))),
            (False, _of_seeds(document["summary"])),
            (False, _of_windows(document.get("split"))),
            (False, _of_requests(document["summary"])),
            (False, _of_load(document["workload"])),
        )
        for code, text in found
    ]


def codes(cautions: Sequence[Mapping[str, Any]], *, unreliable: bool = False) -> list[str]:
    """Return the short names of cautions, or of those that make a mean unreliable."""
    return [one["code"] for one in cautions if one["unreliable"] or not unreliable]


def mark(cautions: Sequence[Mapping[str, Any]]) -> str:
    """Return the mark for a number or a bar: ``!``, ``*`` or nothing."""
    if not cautions:
        return ""
    return UNRELIABLE if codes(cautions, unreliable=True) else NOTE


def lines(by_label: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return the cautions as lines for below a table or a picture, each sentence once.

    Parameters
    ----------
    by_label
        Cautions by the labels of their results.
    """
    labels: dict[tuple[bool, str], list[str]] = {}
    for label, cautions in by_label.items():
        for one in cautions:
            labels.setdefault((one["unreliable"], one["text"]), []).append(label)
    ordered = sorted(labels.items(), key=lambda entry: not entry[0][0])
    return [
        f"{UNRELIABLE if unreliable else NOTE} {_named(named, by_label)}{text}"
        for (unreliable, text), named in ordered
    ]


def _named(labels: Sequence[str], by_label: Mapping[str, object]) -> str:
    if len(by_label) == 1:
        return ""
    return f"{ALL if len(labels) == len(by_label) else ', '.join(labels)}: "


def _of_parts(parts: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Tell which volumes or windows of a trace make the mean over all unreliable."""
    if parts is None:
        return
    of = f"of {parts['count']:,} {parts['by']}s"
    if failed := parts["failed"]:
        lost = f"{parts['requests_of_failed']:,} requests"
        first = f"the first is {parts['first_failure']}"
        yield "failed", f"{failed:,} {of} failed, and their {lost} are missing; {first}"
    if saturated := parts["saturated"]:
        lost = f"{parts['requests_not_served']:,} requests were not served"
        yield "saturated", f"{saturated:,} {of} outran the device and were given up: {lost}"
    if overloaded := parts["overloaded"]:
        means = "the mean over all depends on the length of the trace"
        yield "overloaded", f"{overloaded:,} {of} are overloaded: {means}"


def _of_windows(parts: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    if parts is not None and parts["by"] == "window":
        warm_up = f"{_number(parts['warm_up_s'])} s before it"
        text = "its caches hold what these brought"
        yield "windows", f"each window begins on a device that has seen the {warm_up} alone: {text}"


def _cuts_matter(parts: Mapping[str, Any] | None) -> bool:
    if parts is None or not (cut := parts.get("outstanding")):
        return False
    apart: int = cut["apart"]
    counted: int = parts["requests_counted"]
    return apart > _MOST_APART * counted


def _of_cuts(parts: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Tell what the cuts between the windows of a trace have changed."""
    cut = None if parts is None else parts.get("outstanding")
    if cut and cut["apart"]:
        text = (
            f"at the {cut['cuts']:,} cuts between windows, {cut['before']:,} requests were "
            f"outstanding at the ends of windows, and {cut['after']:,} after the warm-up before "
            "the next: a longer warm-up brings them together"
        )
        yield "cuts", text


def _of_means(
    summary: Mapping[str, Any], parts: Mapping[str, Any] | None
) -> Iterator[tuple[str, str]]:
    if parts is None and (saturated := summary["saturated"]):
        text = (
            f"the load outran the device: given up at {_number(saturated['at_s'])} s with "
            f"{saturated['queue']:,} requests waiting; the figures are of the "
            f"{summary['requests']:,} served by then"
        )
        yield "saturated", text
    if overloaded := summary["overloaded"]:
        yield "overloaded", _overload(overloaded, summary)
    interval = summary["confidence"]["response_time_ms"]["caution"]
    if interval in _INTERVALS:
        text = f"the interval of the mean is not to be relied on: {_INTERVALS[interval]}"
        yield interval.replace(" ", "_"), text


def _of_seeds(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name seeds that are overloaded although the results of all seeds together are not."""
    runs = summary["seeds"] or []
    alone = [str(run["seed"]) for run in runs if run["overloaded"] and not run["saturated"]]
    if alone and not summary["saturated"] and not summary["overloaded"]:
        many = len(alone) > 1
        seeds = f"seed{'s' * many} {', '.join(alone)}"
        yield "seeds", f"{seeds}, taken alone, {'are' if many else 'is'} overloaded"


def _overload(overloaded: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    offered, served = overloaded["offered_iops"], summary["throughput_iops"]
    rates = (
        ""
        if None in (offered, served)
        else f" ({_number(offered)} against {_number(served)} per s)"
    )
    first, last = _number(overloaded["found_first"]), _number(overloaded["found_last"])
    return (
        f"requests arrived faster than they were served{rates} and the queue grew to the end, from "
        f"{first} to {last} requests found on arrival: means depend on the length of the run"
    )


def _of_requests(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if (precision := summary["precision"]) and precision["missed"]:
        target = f"{100 * precision['target']:.3g} %"
        yield "precision", f"the precision of {target} was not reached: {precision['missed']}"
    if errors := summary["errors"]:
        yield "errors", f"{errors:,} requests could not be served"
    lost = sum(part["counts"].get("lost_blocks", 0) for part in summary["devices"])
    if lost:
        yield "lost", f"{lost:,} blocks of an array are gone for good"
    if warm_up := summary["warm_up"]:
        yield "warm_up", f"{warm_up['requests']:,} requests of the warm-up are not counted"


def of_units(trace: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the doubts about the units of a trace: short name, and sentence."""
    return [
        (one["key"], f'{one["text"]} ({one["key"]} "{one["likelier"]}" reads it so)')
        for one in trace.get("unit_doubts", [])
    ]


def _of_load(workload: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from of_units(workload)
    for key, text in _ADDRESSES.items():
        if count := workload.get(key):
            yield key, text.format(f"{count:,}")
    parts = workload.get("part", {"": workload}).values()
    if shortened := sum(part.get("shortened", 0) for part in parts):
        yield "shortened", f"{shortened:,} requests were shortened to fit into the device"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
