"""``sledsim run``: a load on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim.cli import plots
from sledsim.cli.parser import command, print_json
from sledsim.cli.tables import number, plain, size, table
from sledsim.cli.work import work
from sledsim.devices import Device
from sledsim.loads import Load, trace_path
from sledsim.simulation import simulate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands

_ABOUT = """\
Run a workload or a trace on a device and tell where the time went.

  sledsim run --device g2 --workload random --set rate=500 --set requests=100000
  sledsim run --device g2 --trace sample:postmark-ext4 --requests out.parquet
  sledsim run study.toml --set device.spring_factor=0

What a scenario file says, the options override. After --set, keys of the workload or the trace
stand bare (rate, requests, seed, time_scale, address), those of others with their table
(device.idle, scheduler.name); values are written as in TOML, words without quotes.
"""

KINDS = (
    # key of the summary without its unit, depth, what it is called
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
    ("other", 1, "other (startup)"),
    ("service_time", 0, "service time"),
)
_STATISTICS = ("mean", "sd", "p50", "p90", "p99", "p99_9", "p99_99", "max")
_ALWAYS = {"response_time", "queue", "seek", "transfer", "service_time"}


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "run", _run, _ABOUT)
    parser.add_argument(
        "scenario",
        metavar="SCENARIO.toml",
        nargs="?",
        help="a file with device, scheduler and load",
    )
    parser.add_argument("--device", metavar="DEVICE", help="a preset, or the path of a TOML file")
    parser.add_argument("--scheduler", metavar="NAME", help="who goes next: fcfs (the default)")
    parser.add_argument("--workload", metavar="NAME", help="random (the default)")
    parser.add_argument("--trace", metavar="FILE", help="a trace to replay, or sample:NAME")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="override a key, as in --set rate=500; repeatable",
    )
    parser.add_argument(
        "--requests", metavar="FILE", help="write one row per request to this Parquet file"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the response times and where the time went (.png, .svg or .pdf)",
    )


def _run(options: argparse.Namespace) -> None:
    if options.plot is not None:
        plots.check(options.plot, options.requests)
    trace = None if options.trace is None else trace_path(options.trace)
    core_device, core_load, scheduler = _core.scenario(
        options.scenario, options.device, options.scheduler, options.workload, trace, options.set
    )
    device, load = Device(core_device), Load(core_load, "scenario")
    rows = options.plot is not None if options.requests is None else options.requests
    run = work(lambda beat: simulate(load, device, scheduler, requests=rows, progress=beat))
    if options.plot is not None:
        source = run.requests if options.requests is None else options.requests
        _core.write_atomically(options.plot, plots.draw(run, source, options.plot))
    if options.json:
        print_json(run.document)
        return
    print("\n\n".join(_report(run.document)))
    for file in (options.requests, options.plot):
        if file is not None:
            print(f"\nwritten: {file}")


def _report(document: dict[str, Any]) -> Iterator[str]:
    summary = document["summary"]
    saturated = summary["saturated"]
    if saturated:
        at, queue = number(saturated["at_s"]), number(saturated["queue"])
        yield (
            f"SATURATED: the load outran the device. Given up at {at} s with {queue} requests\n"
            f"waiting; what follows tells of the {number(summary['requests'])} served by then."
        )
    yield table(list(_facts(document)), "<<")
    yield _times(summary)
    yield _energy(summary)


def _facts(document: dict[str, Any]) -> Iterator[list[str]]:
    summary, workload = document["summary"], document["workload"]
    moved = 512 * (summary["blocks_read"] + summary["blocks_written"])
    yield ["device", f"{document['device']}, scheduler {document['scheduler']}"]
    if workload["workload"] == "trace":
        yield ["trace", workload["path"]]
        yield ["", _devices(workload)]
        yield ["addresses", _addresses(workload)]
    else:
        yield ["workload", f"{workload['workload']}, {_sizes(workload)}, seed {workload['seed']}"]
    yield ["arrivals", _arrivals(workload)]
    reads, writes = number(summary["reads"]), number(summary["writes"])
    count = number(summary["requests"])
    yield ["requests", f"{count}: {reads} reads, {writes} writes, {size(moved)}"]
    if summary["errors"]:
        yield ["errors", f"{number(summary['errors'])} requests could not be served"]
    yield ["duration", f"{number(summary['duration_s'])} s, simulated"]
    rate, data = summary["throughput_iops"], summary["throughput_mb_s"]
    yield ["throughput", f"{number(rate)} requests/s, {number(data)} MB/s"]
    if summary["utilisation"] is not None:
        yield ["utilisation", f"{summary['utilisation']:.1%}"]
    depth, most = summary["mean_queue_depth"], summary["max_queue_depth"]
    yield ["queue", f"{number(depth)} others on arrival in the mean, at most {number(most)}"]


def _arrivals(workload: dict[str, Any]) -> str:
    scale = workload.get("time_scale", 1.0)
    faster = "" if scale == 1 else f", {plain(scale)} times as fast"
    if "queue_depth" in workload:
        depth, think = workload["queue_depth"], workload["think_ms"]
        pause = f", each {plain(think)} ms after a completion" if think else ""
        return f"closed, {number(depth)} outstanding{pause}"
    if "rate" in workload:
        return f"open, {plain(workload['rate'])} per s{faster}"
    return f"open, at the times of the trace{faster}"


def _sizes(workload: dict[str, Any]) -> str:
    blocking = workload["blocking"]
    blocked = "" if blocking == 1 else f" in multiples of {blocking} blocks"
    cut = workload["shortened"]
    shortened = f" ({number(cut)} shortened to fit)" if cut else ""
    mean = plain(workload["mean_size_kib"])
    return f"sizes {workload['size']} with mean {mean} KiB{blocked}{shortened}"


def _devices(workload: dict[str, Any]) -> str:
    seen = ", ".join(map(str, workload["devices_seen"]))
    if workload["trace_device"] == "all":
        return f"devices {seen}, as one address space"
    left = workload["other_devices_requests"]
    rest = f"; {number(left)} requests of others left out (seen: {seen})" if left else ""
    return f"device {workload['trace_device']}{rest}"


def _addresses(workload: dict[str, Any]) -> str:
    rule = workload["address"]
    if rule == "error":
        return "unchanged"
    done = {
        "wrap": f"{number(workload['wrapped'])} wrapped around at the end of the device",
        "scale": f"{number(workload['scaled'])} changed to spread the trace over the device",
    }
    moved = workload["moved"]
    fitted = f", {number(moved)} moved down to end within it" if moved else ""
    return f"{rule}: {done[rule]}{fitted}"


def _times(summary: dict[str, Any]) -> str:
    heads = [name.replace("_", ".") for name in _STATISTICS]
    rows = [["time in ms", *heads]]
    for key, depth, name in KINDS:
        times = summary[f"{key}_ms"]
        if times["max"] or key in _ALWAYS:
            cells = ["-" if times[s] is None else f"{times[s]:,.3f}" for s in _STATISTICS]
            rows.append(["  " * depth + name, *cells])
    return table(rows, "<" + ">" * len(heads))


def _energy(summary: dict[str, Any]) -> str:
    energy = summary["energy_j"]
    total = energy["total"]
    rows = [["energy in J", "", ""]]
    for cause, joules in energy.items():
        share = f"{joules / total:.1%}" if total else ""
        rows.append([f"  {cause}", number(joules), share])
    return table(rows, "<>>")
