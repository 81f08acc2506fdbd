"""``sledsim trace``: what is in a trace or a cache of it, conversions, workloads as traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError
from sledsim.cli import hits, loads, plots, trace_plots
from sledsim.cli.parser import command, print_json
from sledsim.cli.tables import number, plain, size, table
from sledsim.cli.work import work
from sledsim.devices import Device, of_core
from sledsim.loads import (
    SAMPLE,
    Load,
    convert_trace,
    generate_trace,
    sample_traces,
    trace_info,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands, Parser

_ABOUT = """\
Tell what is in a trace or a cache of it, convert it, write a workload as one, or list the samples.

Plain or compressed (gzip, zstd, xz, bzip2); the format is recognised by the content.
"""

_INFO = """\
Read a whole trace and tell what is in it: rates and bursts, sizes, footprint, sequentiality, reuse.

  sledsim trace info sample:postmark-ext4
  sledsim trace info big.trace.gz --quick
  sledsim trace info sample:postmark-ext4 --plot trace.png
"""

_CONVERT = """\
Write traces in another format: merged, cut, sampled, scaled.

  sledsim trace convert a.trace.gz b.trace.gz -o both.trace
  sledsim trace convert big.trace -o hour.trace --from 3600 --until 7200 --rebase
  sledsim trace convert big.trace -o tenth.trace --sample 0.1

Several traces are merged by time: those that count from the start of their recording start
together, those with the calendar keep their distances. Their devices are numbered anew, from 0 in
the order of their first requests, and the report tells which is which.

What is asked for is done in this order: sort, device, from and until, every or sample, requests,
rebase, time scale, widen.
"""

_GENERATE = """\
Write a generated workload as a trace.

  sledsim trace generate --workload random --set rate=500 --blocks 6750000 -o random.trace
  sledsim trace generate --workload random --set queue_depth=4 --device g2 -o closed.trace

