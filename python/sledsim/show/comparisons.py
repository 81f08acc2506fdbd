"""What is shown of a comparison."""

from __future__ import annotations

import textwrap
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
from sledsim.results import busy_parts, cautions
from sledsim.results.causes import CAUSES
from sledsim.show import loads
from sledsim.show.text_tables import WIDTH, stacked_table, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.comparison import Comparison


def paragraphs(comparison: Comparison) -> Iterator[str]:
    """Write a comparison as text, paragraph by paragraph."""
    document = comparison.to_dict()
    facts = list(loads.facts(document["runs"][0]))
    if document["runs"][0]["workload"]["workload"] != "trace":
        facts.append(["LBNs", document["lbns"]])
    yield table(facts, "<<", WIDTH)
    marks = {label: cautions.mark(found) for label, found in comparison.cautions.items()}
    notes = [
        textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        for line in cautions.lines(comparison.cautions)
    ]
    if reason := busy_parts.unknown_energy(line["summary"] for line in document["runs"]):
        notes.append(textwrap.fill(f"energy {reason}", WIDTH, subsequent_indent="  "))
    yield "\n".join([_times(comparison.table, marks), *notes])
    yield _causes(document["runs"])


_HEADS = (
    "",
    "",
    "mean, ms",
    "",
    "p50",
    "p99",
    "p99.9",
    "max",
    "per s",
    "busy",
    "mJ each",
    "speed-up",
)


def _times(lines: list[dict[str, Any]], marks: dict[str, str]) -> str:
    return stacked_table(times_rows(lines, marks), "<<><" + ">" * 8, leading=2)


def times_rows(lines: list[dict[str, Any]], marks: dict[str, str]) -> list[list[str]]:
    """Return the table of times, its head first."""
    rows = [list(_HEADS)]
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
                busy_parts.busiest(line["utilisation"], line["busiest"], line["device"]),
                number(line["energy_mj_per_request"]),
                _speed_up(line),
            ]
        )
    return rows


def _speed_up(line: dict[str, Any]) -> str:
    ratio, low, high = (line[key] for key in ("speed_up", "speed_up_low", "speed_up_high"))
    if ratio is None:
        return f"- ({line['no_speed_up']})" if line["no_speed_up"] else "-"
    if low is None or low == high:
        return f"{ratio:.2f}"
    first, last = interval(low, high)
    return f"{rounded(ratio, decimals_of((high - low) / 2))} ({first} to {last})"


def _causes(runs: list[dict[str, Any]]) -> str:
    rows = causes_rows(runs)
    return stacked_table(rows, "<" + ">" * (len(rows[0]) - 1))


def causes_rows(runs: list[dict[str, Any]]) -> list[list[str]]:
    """Return the table of mean times by cause, its head first."""
    causes = [c for c in CAUSES if any(r["summary"][f"{c}_ms"]["mean"] for r in runs)]
    rows = [["mean, ms, by cause", *(cause.replace("_", " ") for cause in causes)]]
    for line in runs:
        decimals = response_decimals(line["summary"])
        means = (line["summary"][f"{cause}_ms"]["mean"] for cause in causes)
        rows.append([line["label"], *(part(each, decimals) for each in means)])
    return rows
