"""Pictures of traces: arrivals, places, sizes, reuse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim.plots import colour_bars, curves, scales, texts, units
from sledsim.plots.frame import Panel, load_title, picture
from sledsim.plots.style import INK, OPS, heat_colours
from sledsim.traces.information import OF_PICTURES

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture

_BLOCK = 512
_POINTS = 150  # of the arrivals; more is noise
_OTHERS = "writes, others"
_PALEST = 50
"""Of 256 colours, those left out: on white they would vanish."""
_AT_ONCE = "no rates: all requests arrive at once"
_TICK_IN = 0.2
"""Room for a label that stands upright."""


def trace(info: Mapping[str, Any], **how: Unpack[How]) -> Picture:
    """Draw a trace: arrivals and places over time, sizes, and the hit ratios of LRU caches.

    Parameters
    ----------
    info
        What ``trace_info(path, picture=True)`` or ``load_info(load, picture=True)`` returns.
    **how
        As for :func:`~sledsim.plots.cdf`. Panels are ``arrivals``, ``places``, ``sizes`` and
        ``reuse``.

    Raises
    ------
    SledsimError
        For statistics without what only a picture needs, an unknown size, or a missing library.
    """
    if not isinstance(info, Mapping):
        refuse("info", info, "what trace_info(path, picture=True) returns")
    if any(key not in info for key in OF_PICTURES):
        refuse("picture", False, "True for a picture: trace_info(path, picture=True).plot()")
    requests = f"{info['requests']:,} request{'s' * (info['requests'] != 1)}"
    path = info.get("path")
    name = load_title(info["workload"]) if path is None else str(path).rpartition("/")[2]
    heading = f"{name}: {requests}, {info['read_fraction']:.0%} reads"
    panels = {
        "arrivals": Panel(partial(_arrivals, info=info), "arrivals over time"),
        "places": Panel(partial(_places, info=info), "places over time"),
        "sizes": Panel(partial(_sizes, info=info), "sizes"),
        "reuse": Panel(partial(_reuse, info=info), "hit ratios of LRU caches"),
    }
    return picture(how, panels, heading, facts=[f"trace: {heading}"], width_in=9.0, height_in=2.9)


def _arrivals(axes: Axes, info: Mapping[str, Any]) -> None:
    if not info["duration_s"]:
        _none(axes, _AT_ONCE)
        return
    timeline = info["timeline"]
    reads, others = timeline["reads"], timeline["others"]
    step = -(-len(reads) // _POINTS)
    width_s = step * timeline["bin_s"]
    unit, name = units.of_time(info["duration_s"])
    # The last bin ends with the trace, not with its width.
    starts = range(0, len(reads), step)
    ends = [min((at + step) * timeline["bin_s"], max(info["duration_s"], 1e-9)) for at in starts]
    edges = [0.0, *(end / unit for end in ends)]
    spans = [
        max(end - at * timeline["bin_s"], width_s / 100)
        for at, end in zip(starts, ends, strict=True)
    ]
    below = [0.0] * len(spans)
    handles = {}
    for label, counts, op in (("reads", reads, "read"), (_OTHERS, others, "write")):
        rates = [sum(counts[at : at + step]) / span for at, span in zip(starts, spans, strict=True)]
        above = [low + rate for low, rate in zip(below, rates, strict=True)]
        handles[label] = axes.stairs(
            above, edges, baseline=below, fill=True, color=OPS[op], label=label, linewidth=0
        )
        below = above
    axes.set(xlabel=f"time, {name}", ylabel="arrivals per s", xlim=(0, edges[-1]))
    axes.set_ylim(0, 1.05 * max(below, default=1.0) or 1)
    scales.linear(axes, "x")
    scales.linear(axes, "y")
    curves.legend_above(axes, handles)


def _places(axes: Axes, info: Mapping[str, Any]) -> None:
    from matplotlib import colormaps  # an extra
    from matplotlib.colors import ListedColormap, LogNorm

    found = info["map"]
    if found is None or not found["counts"]:
        _none(axes, "no places: there are no reads and writes")
        return
    if not info["duration_s"]:
        _none(axes, _AT_ONCE.replace("rates", "places over time"))
        return
    counts, shrink = _coarser(found["counts"])
    unit, name = units.of_time(info["duration_s"])
    times = [row * shrink * found["time_bin_s"] / unit for row in range(len(counts) + 1)]
    height = shrink * found["place_bin_blocks"] * _BLOCK
    scale, bytes_name = units.of_bytes(height * len(counts[0]))
    places = [column * height / scale for column in range(len(counts[0]) + 1)]
    most = max(max(row) for row in counts)
    columns = [[row[at] or float("nan") for row in counts] for at in range(len(counts[0]))]
    mesh = axes.pcolormesh(
        times,
        places,
        columns,
        cmap=ListedColormap(colormaps[heat_colours()].reversed()(range(_PALEST, 256))),
        norm=LogNorm(1, max(most, 2)),
        rasterized=True,
    )
    colour_bars.draw([axes], mesh, "requests")
    axes.set_xlabel(f"time, {name}")
    label = f"place on device {found['device']}, {bytes_name}"
    axes.set_ylabel(scales.wrapped(axes, label, "y"))
    axes.set(xlim=(0, max(info["duration_s"] / unit, times[1])), ylim=(0, places[-1]))
    scales.linear(axes, "x")
    scales.linear(axes, "y")
    axes.grid(visible=False)


def _coarser(counts: list[list[int]]) -> tuple[list[list[int]], int]:
    """Join bins, as many in time as in place, until there are not many more than requests."""
    requests, shrink = sum(map(sum, counts)), 1
    while len(counts) * len(counts[0]) > max(2 * requests, 5000):
        counts = [
            [
                sum(row[at] for row in counts[top : top + 2] for at in range(left, right))
                for left in range(0, len(counts[0]), 2)
                for right in (min(left + 2, len(counts[0])),)
            ]
            for top in range(0, len(counts), 2)
        ]
        shrink *= 2
    return counts, shrink


def _sizes(axes: Axes, info: Mapping[str, Any]) -> None:
    lines = info["size_histogram"]
    handles = {}
    for shift, key, op in ((-0.2, "reads", "read"), (0.2, "writes", "write")):
        shares = [100 * line[key] / info["requests"] for line in lines]
        at = [index + shift for index in range(len(lines))]
        handles[key] = axes.bar(at, shares, width=0.38, color=OPS[op], label=key)
    labels = [units.binary(line["from_bytes"]) for line in lines]
    room = scales.inches_of(axes)[0] / max(1, len(lines))
    every = math.ceil(_TICK_IN / room)
    axes.set_xticks(range(0, len(lines), every), labels[::every])
    if room < max((texts.width_in(label, "medium") + 0.06 for label in labels), default=0.0):
        for tick in axes.get_xticklabels():
            tick.set_rotation(90)
    axes.set_xlabel(scales.wrapped(axes, "size, from this to twice as much"))
    axes.set_ylabel(scales.wrapped(axes, "share of all requests, %", "y"))
    axes.grid(visible=False, axis="x")
    curves.legend_above(axes, handles)


def _reuse(axes: Axes, info: Mapping[str, Any]) -> None:
    curve = info["lru_curve"]
    if not curve:
        _none(axes, "no hit ratios: reuse was left out, or nothing was read or written")
        return
    sizes, ratios = [point[0] for point in curve], [100 * point[1] for point in curve]
    axes.plot([*sizes, 2 * sizes[-1]], [*ratios, ratios[-1]], color=INK, drawstyle="steps-post")
    powers = range(math.ceil(math.log2(sizes[0])), math.floor(math.log2(2 * sizes[-1])) + 1)
    scales.at_values(axes, [2.0**power for power in powers], units.binary)
    axes.set_xlim(sizes[0], 2 * sizes[-1])
    axes.set(xlabel="size of an LRU cache", ylabel="hit ratio, %", ylim=(0, 102))
    footprint = info["footprint"]["bytes"]
    if sizes[0] <= footprint <= 2 * sizes[-1]:
        axes.axvline(footprint, color=INK, linestyle=":", linewidth=1)
    rate = info["reuse"]["sampling_rate"]
    of = "" if rate == 1 else f", from a sample of {rate:.2%}"
    axes.set_title(f"dotted: footprint{of}", fontsize=texts.points(), fontweight="normal")


def _none(axes: Axes, text: str) -> None:
    axes.set_axis_off()
    axes.set(xticks=[], yticks=[])
    axes.set_title(scales.wrapped(axes, text), fontsize=texts.points(), fontweight="normal")
