"""Tables for notebooks: what ``_repr_html_`` of devices, loads, runs and others returns.

They have no colours of their own, so that they are read in light and dark notebooks alike.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sledsim import _number_text as number_text
from sledsim._number_text import (
    decimals_of,
    half_width,
    interval,
    part,
    percent,
    response_decimals,
    rounded,
    size,
)
from sledsim.results import busy_parts, cautions
from sledsim.results.causes import CAUSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledsim._load import Load
    from sledsim.comparison import Comparison
    from sledsim.hardware import Device
    from sledsim.simulation import Run
    from sledsim.studies.study import Study
    from sledsim.validation import Validation

NONE = "\u2013"
"""Stands where there is no value."""
_MOST_ROWS = 20
"""Points of a study that are shown."""
_MOST_RESULTS = 4
_RESULTS = ("response_time_ms.mean", "response_time_ms.p99", "throughput_iops", "energy_j.total")
_CAPTION = ' style="text-align:left;white-space:nowrap"'
_LEFT = ' style="text-align:left;padding:.2em .6em"'
_RIGHT = ' style="text-align:right;padding:.2em .6em"'
_NUMBER = ' style="text-align:right;padding:.2em .6em;white-space:nowrap"'


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    texts: Sequence[int] = (0,),
) -> str:
    """Return a table.

    Parameters
    ----------
    head
        Heads of the columns; none for a table without.
    rows
        Cells, as text.
    caption
        What stands above it.
    texts
        The columns that are not of numbers.
    """

    def row(cells: Sequence[str], kind: str) -> str:
        right = _NUMBER if kind == "td" else _RIGHT
        written = (
            f"<{kind}{_LEFT if column in texts else right}>{escape(cell)}</{kind}>"
            for column, cell in enumerate(cells)
        )
        return f"<tr>{''.join(written)}</tr>"

    lines = ["<table>"]
    if caption:
        lines.append(f"<caption{_CAPTION}><b>{escape(caption)}</b></caption>")
    if head:
        lines.append(f"<thead>{row(head, 'th')}</thead>")
    lines += ["<tbody>", *(row(cells, "td") for cells in rows), "</tbody></table>"]
    return "\n".join(lines)


def run(run: Run) -> str:
    """Return a run: its times with the interval of the mean, rates, causes and cautions."""
    summary = run.summary
    device, scheduler = run.to_dict()["device"], run.to_dict()["scheduler"]
    load = run.workload.get("preset", run.workload["workload"])
    count = number(summary["requests"])
    times = summary["response_time_ms"]
    rows = [["mean response time", mean(summary, "ms")]]
    for share, most in (("50 %", times["p50"]), ("99 %", times["p99"]), ("99.9 %", times["p99_9"])):
        rows.append([f"{share} took at most", f"{measured(most)} ms"])
    rows.append(["the longest", f"{measured(times['max'])} ms"])
    rate, data = measured(summary["throughput_iops"]), measured(summary["throughput_mb_s"])
    rows.append(["throughput", f"{rate} requests/s, {data} MB/s"])
    if summary["utilisation"] is not None:
        rows.append(
            ["busy", busy_parts.busiest(summary["utilisation"], summary["busiest"], device)]
        )
    energy, reason = summary["energy_j"], busy_parts.unknown_energy([summary])
    rows.append(["energy", f"{number(energy['total'])} J" if energy is not None else str(reason)])
    caption = f"{count} requests of {load} on {device}, {scheduler}"
    return together(
        table((), rows, caption, (0, 1)), _causes({"": summary}), *notes({"": run.cautions})
    )


def comparison(comparison: Comparison) -> str:
    """Return a comparison: a row for each run, means by cause, and cautions."""
    head = ["", "", "mean response time, ms", "50 %, ms", "99 %, ms", "longest, ms"]
    head += ["requests/s", "busy", "mJ each", "speed-up"]
    summaries = {line["label"]: line["summary"] for line in comparison.to_dict()["runs"]}
    rows = []
    for line in comparison.table:
        label = line["label"]
        rows.append(
            [
                label,
                cautions.mark(comparison.cautions[label]),
                mean(summaries[label]),
                *(measured(line[key]) for key in ("p50_ms", "p99_ms", "max_ms", "throughput_iops")),
                busy_parts.busiest(line["utilisation"], line["busiest"], line["device"]),
                number(line["energy_mj_per_request"]),
                _speed_up(line),
            ]
        )
    return together(
        table(head, rows, "the same load on each", (0, 1)),
        _causes(summaries),
        *notes(comparison.cautions),
        *(
            [_paragraph(f"energy {reason}")]
            if (reason := busy_parts.unknown_energy(summaries.values()))
            else []
        ),
    )


def device(device: Device) -> str:
    """Return a device: what it is, what follows from its parameters, and these, to be opened."""
    spec = device.spec
    parameters = spec["parameters"]
    title = parameters.get("title", {"value": ""})["value"]
    kind = parameters.get("kind", {"value": NONE})["value"]
    rows = [["capacity", f"{size(512 * device.blocks)}, {number(device.blocks)} blocks"]]
    rows += [["kind", str(kind)]]
    rows += [
        [key, number(value)]
        for key, value in spec["derived"].items()
        if key not in {"blocks", "capacity_bytes"}
    ]
    listed = [
        [key, _value(entry["value"]), entry["source"] or ""]
        for key, entry in parameters.items()
        if key not in {"title", "kind"}
    ]
    inner = table(["parameter", "value", "source"], listed, texts=(0, 2))
    summary = f"<summary>{number(len(listed))} parameters and their sources</summary>"
    caption = f"{device.name}: {title}" if title else device.name
    return together(table((), rows, caption, (0, 1)), f"<details>{summary}\n{inner}\n</details>")


def load(load: Load) -> str:
    """Return a load: the keys that were given; the others have their defaults."""
    import tomllib  # only notebooks need it

    from sledsim.hardware import dotted_keys  # only notebooks need it

    keys = dict(dotted_keys(tomllib.loads(load._core.canonical())))
    rows = [[key, _value(value)] for key, value in keys.items()]
    return together(table((), rows, f"load {load.name}", (0, 1)))


def study(study: Study) -> str:
    """Return a study: means of the first points over the keys that vary."""
    means = study.means_table()
    names = means.names()
    known = [name for name in names if f"{name}.low" in names and name != "seconds"]
    results = [name for name in _RESULTS if name in known] or known[:_MOST_RESULTS]
    columns = {name: means.column(name) or [] for name in (*study.varied, *results, "error")}
    ends = {
        name: (means.column(f"{name}.low") or [], means.column(f"{name}.high") or [])
        for name in results
    }
    rows = []
    for at in range(min(len(means), _MOST_ROWS)):
        cells = [_value(columns[key][at]) for key in study.varied]
        for name in results:
            width = half_width(*(end[at] for end in ends[name]))
            value = columns[name][at]
            cells.append(NONE if value is None else number_text.mean(value, width))
        rows.append([*cells, columns["error"][at] or ""])
    failed = any(row[-1] for row in rows)
    head = [*study.varied, *results, "error"]
    if not failed:
        head, rows = head[:-1], [row[:-1] for row in rows]
    more = len(means) - len(rows)
    notes = [f"and {number(more)} more points: study.means has all"] if more else []
    codes = [code for code in dict.fromkeys(means.column("caution") or []) if code]
    notes += [f"{cautions.UNRELIABLE} cautions: {'; '.join(codes)}"] if codes else []
    texts = [*range(len(study.varied)), *([len(head) - 1] if failed else [])]
    caption = f"{number(len(study))} runs at {number(len(means))} points, means"
    return together(table(head, rows, caption, texts), *map(_paragraph, notes))


def validation(validation: Validation) -> str:
    """Return a validation: measured and simulated means, and demerit figures."""
    document = validation.to_dict()
    rows = []
    for kind, name in (("read", "reads"), ("write", "writes"), ("all", "all")):
        if not document["requests"][kind]:
            continue
        both = document["measured_ms"][kind], document["simulated_ms"][kind]
        share = validation.demerit_percent[kind]
        rows.append(
            [
                name,
                number(document["requests"][kind]),
                *(measured(of[key]) for key in ("mean", "p99") for of in both),
                measured(validation.demerit_ms[kind]),
                NONE if share is None else percent(share / 100),
            ]
        )
    head = ["", "requests", "mean, ms: measured", "simulated"]
    head += ["99 %, ms: measured", "simulated", "demerit, ms", "of the mean"]
    share = validation.class_weighted_percent
    note = f"class-weighted demerit: {measured(validation.class_weighted_ms)} ms"
    note += "" if share is None else f" ({percent(share / 100)})"
    caption = f"measured times and those of {document['device']}"
    return together(table(head, rows, caption), _paragraph(note), *notes({"": validation.cautions}))


def number(value: float | None) -> str:
    """Write a number with four digits; a dash for none."""
    return NONE if value is None else number_text.number(value)


def measured(value: float | None) -> str:
    """Write a value that has no interval with three digits; a dash for none."""
    return NONE if value is None else number_text.measured(value)


def mean(summary: Mapping[str, Any], unit: str = "") -> str:
    """Write the mean response time with its interval: ``1.24 (1.19 to 1.29)``."""
    value = summary["response_time_ms"]["mean"]
    told = summary["confidence"]["response_time_ms"]
    behind = f" {unit}" if unit else ""
    if value is None or told["low"] is None:
        return f"{measured(value)}{behind}"
    ends = " to ".join(interval(told["low"], told["high"]))
    return f"{rounded(value, decimals_of((told['high'] - told['low']) / 2))}{behind} ({ends})"


def _causes(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the means by cause, a row for each summary."""
    means = {
        label: {cause: summary[f"{cause}_ms"]["mean"] for cause in CAUSES}
        for label, summary in summaries.items()
    }
    shown = [cause for cause in CAUSES if any(of[cause] for of in means.values())]
    if not shown:
        return ""
    rows = []
    for label, of in means.items():
        decimals = response_decimals(summaries[label])
        rows.append([label, *(NONE if of[c] is None else part(of[c], decimals) for c in shown)])
    head = ["mean, ms, by cause", *(cause.replace("_", " ") for cause in shown)]
    return table(head, rows)


def _speed_up(line: Mapping[str, Any]) -> str:
    ratio, low, high = (line[key] for key in ("speed_up", "speed_up_low", "speed_up_high"))
    if ratio is None:
        return f"{NONE} ({line['no_speed_up']})" if line["no_speed_up"] else NONE
    if low is None or low == high:
        return number(ratio)
    return f"{rounded(ratio, decimals_of((high - low) / 2))} ({' to '.join(interval(low, high))})"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def notes(by_label: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return a paragraph for each caution."""
    return [_paragraph(line) for line in cautions.lines(by_label)]


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def together(*parts: str) -> str:
    """Put parts into one box."""
    return "\n".join(['<div style="overflow-x:auto">', *filter(None, parts), "</div>"])
