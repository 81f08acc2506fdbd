"""What is shown of the statistics of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._number_text import number, size
from sledsim.results import cautions
from sledsim.show import loads
from sledsim.show.sheet import Sheet, Table
from sledsim.show.sheet import facts as facts_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.traces.information import TraceInfo

_LISTED = 20
"""Most devices that are listed."""


def sheet(info: TraceInfo) -> Sheet:
    """Describe the statistics of a trace or of a load."""
    reuse = [_reuse(info["reuse"])] if info["reuse"] is not None else []
    return Sheet(
        title=str(info["path"]),
        facts=facts_table(list(_facts(info)), "The trace"),
        tables=[_sizes(info), _windows(info), *reuse, _devices(info)],
    )


def _facts(info: Mapping[str, Any]) -> Iterator[list[str]]:
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


def _sizes(info: Mapping[str, Any]) -> Table:
    statistics = ("mean", "p10", "p50", "p90", "p99", "max")
    rows = []
    for name, sizes in info["sizes"].items():
        if sizes is not None:
            cells = [number(sizes[f"{statistic}_bytes"]) for statistic in statistics]
            total = size(sizes["total_bytes"])
            rows.append([f"  {name}", number(sizes["requests"]), *cells, total])
    return Table(["size in bytes", "requests", *statistics, "total"], rows, "Sizes of requests")


def _windows(info: Mapping[str, Any]) -> Table:
    keys = ("peak_requests", "peak_rate_per_s", "peak_over_mean", "index_of_dispersion")
    rows = [
        [f"  {_span(window['window_s'])}", *(number(window[key]) for key in keys)]
        for window in info["arrivals"]["windows"]
    ]
    head = ["arrivals in", "at most", "per s", "times the mean", "index of dispersion"]
    return Table(head, rows, "Bursts by the length of a window")


def _span(seconds: float) -> str:
    return f"{1e3 * seconds:g} ms" if seconds < 1 else f"{seconds:g} s"


def _reuse(reuse: Mapping[str, Any]) -> Table:
    rows = [
        [
            f"  {number(line['cache_mib'])} MiB",
            "-" if line["hit_ratio"] is None else f"{line['hit_ratio']:.1%}",
        ]
        for line in reuse["lru_hit_ratio"]
    ]
    after = []
    if not reuse["exact"]:
        after.append(f"  from a sample of {reuse['sampling_rate']:.2%} of the units")
    if reuse["requests_left_out"]:
        after.append(f"  without {number(reuse['requests_left_out'])} requests over 256 MiB")
    return Table(["LRU cache", "hit ratio"], rows, "Reuse", after=after)


def _devices(info: Mapping[str, Any]) -> Table:
    lines = sorted(info["devices"], key=lambda line: (-line["requests"], line["id"]))
    names = any(line["name"] is not None for line in lines)
    rows = []
    for line in lines[:_LISTED]:
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
    head = ["device", *(["name"] if names else []), "requests", "reads", "sequential", "span"]
    more = len(lines) - len(rows)
    after = [f"... and {number(more)} more devices (--json lists them)"] if more else []
    return Table(head, rows, "Devices", frozenset({1} if names else ()), after=after)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
