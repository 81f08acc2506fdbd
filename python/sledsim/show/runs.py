"""What is shown of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _number_text
from sledsim._number_text import measured, number, part, percent, response_decimals, size
from sledsim.show import loads
from sledsim.show.sheet import Sentence, Sheet, Table, Word, indented
from sledsim.show.sheet import facts as facts_table
from sledsim.show.words import (
    BUSY_HEADS,
    busiest,
    busiest_word,
    busy_rows,
    cause,
    interval_ms,
    largest_cause,
    load_name,
    mean_ms,
    percentile,
    unknown_energy,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.simulation import Run

KINDS: tuple[tuple[str, int, str], ...] = (
    # key of the summary without its unit, depth, label
    ("response_time", 0, Word("response time", "Response time")),
    ("overhead", 1, Word("command overhead", "Overhead")),
    ("queue", 1, Word("queue", "Queue time")),
    ("seek", 1, Word("seek", "Seek")),
    ("x_seek", 2, Word("X, with settle", "X, Y")),
    ("settle", 3, Word("settle", "Settle")),
    ("y_seek", 2, Word("Y, with turnarounds", "X, Y")),
    ("turnaround", 3, Word("turnarounds", "Turnaround")),
    ("rotation", 1, Word("rotation", "Rotation")),
    ("head_switch", 1, Word("head switch", "Head switch")),
    ("transfer", 1, Word("transfer", "Transfer")),
    ("bus", 1, Word("bus", "Bus time")),
    ("retry", 1, Word("retries", "Retry")),
    ("other", 1, "other"),
    ("service_time", 0, Word("service time", "Service time")),
)
STATISTICS = ("mean", "sd", "p50", "p90", "p99", "p99_9", "p99_99", "max")
_CAUSES_ALWAYS = {"seek", "transfer", "idle", "total"}
_ALWAYS = {"response_time", "queue", "seek", "transfer", "service_time"}


def sheet(run: Run) -> Sheet:
    """Describe a run."""
    document = run.to_dict()
    summary, device = document["summary"], document["device"]
    energy = _energy(summary)
    reason = unknown_energy([summary])
    return Sheet(
        title=f"{device} under {load_name(document['workload'])}",
        lead=list(_lead(document)),
        facts=facts_table(list(_facts(document)), "The run and its load"),
        tables=[_times(summary), _mechanisms(summary), *energy],
        cautions={device: run.cautions},
        notes=[] if energy else [f"energy {reason}"],
    )


def _lead(document: Mapping[str, Any]) -> Iterator[Sentence]:
    summary, device = document["summary"], document["device"]
    if not summary["requests"]:
        yield Sentence("No request was completed on {}.", device)
        return
    times = summary["response_time_ms"]
    yield Sentence(
        "On {}, a request takes {} from its {} to its completion in the mean ({}). Half of the"
        " requests take at most {} ms, 99 of 100 at most {} ms.",
        device,
        mean_ms(summary),
        Word("arrival", "Response time"),
        interval_ms(summary),
        measured(times["p50"]),
        measured(times["p99"]),
    )
    if (most := largest_cause(summary)) is not None:
        name, share = most
        yield Sentence(
            "The largest part of that time is {}: {} %.{}",
            cause(name),
            f"{100 * share:.0f}",
            busiest_word(summary),
        )


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


def _facts(document: dict[str, Any]) -> Iterator[list[str]]:
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
        busy = busiest(summary["utilisation"], summary["busiest"], document["device"])
        yield [Word("busy", "Utilisation"), busy]
    depth, most = summary["mean_queue_depth"], summary["max_queue_depth"]
    inside = measured(summary["mean_outstanding"])
    found = f"{measured(depth)} others on arrival in the mean, at most {number(most)}"
    yield [Word("queue", "Queue time"), f"{inside} requests in the device on average; {found}"]
    if wait := summary["longest_wait"]:
        yield ["longest wait", _longest_wait(wait, summary["queue_ms"]["p99_99"])]
    for task in summary["background"]:
        yield [f"background {task['task']}", _background(task)]
    yield [Word("confidence", "Confidence interval"), _confidence(summary)]
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
    low, high = _number_text.interval(interval["low"], interval["high"])
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


def shown_times(summary: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    """Return those of :data:`KINDS` that a run has, and those that go with every run."""
    return [each for each in KINDS if summary[f"{each[0]}_ms"]["max"] or each[0] in _ALWAYS]


def _times(summary: Mapping[str, Any]) -> Table:
    heads = [percentile(name.replace("_", ".")) for name in STATISTICS]
    decimals = response_decimals(summary)
    rows = []
    for key, depth, name in shown_times(summary):
        times = summary[f"{key}_ms"]
        others = (measured(times[each]) for each in STATISTICS[1:])
        rows.append([indented(name, depth), part(times["mean"], decimals), *others])
    about = "Times of the requests in ms; indented, what they are made of"
    return Table(["time in ms", *heads], rows, about)


def _mechanisms(summary: Mapping[str, Any]) -> Table:
    first, busy, *others = BUSY_HEADS
    head = [first, Word(busy, "Utilisation"), *others]
    return Table(head, busy_rows(summary), "Shares of the time in which the parts worked")


def _energy(summary: Mapping[str, Any]) -> list[Table]:
    energy = summary["energy_j"]
    if energy is None:
        return []
    total, rows = energy["total"], []
    for name, joules in energy.items():
        if joules or name in _CAUSES_ALWAYS:
            share = f"{joules / total:.1%}" if total else ""
            rows.append([f"  {name.replace('_', ' ')}", number(joules), share])
    about = "Energy of the whole run by what it was spent on"
    return [Table(["energy in J", "", ""], rows, about)]