An open load needs only to know how many blocks there are. The requests of a closed one wait for
completions, so it is simulated on --device and written with the arrivals that happened.
"""

_DEVICES = 20  # listed in text; --json has all


def add(commands: Commands) -> None:
    """Add the command."""
    actions = command(commands, "trace", _list, _ABOUT).add_commands()
    command(actions, "list", _list, "List the sample traces (the default).")
    info = command(actions, "info", _info, _INFO)
    info.add_argument("file", metavar="FILE", help="path of a trace, sample:NAME, or -")
    _add_reading(info)
    info.add_argument(
        "--quick", action="store_true", help="leave out footprint and reuse, which take most time"
    )
    info.add_argument(
        "--interleave",
        metavar="BLOCKS",
        type=int,
        help="count as sequential also what leaves out exactly so many blocks",
    )
    info.add_argument(
        "--max-units",
        metavar="N",
        type=int,
        help="distinct units of 4 KiB to follow; of larger traces a sample (default: 262144)",
    )
    info.add_argument(
        "--plot", metavar="FILE", help="draw what is in the trace (.png, .svg or .pdf)"
    )
    _add_reading(hits.add(actions))
    _add_convert(command(actions, "convert", _convert, _CONVERT))
    _add_generate(command(actions, "generate", _generate, _GENERATE))


def _add_reading(parser: Parser) -> None:
    parser.add_argument(
        "--format", metavar="NAME", help="how to read it, if its content does not tell"
    )
    parser.add_argument(
        "--columns", metavar="MAP", help="which column is what, where the format leaves it open"
    )
    parser.add_argument(
        "--sort",
        metavar="MS",
        type=float,
        help="put requests in order that are late by up to so many ms",
    )
    loads.add_repairs(parser)


def _add_output(parser: Parser) -> None:
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the file to write")
    parser.add_argument("--to", metavar="FORMAT", help="its format (default: by its ending)")


def _add_convert(parser: Parser) -> None:
    parser.add_argument("files", metavar="IN", nargs="+", help="paths of traces, sample:NAME, or -")
    _add_output(parser)
    _add_reading(parser)
    parser.add_argument(
        "--device",
        metavar="D",
        action="append",
        default=[],
        help="take only this device, by its number or name; repeatable",
    )
    for flag, kind, metavar, what in (
        ("--from", float, "S", "take requests from this time on"),
        ("--until", float, "S", "take requests before this time"),
        ("--requests", int, "N", "take the first so many"),
        ("--every", int, "N", "take the first request and every N-th after it"),
        ("--sample", float, "SHARE", "take a share of the places, so that reuse stays"),
        ("--seed", int, "N", "of another such choice of places (default: 1)"),
        ("--time-scale", float, "X", "divide the times (default: 1)"),
    ):
        parser.add_argument(flag, metavar=metavar, type=kind, help=what)
    for flag, what in (
        ("--rebase", "make the first request taken time zero"),
        ("--widen", "take in the whole of every block of 512 bytes that is touched"),
        ("--keep-devices", "keep the device numbers of several traces, even if they collide"),
    ):
        parser.add_argument(flag, action="store_true", help=what)


def _add_generate(parser: Parser) -> None:
    parser.add_argument("--workload", metavar="NAME", required=True, help="as in sledsim run")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a key of the workload, as in --set rate=500; repeatable",
    )
    _add_output(parser)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--device", metavar="DEVICE", help="a preset, or the path of a TOML file")
    place.add_argument("--blocks", metavar="N", type=int, help="so many blocks, without a device")
    parser.add_argument("--scheduler", metavar="NAME", help="for closed loads (default: fcfs)")


def _list(options: argparse.Namespace) -> None:
    samples = {SAMPLE + name: about for name, about in sample_traces().items()}
    if options.json:
        # Its date is none of JSON's types.
        print_json(
            {
                "samples": {
                    name: about | {"date": str(about["date"])} for name, about in samples.items()
                }
            }
        )
        return
    rows = [["trace", "requests", "duration", "title"]]
    for name, about in samples.items():
        figures = about["figures"]
        duration = f"{number(figures['duration_s'])} s"
        rows.append([name, number(figures["requests"]), duration, about["title"]])
    print(table(rows, "<>><"))


def _reading(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "format": options.format,
        "columns": options.columns,
        "sort_ms": options.sort,
        "blk_action": options.blk_action,
        "drop_glitches": options.drop_glitches,
    }


def _info(options: argparse.Namespace) -> None:
    for flag, value in (("--interleave", options.interleave), ("--max-units", options.max_units)):
        _whole(flag, value, 1)
    if options.plot is not None:
        plots.check(options.plot)
    info = work(
        lambda beat: trace_info(
            options.file,
            **_reading(options),
            quick=options.quick,
            interleave_blocks=options.interleave,
            max_units=options.max_units,
            picture=options.plot is not None,
            progress=beat,
        )
    )
    if options.plot is not None:
        _core.write_atomically(options.plot, trace_plots.draw(info, options.plot))
        for key in trace_plots.KEYS:
            del info[key]
    if options.json:
        print_json(info)
        return
    print("\n\n".join(_report(info)))
    if options.plot is not None:
        print(f"\nwritten: {options.plot}")


def _report(info: dict[str, Any]) -> Iterator[str]:
    yield table(list(_facts(info)), "<<")
    yield _sizes(info)
    yield _windows(info)
    if info["reuse"] is not None:
        yield _reuse(info)
    yield _devices(info)


def _facts(info: dict[str, Any]) -> Iterator[list[str]]:
    rate, sequential, arrivals = info["mean_rate_per_s"], info["sequential"], info["arrivals"]
    mean, most = number(info["mean_size_blocks"]), number(info["max_size_blocks"])
    yield ["file", info["path"]]
    told = loads.told_by(info)
    yield ["format", f"{info['format']} ({told}), compression: {info['compression']}"]
    if passed := ", ".join(loads.passed_over(info)):
        yield ["passed over", passed]
    others = [f"{number(info[kind])} {kind}" for kind in ("flushes", "trims") if info[kind]]
    share = f"{number(info['requests'])}, {info['read_fraction']:.1%} reads"
    yield ["requests", ", ".join([share, *others])]
    yield [
        "duration",
        f"{number(info['duration_s'], 6)} s, from {number(info['first_time_s'], 6)} s",
    ]
    spread = arrivals["gap_scv"]
    gaps = "" if spread is None else f", squared variation of the gaps {number(spread)}"
    yield ["mean rate", "-" if rate is None else f"{number(rate)} requests/s{gaps}"]
    if late := arrivals["late_requests"]:
        most_late = number(arrivals["late_by_up_to_ms"])
        yield [
            "not in order",
            f"{number(late)} are late by up to {most_late} ms and counted late; see --sort",
        ]
        if (place := info["glitch_suspected"]) is not None:
            yield ["", f"perhaps a glitch of the clock ({place}); see --drop-glitches"]
    by_op = ", ".join(
        f"{sequential[key]:.1%} of the {name}"
        for key, name in (("read_fraction", "reads"), ("write_fraction", "writes"))
        if sequential[key] is not None
    )
    yield ["sequential", f"{info['sequential_fraction']:.1%} start where the one before ended"]
    if by_op:
        yield ["", by_op]
    yield ["sizes", f"mean {mean} blocks of 512 bytes, at most {most}"]
    if info["unaligned_requests"]:
        yield ["", f"{number(info['unaligned_requests'])} do not begin and end on such blocks"]
    yield ["data", f"{size(512 * info['total_blocks'])} in all"]
    yield ["span", f"{number(info['end_block'])} blocks ({size(512 * info['end_block'])})"]
    if (footprint := info["footprint"]) is not None:
        read, written = size(footprint["read_bytes"]), size(footprint["written_bytes"])
        rate = footprint["sampling_rate"]
        exact = "" if rate == 1 else f"; from a sample of {rate:.2%}"
        yield [
            "footprint",
            f"{size(footprint['bytes'])} in units of 4 KiB: {read} read, {written} written{exact}",
        ]
    if (times := info["response_time_ms"]) is not None:
        count, mean, median = (number(times["all"][key]) for key in ("requests", "mean", "p50"))
        measured = f"mean {mean} ms, median {median} ms, as measured ({count} requests)"
        yield ["response time", measured]


def _sizes(info: dict[str, Any]) -> str:
    statistics = ("mean", "p10", "p50", "p90", "p99", "max")
    rows = [["size in bytes", "requests", *statistics, "total"]]
    for name, sizes in info["sizes"].items():
        if sizes is not None:
            cells = [number(sizes[f"{statistic}_bytes"]) for statistic in statistics]
            total = size(sizes["total_bytes"])
            rows.append([f"  {name}", number(sizes["requests"]), *cells, total])
    return table(rows, "<" + ">" * (len(statistics) + 2))


def _windows(info: dict[str, Any]) -> str:
    rows = [["arrivals in", "at most", "per s", "times the mean", "index of dispersion"]]
    for window in info["arrivals"]["windows"]:
        rows.append(  # noqa: PERF401 (longer)
            [
                f"  {_span(window['window_s'])}",
                number(window["peak_requests"]),
                number(window["peak_rate_per_s"]),
                number(window["peak_over_mean"]),
                number(window["index_of_dispersion"]),
            ]
        )
    return table(rows, "<>>>>")


def _span(seconds: float) -> str:
    return f"{1e3 * seconds:g} ms" if seconds < 1 else f"{seconds:g} s"


def _reuse(info: dict[str, Any]) -> str:
    reuse = info["reuse"]
    rows = [["LRU cache", "hit ratio"]]
    rows += [
        [
            f"  {number(line['cache_mib'])} MiB",
            "-" if line["hit_ratio"] is None else f"{line['hit_ratio']:.1%}",
        ]
        for line in reuse["lru_hit_ratio"]
    ]
    if not reuse["exact"]:
        rows.append([f"  from a sample of {reuse['sampling_rate']:.2%} of the units"])
    if reuse["requests_left_out"]:
        rows.append([f"  without {number(reuse['requests_left_out'])} requests over 256 MiB"])
    return table(rows, "<>")


def _devices(info: dict[str, Any]) -> str:
    lines = sorted(info["devices"], key=lambda line: (-line["requests"], line["id"]))
    names = any(line["name"] is not None for line in lines)
    rows = [["device", *(["name"] if names else []), "requests", "reads", "sequential", "span"]]
    for line in lines[:_DEVICES]:
        highest = line["highest_block"]
        cells = [
            str(line["id"]),
            *([line["name"] or ""] if names else []),
            number(line["requests"]),
            _share(line["read_fraction"]),
            _share(line["sequential_fraction"]),
            "-" if highest is None else size(512 * (highest + 1)),
        ]
        rows.append(cells)
    text = table(rows, "><>>>>" if names else ">>>>>")
    if len(lines) > _DEVICES:
        text += f"\n... and {number(len(lines) - _DEVICES)} more devices (--json lists them)"
    return text


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _convert(options: argparse.Namespace) -> None:
    if options.every is not None and options.sample is not None:
        _refuse("--every and --sample: give one of them")
    if options.seed is not None and options.sample is None:
        _refuse("--seed: is for --sample, which is not given")
    for flag, value, least in (
        ("--requests", options.requests, 1),
        ("--every", options.every, 1),
        ("--seed", options.seed, 0),
    ):
        _whole(flag, value, least)
    report = work(
        lambda beat: convert_trace(
            options.files,
            options.output,
            to=options.to,
            **_reading(options),
            devices=options.device,
            from_s=getattr(options, "from"),
            until_s=options.until,
            every=options.every,
            sample=options.sample,
            seed=1 if options.seed is None else options.seed,
            requests=options.requests,
            rebase=options.rebase,
            time_scale=1.0 if options.time_scale is None else options.time_scale,
            widen=options.widen,
            keep_devices=options.keep_devices,
            progress=beat,
        )
    )
    if options.json:
        print_json(report)
        return
    print("\n\n".join(_converted(report)))


def _converted(report: dict[str, Any]) -> Iterator[str]:
    rows = [["read", "format", "requests", "first at", "times from"]]
    rows += [
        [
            line["path"],
            line["format"],
            number(line["requests"]),
            f"{number(line['first_time_s'], 6)} s",
            line["clock"],
        ]
        for line in report["inputs"]
    ]
    yield table(rows, "<<>><")
    passed = [
        f"{line['path']}: {line['format']} ({loads.told_by(line)})"
        for line in report["inputs"]
        if line["format_others"]
    ]
    passed += [
        f"{line['path']}: {what}" for line in report["inputs"] for what in loads.passed_over(line)
    ]
    if passed:
        yield "\n".join(passed)
    written, left = report["output"], report["left_out"]
    first, last = number(written["first_time_s"], 6), number(written["last_time_s"], 6)
    facts = [
        ["written", f"{written['path']}, {written['format']}"],
        ["requests", f"{number(written['requests'])}, {size(written['total_bytes'])} in all"],
        ["times", f"{first} s to {last} s"],
    ]
    reasons = [
        (left["other_devices"], "of other devices"),
        (left["outside_times"], "outside the times"),
        (left["not_sampled"], "not in the sample"),
    ]
    told = ", ".join(f"{number(count)} {what}" for count, what in reasons if count)
    if told:
        facts.append(["left out", told])
    if report["ended_by"] != "inputs":
        facts.append(["", f"reading ended by --{report['ended_by']}"])
    if report["widened"]:
        facts.append(["widened", f"{number(report['widened'])} to whole blocks"])
    if report["time_scale"] != 1:
        facts.append(["time scale", plain(report["time_scale"])])
    facts += _lost(report)
    yield table(facts, "<<")
    devices = report["devices"]
    if any(line["device"] != line["output_device"] for line in devices) or len(devices) > 1:
        rows = [["device", "was", "in", "requests"]]
        rows += [
            [
                str(line["output_device"]),
                str(line["device"]) if line["name"] is None else f"{line['device']} {line['name']}",
                line["input"],
                number(line["requests"]),
            ]
            for line in devices[:_DEVICES]
        ]
        more = len(devices) - _DEVICES
        tail = f"\n... and {number(more)} more devices (--json lists them)" if more > 0 else ""
        yield table(rows, "><<>") + tail


def _lost(report: dict[str, Any]) -> list[list[str]]:
    fields = report["lost_fields"]
    told = ", ".join(f"{name} of {number(count)} requests" for name, count in fields.items())
    return [["lost", f"{told} (the format has no place for it)"]] if told else []


def _generate(options: argparse.Namespace) -> None:
    _whole("--blocks", options.blocks, 1)
    if options.scheduler is not None and options.device is None:
        _refuse("--scheduler: is for closed loads, and needs --device")
    load, device, scheduler = _load(options)
    report = work(
        lambda beat: generate_trace(
            load,
            options.output,
            device=device,
            blocks=options.blocks,
            scheduler=scheduler,
            to=options.to,
            progress=beat,
        )
    )
    if options.json:
        print_json(report)
        return
    written = report["output"]
    first, last = number(written["first_time_s"], 6), number(written["last_time_s"], 6)
    place = report["device"] or "no device"
    facts = [
        ["written", f"{written['path']}, {written['format']}"],
        ["workload", report["workload"]["workload"]],
        ["requests", number(written["requests"])],
        ["times", f"{first} s to {last} s, {report['arrivals']}"],
        ["addresses", f"{number(report['blocks'])} blocks, {place}"],
        *_lost(report),
    ]
    print(table(facts, "<<"))


def _load(options: argparse.Namespace) -> tuple[Load, Device | None, str]:
    """Resolve the load, and the device with its settings if there is one."""
    if options.device is None:
        core = _core.workload_of_settings(options.workload, options.set)
        return Load(core, options.workload), None, "fcfs"
    device, core, scheduler = _core.scenario(
        None, options.device, options.scheduler, options.workload, None, options.set
    )
    return Load(core, options.workload), of_core(device), scheduler


def _whole(flag: str, value: int | None, least: int) -> None:
    if value is not None and not least <= value < 1 << 63:
        _refuse(f"{flag} {value}: must be from {least} to 2^63 - 1")


def _refuse(problem: str) -> None:
    raise SledsimError(problem)
