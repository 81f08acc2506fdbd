"""What is shown of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledsim._number_text import (
    decimals_of,
    half_width,
    interval,
    mean,
    measured,
    number,
    part,
    percent,
    response_decimals,
    rounded,
)
from sledsim.results import cautions
from sledsim.results.causes import CAUSES
from sledsim.results.pairs import STATISTICS
from sledsim.show import loads
from sledsim.show.sheet import Sentence, Sheet, Table, Word
from sledsim.show.sheet import facts as facts_table
from sledsim.show.words import (
    busiest,
    cause,
    cause_head,
    interval_ms,
    largest_cause,
    listed,
    load_name,
    mean_ms,
    percentile,
    unknown_energy,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.comparison import Comparison


def sheet(comparison: Comparison) -> Sheet:
    """Describe a comparison."""
    document = comparison.to_dict()
    runs = document["runs"]
    facts = list(loads.facts(runs[0]))
    if runs[0]["workload"]["workload"] != "trace":
        facts.append(["LBNs", document["lbns"]])
    return Sheet(
        title=f"{listed(comparison.labels)} under {load_name(runs[0]['workload'])}",
        lead=list(_lead(comparison)),
        facts=facts_table(facts, "The load of all runs", wrapped=True),
        tables=[_runs(comparison), *_pairs(comparison), _causes(runs)],
        cautions=comparison.cautions,
    )


def _lead(comparison: Comparison) -> Iterator[Sentence | str]:
    lines = [line for line in comparison.table.to_dicts() if line["mean_ms"] is not None]
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
        yield from _on_trace(comparison)
        return
    first = sound[0]
    if len(sound) == 1:
        label = first["label"]
        yield Sentence(
            "{} takes {} ms in the mean ({}){}.",
            label,
            mean_ms(summaries[label]).removesuffix(" ms"),
            interval_ms(summaries[label]),
            "; of the others no mean is to be relied on" if len(lines) > 1 else "",
        )
    else:
        yield _fastest(first, sound[1], sound[-1], summaries)
        if len(sound) > 2:
            yield _others(sound, summaries)
    yield from _on_trace(comparison)
    yield _dominant([line["label"] for line in sound], summaries)


def _on_trace(comparison: Comparison) -> Iterator[str]:
    """Say the ratios of means on a trace, which hold without intervals."""
    if comparison.on_trace:
        yield f"{comparison.on_trace}."


def _fastest(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    last: Mapping[str, Any],
    summaries: Mapping[str, Any],
) -> Sentence:
    """Say which is the fastest and by how much, against the second and the last."""
    label = first["label"]
    mean, spread = mean_ms(summaries[label]), interval_ms(summaries[label])
    response = Word("response time", "Response time")
    if not _apart(first, second):
        return Sentence(
            "{} has the shortest mean {}, {} ({}), but {} cannot be told apart from it: their"
            " intervals overlap.",
            label,
            response,
            mean,
            spread,
            second["label"],
        )
    than = f"that of {second['label']} is {_times(second, first)} as long"
    if second is not last:
        than += f", that of {last['label']}, the slowest, {_times(last, first)}"
    return Sentence(
        "{} is the fastest: its mean {} is {} ({}); {}.", label, response, mean, spread, than
    )


def _others(sound: list[dict[str, Any]], summaries: Mapping[str, Any]) -> str:
    rest = [f"{mean_ms(summaries[each['label']])} on {each['label']}" for each in sound[1:]]
    return f"A request takes {listed(rest)} in the mean."


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


def _dominant(labels: list[str], summaries: Mapping[str, Any]) -> Sentence:
    """Say what takes most of the time on which device."""
    by_cause: dict[str, list[str]] = {}
    for label in labels:
        if (found := largest_cause(summaries[label])) is not None:
            by_cause.setdefault(found[0], []).append(f"{label} ({100 * found[1]:.0f} %)")
    said = [Sentence("{} on {}", cause(name), listed(labels)) for name, labels in by_cause.items()]
    return Sentence(f"Most of the time goes to {', to '.join(['{}'] * len(said))}.", *said)


_HEAD = (
    *("", "", Word("mean, ms", "Response time"), ""),
    *map(percentile, ("p50", "p99", "p99.9", "max")),
    *("per s", Word("busy", "Utilisation"), Word("mJ each", "mJ each")),
    Word("speed-up", "Speed-up"),
)


def _runs(comparison: Comparison) -> Table:
    marks = {label: cautions.mark(found) for label, found in comparison.cautions.items()}
    lines = comparison.table.to_dicts()
    of_trace = any(line["trace_ratio"] or line["no_trace_ratio"] for line in lines)
    rows = []
    for line in lines:
        share = line["mean_half_width_share"]
        width = half_width(line["mean_low_ms"], line["mean_high_ms"])
        half = "" if share is None else f"± {percent(share)}"
        percentiles = [measured(line[key]) for key in ("p50_ms", "p99_ms", "p99_9_ms", "max_ms")]
        rows.append(
            [
                line["label"],
                marks[line["label"]],
                "saturated" if line["saturated"] else mean(line["mean_ms"], width),
                half,
                *percentiles,
                measured(line["throughput_iops"]),
                busiest(line["utilisation"], line["busiest"], line["device"]),
                number(line["energy_mj_per_request"]),
                _speed_up(line),
                *[_trace_ratio(line)] * of_trace,
            ]
        )
    reason = unknown_energy(run.summary for run in comparison.runs)
    return Table(
        [*_HEAD, *[Word("on this trace", "Ratio on this trace")] * of_trace],
        rows,
        "The same load on each",
        left=frozenset({0, 1, 3}),
        marked=frozenset(at for at, row in enumerate(rows) if row[1] == cautions.UNRELIABLE),
        after=[f"energy {reason}"] if reason else [],
        leading=2,
        cautioned=True,
    )


def _speed_up(line: dict[str, Any]) -> str:
    ratio, low, high = (line[key] for key in ("speed_up", "speed_up_low", "speed_up_high"))
    if ratio is None:
        return f"- ({line['no_speed_up']})" if line["no_speed_up"] else "-"
    if low is None or low == high:
        return f"{ratio:.2f}"
    first, last = interval(low, high)
    return f"{rounded(ratio, decimals_of((high - low) / 2))} ({first} to {last})"


def _trace_ratio(line: dict[str, Any]) -> str:
    reason = f" ({line['no_trace_ratio']})" if line["no_trace_ratio"] else ""
    return f"{number(line['trace_ratio'], 3)}{reason}"


def _pairs(comparison: Comparison) -> Iterator[Table]:
    """Return the table of paired differences, if requests were paired."""
    baseline, *others = comparison.to_dict()["runs"]
    if not comparison.has_pairs:
        return
    rows, after = [], []
    for line in others:
        pairs = line["pairs"]
        shares = (pairs[f"{key}_share"] for key in ("faster", "equal"))
        differences = (measured(pairs["difference_ms"][key]) for key in STATISTICS[1:])
        rows.append(
            [line["label"], number(pairs["requests"]), *map(_share, shares), *differences],
        )
        left = {line["label"]: pairs["unpaired"], baseline["label"]: pairs["unpaired_baseline"]}
        without = [f"{number(count)} of {label}" for label, count in left.items() if count]
        if without:
            after.append(f"requests without a pair, {line['label']}: {listed(without)}")
    head = [f"minus {baseline['label']}, ms", Word("pairs", "Paired difference"), "faster", "equal"]
    yield Table(
        [*head, *STATISTICS[1:]],
        rows,
        f"Differences of response time from the same request on {baseline['label']}, in ms",
        after=after,
        leading=1,
    )


def _share(share: float | None) -> str:
    """Write a share, where all and nearly all differ."""
    return "-" if share is None else f"{number(100 * share, 4)} %"


def _causes(runs: list[dict[str, Any]]) -> Table:
    shown = [c for c in CAUSES if any(run["summary"][f"{c}_ms"]["mean"] for run in runs)]
    rows = []
    for line in runs:
        decimals = response_decimals(line["summary"])
        means = (line["summary"][f"{name}_ms"]["mean"] for name in shown)
        rows.append([line["label"], *(part(each, decimals) for each in means)])
    head = ["mean, ms, by cause", *map(cause_head, shown)]
    return Table(head, rows, "Mean response times in ms by cause", leading=1)
