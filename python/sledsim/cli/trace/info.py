"""``sledsim trace info``: statistics of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._number_text import number, size
from sledsim.cli import plots
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.cli.trace.options import add_reading, check_whole, devices_table, reading
from sledsim.loads import trace_info
from sledsim.results import cautions
from sledsim.show import loads
from sledsim.show.text_tables import table
from sledsim.traces.information import OF_PICTURES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands

_ABOUT = """\
Read a whole trace and print its rates and bursts, sizes, footprint, sequentiality and reuse.

  sledsim trace info sample:postmark-ext4
  sledsim trace info big.trace.gz --quick
  sledsim trace info sample:postmark-ext4 --plot trace.png
"""


def add(actions: Commands) -> None:
    """Add the subcommand."""
    info = command(actions, "info", _info, _ABOUT)
    info.add_argument("file", metavar="FILE", help="path of a trace, sample:NAME, or -")
    add_reading(info)
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
    plots.add(info, "the statistics")


def _info(options: argparse.Namespace) -> None:
    for flag, value in (("--interleave", options.interleave), ("--max-units", options.max_units)):
        check_whole(flag, value, 1)
    plots.check(options)
    info = work(
        lambda beat: trace_info(
            options.file,
            **reading(options),
            quick=options.quick,
            interleave_blocks=options.interleave,
            max_units=options.max_units,
            picture=options.plot is not None,
            progress=beat,
        )
    )
    plots.write(options, info.plot)
    for key in OF_PICTURES:
        info.pop(key, None)
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
    detected = loads.detection(info)
    yield ["format", f"{info['format']} ({detected}), compression: {info['compression']}"]
    for _, text in cautions.of_units(info):
        yield ["caution", text]
    if passed := ", ".join(loads.skipped_parts(info)):
        yield ["passed over", passed]
    others = [f"{number(info[kind])} {kind}" for kind in ("flushes", "trims") if info[kind]]
    share = f"{number(info['requests'])}, {info['read_fraction']:.1%} reads"
    yield ["requests", ", ".join([share, *others])]
    yield [
        "duration",
        f"{number(info['duration_s'])} s, from {number(info['first_time_s'])} s",
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
    for line in lines:
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
    return devices_table(rows, "><>>>>" if names else ">>>>>")


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
