"""What is shown of a load, and of the load of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._number_text import given, number, size
from sledsim.show.sheet import Sheet
from sledsim.show.sheet import facts as facts_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim._load import Load

_LISTED = 12
"""Most devices named in a description."""


def sheet(load: Load) -> Sheet:
    """Describe a load: the keys that were given; the others have their defaults."""
    import tomllib  # only those who look need it

    from sledsim.hardware import dotted_keys

    keys = dotted_keys(tomllib.loads(load._core.canonical()))
    rows = [[key, _given(value)] for key, value in keys]
    return Sheet(f"load {load.name}", facts=facts_table(rows, "Keys that were given"))


def _given(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(_given, value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def facts(document: dict[str, Any]) -> Iterator[list[str]]:
    """Describe the load of a run, line by line."""
    workload = document["workload"]
    if workload["workload"] == "trace":
        yield ["trace", _place(workload["path"])]
        yield ["", _format(workload)]
        yield ["", _split(document["split"]) if "split" in document else _devices(workload)]
        yield ["addresses", _addresses(workload)]
        yield ["arrivals", _arrivals(workload)]
    elif workload["workload"] == "mix":
        yield ["workload", f"{_preset(workload)}mix, {_seeds(document)}"]
        for name, part in workload["part"].items():
            yield [f"  {name}", _generator(part)]
            yield ["", _arrivals(part)]
    else:
        yield ["workload", f"{_preset(workload)}{_generator(workload)}, {_seeds(document)}"]
        yield ["arrivals", _arrivals(workload)]


def _place(path: str) -> str:
    """Return the path of a trace from here; a sample is named as it is asked for."""
    from sledsim.traces import frames  # many runs do without
    from sledsim.traces.files import SAMPLE, samples_folder

    file = Path(path)
    if frames.is_kept(file):
        return "a frame"
    if file.parent == samples_folder():
        return SAMPLE + file.name.partition(".")[0]
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else path


def _preset(workload: dict[str, Any]) -> str:
    return f"{workload['preset']}: " if "preset" in workload else ""


def _seeds(document: dict[str, Any]) -> str:
    runs, seed = document["summary"]["seeds"], document["workload"]["seed"]
    return f"seeds {seed} to {runs[-1]['seed']}" if runs else f"seed {seed}"


def _arrivals(workload: dict[str, Any]) -> str:
    scale = workload.get("time_scale", 1.0)
    faster = "" if scale == 1 else f", {given(scale)} times as fast"
    if workload["workload"] == "trace" and workload.get("think") == "recorded":
        of = {"stream": " of its stream", "all": ""}[workload["depends_on"]]
        waited, requests = number(workload["waited"]), number(workload["requests"])
        return f"closed, {waited} of {requests} after a completion{of} as recorded{faster}"
    if "queue_depth" in workload:
        depth, think = workload["queue_depth"], workload["think_ms"]
        random = " on average" if workload.get("think") == "exponential" else ""
        pause = f", each {given(think)} ms{random} after a completion" if think else ""
        if think is None:
            pause = f", after the think times of the trace{faster}"
        return f"closed, {number(depth)} outstanding{pause}"
    if "rate" in workload:
        clock = " at constant gaps" if workload["arrivals"] == "constant" else ""
        bursts = ""
        if "on_ms" in workload:
            bursts = (
                f" in bursts of {given(workload['on_ms'])} ms, {given(workload['off_ms'])} ms apart"
            )
        if "bias" in workload:
            bias, long = given(workload["bias"]), given(workload["cascade_s"])
            bursts = f", bursty on all scales up to {long} s (b-model, bias {bias})"
        return f"open, {given(workload['rate'])} per s{clock}{bursts}{faster}"
    origin = {"file": "", "first": ", the first at 0"}[workload["time_origin"]]
    late = workload["sorted"]
    most = given(workload["sorted_most_ms"])
    repaired = f"; {number(late)} sorted that came up to {most} ms late" if late else ""
    return f"open, at the times of the trace{origin}{faster}{repaired}"


def _generator(workload: dict[str, Any]) -> str:
    kind = workload["workload"]
    if kind == "postmark":
        counts = (f"{number(workload[key])} {key}" for key in ("files", "transactions"))
        return f"{kind} with {' and '.join(counts)}"
    if kind == "zipf":
        kind += f" with exponent {given(workload['zipf_exponent'])}"
    elif kind == "hot_cold":
        kind += f" with {workload['hot_share']:.1%} of the requests"
        kind += f" in {workload['hot_fraction']:.1%} of the places"
    elif kind == "sequential":
        kind += f" to {workload['sequential_fraction']:.1%}, streams {number(workload['streams'])}"
    elif kind in {"files", "scan", "nurand"}:
        kind += f" in {given(workload['set_mib'])} MiB"
    return f"{kind}, {_sizes(workload)}"


def _sizes(workload: dict[str, Any]) -> str:
    blocking = workload["blocking"]
    blocked = "" if blocking == 1 else f" in multiples of {blocking} blocks"
    cut = workload["shortened"]
    shortened = f" ({number(cut)} shortened to fit)" if cut else ""
    mean = given(workload["mean_size_kib"])
    how = "from a list" if workload["size"] == "listed" else workload["size"]
    return f"sizes {how} with mean {mean} KiB{blocked}{shortened}"


def _devices(workload: dict[str, Any]) -> str:
    names = [str(device["device"]) for device in workload["devices"]]
    more = ["..."] if len(names) > _LISTED else []
    seen = ", ".join(names[:_LISTED] + more)
    if workload["trace_device"] == "all":
        return f"devices {seen}, as one address space"
    if workload["trace_device"] == "separate":
        return f"devices {seen}, one after the other"
    left = workload["other_devices_requests"]
    rest = f"; {number(left)} requests of others left out (seen: {seen})" if left else ""
    return f"device {workload['trace_device']}{rest}"


def _split(parts: dict[str, Any]) -> str:
    split = f"{number(parts['count'])} {parts['by']}s, a device each"
    if parts["by"] == "volume":
        return split
    warm_up = f"{number(parts['overlap_requests'])} requests, are not counted"
    return f"{split}; the {number(parts['warm_up_s'])} s before each, {warm_up}"


def _format(workload: dict[str, Any]) -> str:
    """Describe the format of a trace, and which parts are skipped."""
    compression = workload["compression"]
    packed = "" if compression == "none" else f", {compression}"
    passed = "".join(f"; {what}" for what in skipped_parts(workload))
    return f"{workload['format']} ({detection(workload)}){packed}{passed}"


def detection(trace: Mapping[str, Any]) -> str:
    """Describe how the format of a trace was recognised, and which others fit."""
    told = {
        "content": "by its content",
        "plausibility": "as the most plausible",
        "ending": "by the ending of its name",
        "trace_format": "as asked for",
    }[trace["format_from"]]
    others = trace["format_others"]
    fit = "fits" if len(others) == 1 else "fit"
    return f"{told}; --format {' or '.join(others)} {fit}, too" if others else told


def skipped_parts(trace: Mapping[str, Any]) -> Iterator[str]:
    """Describe the parts of a trace that are not replayed."""
    for key, what in (
        ("not_requests", "lines that are no requests"),
        ("empty_requests", "requests of size 0 left out"),
    ):
        if trace[key]:
            yield f"{number(trace[key])} {what}"
    if rounded := trace["times_rounded"]:
        yield f"{number(rounded)} times rounded to a nanosecond"
    if trace["glitches_dropped"]:
        first = trace["first_glitch"]
        yield f"{number(trace['glitches_dropped'])} dropped as glitches of the clock ({first})"


def _addresses(workload: dict[str, Any]) -> str:
    rule, offset = workload["address"], workload["address_offset"]
    behind = f"from LBN {number(offset)} on" if offset else ""
    cut = workload["widened"]
    widened = f"; {number(cut)} widened to whole blocks" if cut else ""
    if rule == "error":
        return f"{behind or 'unchanged'}{widened}"
    done = {
        "wrap": f"{number(workload['wrapped'])} wrapped around at the end of the device",
        "scale": f"{number(workload['scaled'])} changed to spread the trace over the device",
        "compact": f"{number(workload['compacted'])} changed to close gaps of "
        f"{size(workload.get('gap_bytes', 0))} between touched blocks",
    }
    moved = workload["moved"]
    fitted = f", {number(moved)} moved down to end within it" if moved else ""
    return f"{rule}{' ' * bool(behind)}{behind}: {done[rule]}{fitted}{widened}"
