"""Words and numbers of the sentences that tell results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._number_text import decimals_of, given, interval, measured, number, percent, rounded
from sledsim.show.sheet import Sentence, Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CAUSES: dict[str, tuple[str, str]] = {
    "queue": ("waiting in the queue", "Queue time"),
    "overhead": ("command overhead", "Overhead"),
    "seek": ("seeking", "Seek"),
    "rotation": ("waiting for the disk to turn", "Rotation"),
    "head_switch": ("switching heads", "Head switch"),
    "transfer": ("the transfer from or to the media", "Transfer"),
    "bus": ("the bus", "Bus time"),
    "retry": ("retries", "Retry"),
    "other": ("starting up", "Power states"),
}
"""What each cause of a response time is called in a sentence, and its word in the glossary."""


def cause(name: str) -> Word:
    """Return a cause as it is called in a sentence."""
    return Word(*CAUSES[name])


def cause_head(name: str) -> str:
    """Return a cause as the head of a column."""
    text = name.replace("_", " ")
    return text if name == "other" else Word(text, CAUSES[name][1])


def percentile(name: str) -> str:
    """Return the name of a statistic; percentiles are explained."""
    return Word(name, "Percentile") if name.startswith("p") else name


def mean_ms(summary: Mapping[str, Any]) -> str:
    """Return the mean response time in ms with no more digits than its interval has."""
    mean = summary["response_time_ms"]["mean"]
    told = summary["confidence"]["response_time_ms"]
    if mean is None:
        return "-"
    if told["low"] is None:
        return f"{measured(mean)} ms"
    return f"{rounded(mean, decimals_of((told['high'] - told['low']) / 2))} ms"


def interval_ms(summary: Mapping[str, Any]) -> Sentence:
    """Return the interval of the mean response time, in words, or say that it has none."""
    told = summary["confidence"]["response_time_ms"]
    word = Word("95 % interval", "Confidence interval")
    if told["low"] is None:
        return Sentence("no {}: too few requests", word)
    return Sentence("{} {} to {} ms", word, *interval(told["low"], told["high"]))


def largest_cause(summary: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the cause that makes up most of the response times, and its share."""
    total = summary["response_time_ms"]["mean"]
    if not total:
        return None
    means = {name: summary[f"{name}_ms"]["mean"] or 0.0 for name in CAUSES}
    most = max(means, key=lambda name: means[name])
    return most, means[most] / total


def busiest_word(summary: Mapping[str, Any]) -> Sentence | str:
    """Return a sentence on the busiest part; nothing where none is known."""
    if summary["utilisation"] is None:
        return ""
    return Sentence(
        " Its busiest part, {}, is {} {} of the time; it serves {} requests/s.",
        summary["busiest"],
        Word("busy", "Utilisation"),
        percent(summary["utilisation"]),
        measured(summary["throughput_iops"]),
    )


def load_name(workload: Mapping[str, Any]) -> str:
    """Return what a load is called: the workload with its rate, or the trace."""
    if workload["workload"] == "trace":
        name = f"trace {Path(workload['path']).name}"
    else:
        name = str(workload.get("preset") or workload["workload"])
    if workload.get("queue_depth"):
        return f"{name}, {number(workload['queue_depth'])} outstanding"
    if workload.get("rate"):
        return f"{name}, {given(workload['rate'])} requests/s"
    return name


def listed(names: Sequence[str]) -> str:
    """Write names as in a sentence: one, two and three."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def cell(value: object) -> str:
    """Write a value of a table."""
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


BUSY_HEADS = ("mechanism", "busy", "for requests", "other work")
"""Heads of :func:`busy_rows`."""


def busiest(utilisation: float | None, name: str | None, device: str) -> str:
    """Write a utilisation with the name of the busiest part: ``99 % (disk.device)``.

    The name is left out where the part is the device itself; ``-`` stands for no utilisation.
    """
    if utilisation is None:
        return "-"
    return percent(utilisation) + ("" if name == device else f" ({name})")


def busy_rows(summary: Mapping[str, Any]) -> list[list[str]]:
    """Return a row for each mechanism: its name, and shares of the time, in all and by purpose."""
    shares = ("utilisation", "host", "other")
    return [
        [each["name"], *("-" if each[share] is None else percent(each[share]) for share in shares)]
        for each in summary["mechanisms"]
    ]


def unknown_energy(summaries: Iterable[Mapping[str, Any]]) -> str | None:
    """Say why the energy of runs is unknown, without the word itself; ``None`` if it is known."""
    parts = (part for summary in summaries for part in summary["devices"])
    names = dict.fromkeys(part["name"] for part in parts if part["energy_j"] is None)
    return f"unknown: no values of power for {', '.join(names)}" if names else None
