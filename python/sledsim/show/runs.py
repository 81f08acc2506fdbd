"""What is shown of a run."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from sledsim import _number_text as number_text
from sledsim._number_text import measured, number, part, percent, response_decimals, size
from sledsim.results import busy_parts
from sledsim.show import loads
from sledsim.show.text_tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KINDS = (
    # key of the summary without its unit, depth, label
    ("response_time", 0, "response time"),
    ("overhead", 1, "command overhead"),
    ("queue", 1, "queue"),
    ("seek", 1, "seek"),
    ("x_seek", 2, "X, with settle"),
    ("settle", 3, "settle"),
    ("y_seek", 2, "Y, with turnarounds"),
    ("turnaround", 3, "turnarounds"),
    ("rotation", 1, "rotation"),
    ("head_switch", 1, "head switch"),
    ("transfer", 1, "transfer"),
    ("bus", 1, "bus"),
    ("retry", 1, "retries"),
    ("other", 1, "other"),
    ("service_time", 0, "service time"),
)
STATISTICS = ("mean", "sd", "p50", "p90", "p99", "p99_9", "p99_99", "max")
_CAUSES_ALWAYS = {"seek", "transfer", "idle", "total"}
ALWAYS = {"response_time", "queue", "seek", "transfer", "service_time"}


def paragraphs(document: dict[str, Any]) -> Iterator[str]:
    """Write a run as text, paragraph by paragraph."""
    summary = document["summary"]
    # The facts below have the cautions of intervals and of requests.
    for one in document["caution"]:
        if one["code"] in {"failed", "saturated", "overloaded", "seeds", "cuts"}:
            text = f"{one['code'].upper()}: {one['text']}."
            yield textwrap.fill(text, 90, break_on_hyphens=False)
    yield table(list(facts(document)), "<<")
    yield _times(summary)
    yield table([list(busy_parts.HEADS), *busy_parts.rows(summary)], "<>>>")
    yield _energy(summary)


def _array(counts: dict[str, int]) -> str:
    """Describe the losses of an array whose children failed."""
    failed = counts["failed_children"]
    said = "1 child failed" if failed == 1 else f"{number(failed)} children failed"
    if counts["rebuilt_blocks"]:
        rebuilt = size(512 * counts["rebuilt_blocks"])
        said += f", {rebuilt} rebuilt"
        if counts["rebuild_ns"]:
            said += f" in {number(counts['rebuild_ns'] / 1e9)} s"
    if counts["lost"]:
        return f"{said}; LOST: {number(counts['lost_blocks'])} blocks are gone for good"
    return f"{said}; nothing is lost"


def facts(document: dict[str, Any]) -> Iterator[list[str]]:
    """Describe a run, line by line: a name and a text."""
    summary = document["summary"]
    moved = 512 * (summary["blocks_read"] + summary["blocks_written"])
    yield ["device", f"{document['device']}, scheduler {document['scheduler']}"]
    if document["layout"]["name"] != "simple":
        keys = (f"{key} {value}" for key, value in document["layout"].items() if key != "name")
        yield ["layout", ", ".join([document["layout"]["name"], *keys])]
    yield from loads.facts(document)
    reads, writes = number(summary["reads"]), number(summary["writes"])
    count = number(summary["requests"])
    yield ["requests", f"{count}: {reads} reads, {writes} writes, {size(moved)}"]
    if warm_up := summary["warm_up"]:
        cut, until = number(warm_up["requests"]), number(warm_up["until_s"])
        yield ["warm-up", f"{cut} more requests, until {until} s, are not counted"]
    if summary["errors"]:
        yield ["errors", f"{number(summary['errors'])} requests could not be served"]
    for each in summary["devices"]:
        if each["counts"].get("failed_children"):
            yield [f"array {each['name']}", _array(each["counts"])]
    yield ["duration", f"{number(summary['duration_s'])} s, simulated"]
    rate, data = summary["throughput_iops"], summary["throughput_mb_s"]
    yield ["throughput", f"{measured(rate)} requests/s, {measured(data)} MB/s"]
    if summary["utilisation"] is not None:
        busy = busy_parts.busiest(summary["utilisation"], summary["busiest"], document["device"])
        yield ["busy", busy]
    depth, most = summary["mean_queue_depth"], summary["max_queue_depth"]
    inside = measured(summary["mean_outstanding"])
    found = f"{measured(depth)} others on arrival in the mean, at most {number(most)}"
    yield ["queue", f"{inside} requests in the device on average; {found}"]
    if wait := summary["longest_wait"]:
        yield ["longest wait", _longest_wait(wait, summary["queue_ms"]["p99_99"])]
    for task in summary["background"]:
        yield [f"background {task['task']}", _background(task)]
    yield ["confidence", _confidence(summary)]
    if precision := summary["precision"]:
        reached = "not reached" if precision["missed"] else "reached"
        why = f": {precision['missed']}" if precision["missed"] else ""
        yield ["precision", f"{percent(precision['target'])} {reached}{why}"]


def _background(task: dict[str, Any]) -> str:
    blocks, done, percents = task["blocks"], task["done_blocks"], task["percent"]
    ways = [
        ("with free tips", task["free_blocks"]),
        ("with the load", task["foreground_blocks"]),
        ("in passes of its own", task["active_blocks"]),
    ]
    how = ", ".join(f"{number(count)} {way}" for way, count in ways if count)
    reached = [k for k in (50, 95, 100) if percents["time_s"][k] is not None]
    when = ", ".join(f"{k} % after {number(percents['time_s'][k])} s" for k in reached)
    return "; ".join(filter(None, [f"{number(done)} of {number(blocks)} blocks: {how}", when]))


def _longest_wait(wait: dict[str, Any], usual: float) -> str:
    where = f" with seed {wait['seed']}" if wait["seed"] is not None else ""
    return (
        f"{measured(wait['queue_ms'])} ms in the queue: request {wait['id']}{where}, "
        f"{wait['op']} of LBN {wait['lbn']}, arrived at {number(wait['arrival_s'])} s; "
        f"99.99 % waited at most {measured(usual)} ms"
    )


def _confidence(summary: dict[str, Any]) -> str:
    interval = summary["confidence"]["response_time_ms"]
    if interval["low"] is None:
        return "too few requests to tell how certain the means are"
    low, high = number_text.interval(interval["low"], interval["high"])
    share, batches = interval["half_width_share"], interval["batches"]
    of = {
        "batch_means": f"batches of {number(interval['batch_requests'])}",
        "replications": "seeds",
        "strata": "batches of all parts",
    }[summary["confidence"]["method"]]
    width = "" if share is None else f" (± {percent(share)})"
    warning = f"; NOT TO BE RELIED ON: {interval['caution']}" if interval["caution"] else ""
    level = f"{summary['confidence']['level']:.0%}"
    return f"mean response time {low} to {high} ms{width} at {level}, from {batches} {of}{warning}"


def _times(summary: dict[str, Any]) -> str:
    heads = [name.replace("_", ".") for name in STATISTICS]
    rows = [["time in ms", *heads]]
    rows += [["  " * depth + name, *cells] for name, depth, cells in times_rows(summary)]
    return table(rows, "<" + ">" * len(heads))


def times_rows(summary: Mapping[str, Any]) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the name of each time, how deep it is a part of others, and its statistics."""
    decimals = response_decimals(summary)
    for key, depth, name in KINDS:
        times = summary[f"{key}_ms"]
        if times["max"] or key in ALWAYS:
            others = (measured(times[each]) for each in STATISTICS[1:])
            yield name, depth, [part(times["mean"], decimals), *others]


def _energy(summary: dict[str, Any]) -> str:
    energy = summary["energy_j"]
    if energy is None:
        return f"energy {busy_parts.unknown_energy([summary])}"
    total = energy["total"]
    rows = [["energy in J", "", ""]]
    for cause, joules in energy.items():
        if not joules and cause not in _CAUSES_ALWAYS:
            continue
        share = f"{joules / total:.1%}" if total else ""
        rows.append([f"  {cause.replace('_', ' ')}", number(joules), share])
    return table(rows, "<>>")
