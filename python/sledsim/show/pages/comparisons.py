"""The report of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sledsim._number_text import decimals_of, interval, number, rounded
from sledsim.results import cautions
from sledsim.show import comparisons as shown
from sledsim.show import loads
from sledsim.show.pages import differences, texts
from sledsim.show.pages.figures import drawn, panel
from sledsim.show.pages.glossary import word
from sledsim.show.pages.parts import Report, Section, Table
from sledsim.show.pages.runs import notes, warnings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.comparison import Comparison
    from sledsim.show.pages.parts import Text


def report(comparison: Comparison) -> Report:
    """Return the report of a comparison."""
    document = comparison.to_dict()
    load = texts.load_name(document["runs"][0]["workload"])
    return Report(
        title=f"{texts.listed(comparison.labels)} under {load}",
        lead=list(_lead(comparison)),
        warnings=list(warnings(comparison.cautions, "")),
        sections=list(_sections(comparison)),
        made_from=_made_from(comparison),
    )


def _lead(comparison: Comparison) -> Iterator[Text]:
    lines = [line for line in comparison.table if line["mean_ms"] is not None]
    unreliable = {
        label
        for label, found in comparison.cautions.items()
        if cautions.codes(found, unreliable=True)
    }
    sound = sorted(
        (line for line in lines if line["label"] not in unreliable),
        key=lambda line: line["mean_ms"],
    )
    summaries = dict(
        zip(comparison.labels, (run.to_dict()["summary"] for run in comparison.runs), strict=True)
    )
    if not sound:
        yield "None of the means is to be relied on, so no device is called the fastest."
        return
    first = sound[0]
    if len(sound) == 1:
        label = first["label"]
        yield Markup("{} takes {} ms in the mean ({}){}.").format(
            label,
            texts.mean_ms(summaries[label]).removesuffix(" ms"),
            texts.interval_ms(summaries[label]),
            "; of the others no mean is to be relied on" if len(lines) > 1 else "",
        )
    else:
        yield _fastest(first, sound[1], sound[-1], summaries)
        if len(sound) > 2:
            yield _others(sound, summaries)
    yield _dominant([line["label"] for line in sound], summaries)


def _fastest(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    last: Mapping[str, Any],
    summaries: Mapping[str, Any],
) -> Text:
    """Say which is the fastest and by how much, against the second and the last."""
    label = first["label"]
    mean, spread = texts.mean_ms(summaries[label]), texts.interval_ms(summaries[label])
    response = word("response time", "Response time")
    if not _apart(first, second):
        return Markup(
            "{} has the shortest mean {}, {} ({}), but {} cannot be told apart from it: their"
            " intervals overlap."
        ).format(label, response, mean, spread, second["label"])
    than = f"that of {second['label']} is {_times(second, first)} as long"
    if second is not last:
        than += f", that of {last['label']}, the slowest, {_times(last, first)}"
    return Markup("{} is the fastest: its mean {} is {} ({}); {}.").format(
        label, response, mean, spread, than
    )


def _others(sound: list[dict[str, Any]], summaries: Mapping[str, Any]) -> Text:
    rest = [f"{texts.mean_ms(summaries[each['label']])} on {each['label']}" for each in sound[1:]]
    return f"A request takes {texts.listed(rest)} in the mean."


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the intervals of two means do not overlap."""
    if one["mean_high_ms"] is None or other["mean_low_ms"] is None:
        return bool(one["mean_ms"] != other["mean_ms"])
    return bool(one["mean_high_ms"] < other["mean_low_ms"])


def _times(slow: Mapping[str, Any], fast: Mapping[str, Any]) -> str:
    """Return how many times as long the mean of one is, with its interval if there is one."""
    ratio = slow["mean_ms"] / fast["mean_ms"]
    shares = (slow["mean_half_width_share"], fast["mean_half_width_share"])
    if None in shares or max(shares) >= 1:
        return f"{number(ratio, 3)} times"
    spread = math.exp(math.hypot(*shares))  # as for speed-ups
    ends = ratio / spread, ratio * spread
    low, high = interval(*ends)
    if low == high:
        return f"{number(ratio, 3)} times"
    return f"{rounded(ratio, decimals_of((ends[1] - ends[0]) / 2))} times ({low} to {high})"


def _dominant(labels: list[str], summaries: Mapping[str, Any]) -> Text:
    """Say what takes most of the time on which device."""
    by_cause: dict[str, list[str]] = {}
    for label in labels:
        if (found := texts.largest_cause(summaries[label])) is not None:
            by_cause.setdefault(found[0], []).append(f"{label} ({100 * found[1]:.0f} %)")
    said = [
        Markup("{} on {}").format(texts.cause_link(cause), texts.listed(names))
        for cause, names in by_cause.items()
    ]
    return Markup("Most of the time goes to {}.").format(Markup(", to ").join(said))


def _sections(comparison: Comparison) -> Iterator[Section]:
    document = comparison.to_dict()
    means = "; ".join(
        f"{line['label']} {number(line['mean_ms'], 3)} ms"
        for line in comparison.table
        if line["mean_ms"] is not None
    )
    yield Section(
        "Where the time goes",
        [
            drawn(
                "cdf",
                comparison,
                size=panel(comparison.cautions),
                caption="How many requests took no longer than a time. Lines further to the left"
                " are faster.",
                alt=f"Distributions of response times; means: {means}.",
            ),
            drawn(
                "causes",
                comparison,
                size=panel(comparison.cautions, 0.25 * len(comparison.runs)),
                caption="What the mean response times are made of.",
                alt=f"Mean response times by cause: {means}.",
            ),
        ],
    )
    yield from notes(comparison.cautions)
    marks = {label: cautions.mark(found) for label, found in comparison.cautions.items()}
    head, *rows = shown.times_rows(comparison.table, marks)
    marked = frozenset(i for i, row in enumerate(rows) if row[1] == cautions.UNRELIABLE)
    causes, *parts = shown.causes_rows(document["runs"])
    yield Section(
        "Numbers",
        [
            Table(
                texts.headings(head),
                rows,
                f"Response times in ms; speed-ups against {document['baseline']}",
                frozenset({0, 1, 3}),
                marked,
            ),
            Table(["", *texts.headings(causes[1:])], parts, "Mean response times in ms by cause"),
        ],
    )
    facts = [[name, text] for name, text in loads.facts(document["runs"][0])]
    about = Table(["", ""], facts, "The load of all runs", frozenset({0, 1}))
    yield Section("What was run", [about])
    devices = {
        label: run.origin.device
        for label, run in zip(comparison.labels, comparison.runs, strict=True)
        if run.origin is not None
    }
    if (changed := differences.between(devices)) is not None:
        yield changed


def _made_from(comparison: Comparison) -> list[tuple[str, str]]:
    made: dict[str, str] = {}
    for label, run in zip(comparison.labels, comparison.runs, strict=True):
        for name, digest in run.made_from():
            key = f"device {run.to_dict()['device']}" if name == "device" else f"{name}, {label}"
            if digest not in made.values():
                made["load" if name == "load" and "load" not in made else key] = digest
    return sorted(made.items(), key=lambda entry: not entry[0].startswith("device"))
