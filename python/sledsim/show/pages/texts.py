"""Numbers and words of the sentences on reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sledsim._number_text import decimals_of, given, interval, measured, number, rounded
from sledsim.show.pages.glossary import word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledsim.show.pages.parts import Text

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
HEADS: dict[str, str] = {
    "mean, ms": "Response time",
    "p50": "Percentile",
    "p90": "Percentile",
    "p95": "Percentile",
    "p99": "Percentile",
    "p99.9": "Percentile",
    "p99.99": "Percentile",
    "busy": "Utilisation",
    "mJ each": "mJ each",
    "speed-up": "Speed-up",
    "response time": "Response time",
    "service time": "Service time",
    "queue": "Queue time",
    "command overhead": "Overhead",
    "overhead": "Overhead",
    "seek": "Seek",
    "settle": "Settle",
    "turnarounds": "Turnaround",
    "rotation": "Rotation",
    "head switch": "Head switch",
    "transfer": "Transfer",
    "bus": "Bus time",
    "retries": "Retry",
    "retry": "Retry",
    "utilisation": "Utilisation",
    "demerit": "Demerit figure",
    "each": "Each (validation)",
    "stall": "Stall",
    "way": "Way",
    "accesses": "Access",
    "flushes": "Flush",
    "promise": "Promise",
    "X, with settle": "X, Y",
    "Y, with turnarounds": "X, Y",
    "confidence": "Confidence interval",
    "warm-up": "",
}
"""Words of the glossary for headings of tables."""


def heading(text: str) -> Text:
    """Return a heading of a table, with a link to its meaning if the glossary has it."""
    term = HEADS.get(text.strip(), "")
    return word(text.strip(), term) if term else text.strip()


def headings(texts: Iterable[str]) -> list[Text]:
    """Return headings of a table."""
    return [heading(text) for text in texts]


def mean_ms(summary: Mapping[str, Any], time: str = "response_time") -> str:
    """Return the mean of a time in ms with no more digits than its interval has."""
    mean = summary[f"{time}_ms"]["mean"]
    found = summary["confidence"].get(f"{time}_ms")
    if mean is None:
        return "-"
    if found is None or found["low"] is None:
        return f"{measured(mean)} ms"
    return f"{rounded(mean, decimals_of((found['high'] - found['low']) / 2))} ms"


def interval_ms(summary: Mapping[str, Any], time: str = "response_time") -> Text:
    """Return the interval of the mean of a time, in words, or say that it has none."""
    found = summary["confidence"][f"{time}_ms"]
    link = word("95 % interval", "Confidence interval")
    if found["low"] is None:
        return Markup("no {}: too few requests").format(link)
    low, high = interval(found["low"], found["high"])
    return Markup("{} {} to {} ms").format(link, low, high)


def largest_cause(summary: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the cause that makes up most of the response times, and its share."""
    total = summary["response_time_ms"]["mean"]
    if not total:
        return None
    means = {cause: summary[f"{cause}_ms"]["mean"] or 0.0 for cause in CAUSES}
    most = max(means, key=lambda cause: means[cause])
    return most, means[most] / total


def cause_link(cause: str) -> Markup:
    """Return a cause as it is called in a sentence, with its meaning."""
    return word(*CAUSES[cause])


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


def warning(text: str, who: str = "") -> Text:
    """Return a caution as a warning; ``who`` is what it is of."""
    what, colon, why = text.partition(": ")
    said = f"{who}: {what}" if who else f"{what[:1].upper()}{what[1:]}"
    return Markup("<strong>{}</strong>{}{}.").format(said, colon, why)


def cell(value: object) -> str:
    """Write a value of a table."""
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
