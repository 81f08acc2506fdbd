"""``sledsim run``: a load on a device."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from sledsim import _core, busy_parts, number_text
from sledsim._core import SledsimError
from sledsim.cli import load_options, plots, reports, volumes
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.cli.text_tables import table
from sledsim.hardware import wrap
from sledsim.load_values import Load
from sledsim.number_text import measured, number, part, percent, response_decimals, size
from sledsim.simulation import Outputs, run_load
from sledsim.trace_files import samples_folder, trace_path

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from sledsim.cli.parser import Commands

_ABOUT = """\
Run a workload or a trace on a device and split its times by cause.

  sledsim run --device g2 --workload random --set rate=500 --set requests=100000
  sledsim run --device g2 --trace sample:postmark-ext4 --rows out.parquet
  sledsim run --device g2 --set rate=500 --precision 1% --seeds 4
  sledsim run study.toml --set device.spring_factor=0
  sledsim run mcd-hplajw-like --set device.segment_kib=8
  sledsim run --device g2 --workload mix --set part.a.kind=zipf --set part.b.rate=100
  sledsim run --device g2 --trace volumes.csv.gz --by-volume --table volumes.csv

Options override the keys of a scenario file. After --set, keys of the workload or the trace
stand bare (rate, requests, seed, time_scale, address), those of others with their table
(device.idle, scheduler.name, layout.columns); values are written as in TOML, words without quotes.
So do warm_up_requests and warm_up_s: how much at the beginning is run but not counted.
"""

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


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "run", _run, _ABOUT)
    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        nargs="?",
        help="a file with device, scheduler and load, or one that comes with sledsim: "
        + ", ".join(_core.names("scenarios")),
    )
    load_options.add_device(parser, required=False)
    load_options.add_background(parser)
    load_options.add_load(parser)
    load_options.add_rows(parser, "one row per request of the host")
    load_options.add_parts(parser)
    parser.add_argument(
        "--series",
        metavar="FILE",
        help="write throughput, outstanding requests and power over time (.csv or .parquet)",
    )
    parser.add_argument(
        "--series-ms",
        metavar="MS",
        type=float,
        help="the length of its windows, and of those of the power in --perfetto; by default "
        "there are at most 1,024",
    )
    parser.add_argument(
        "--perfetto",
        metavar="FILE",
        help="write a trace of the host's requests and their causes for https://ui.perfetto.dev "
        "(.pftrace or .perfetto-trace)",
    )
    load_options.add_precision(parser)
    parser.add_argument(
        "--threads",
        metavar="N",
        type=int,
        help="for several seeds; by default as many as there are processors",
    )
    plots.add(parser, "the response times and where the time went")
    reports.add(parser)
    volumes.add(parser)


def _run(options: argparse.Namespace) -> None:
    rows = load_options.rows(options)
    if volumes.asked(options):
        volumes.refuse_others(options)
    plots.check(options, rows, options.series, options.perfetto)
    reports.check(options, rows, options.series, options.perfetto)
    _check_perfetto(options)
    if options.parts and rows is None and options.perfetto is None:
        raise SledsimError("--parts: needs --rows FILE or --perfetto FILE, where they go")
    trace = None if options.trace is None else trace_path(options.trace)
    core_device, core_load, scheduler = _core.scenario(
        options.scenario,
        options.device,
        options.scheduler,
        options.workload,
        trace,
        load_options.settings(options),
        samples_folder(),
        options.layout,
        options.background,
    )
    device, load = wrap(core_device), Load(core_load, "scenario")
    if volumes.asked(options):
        parts = volumes.run(load, device, scheduler, options)
        _show(parts.to_dict(), [options.table], json=options.json)
        return
    precision = load_options.precision(options)
    run = work(
        lambda beat: run_load(
            load,
            device,
            scheduler,
            Outputs(
                rows=rows if rows is not None else False,
                parts=options.parts,
                series=options.series if options.series is not None else False,
                series_ms=options.series_ms,
                perfetto=options.perfetto,
            ),
            precision=precision,
            seeds=options.seeds,
            threads=options.threads,
            progress=beat,
        )
    )
    plots.write(options, run.plot)
    reports.write(options, run)
    files = [rows, options.series, options.perfetto, options.plot, options.report]
    _show(run.to_dict(), files, json=options.json)


def _check_perfetto(options: argparse.Namespace) -> None:
    """Refuse the file that ``--perfetto`` names, before a long run.

    Raises
    ------
    SledsimError
        For one that is read as the trace, or has another ending.
    """
    file = options.perfetto
    if file is None:
        return
    try:
        _core.check_perfetto_file(file)
        _core.refuse_overwriting(file, [] if options.trace is None else [options.trace])
    except SledsimError as error:
        raise SledsimError(f"--perfetto {error}") from None


def _show(document: dict[str, Any], files: Sequence[str | None], *, json: bool) -> None:
    if json:
        print_json(document)
        return
    print("\n\n".join(_report(document)))
    for file in files:
        if file is not None:
            print(f"\nwritten: {file}")


def _report(document: dict[str, Any]) -> Iterator[str]:
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
    yield from load_options.facts(document)
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
