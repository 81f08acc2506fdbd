"""The picture of a trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim.cli.plots import rendered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS = ("timeline", "map", "lru_curve")
"""Parts of the document that only the picture needs."""

_BLOCK = 512
_POINTS = 150  # of the arrivals; more is noise
_READ, _WRITE, _BOTH = "#1f6fb4", "#d95f02", "#333333"


def draw(info: dict[str, Any], path: str) -> bytes:
    """Draw arrivals and places over time, sizes, and the hit ratios of LRU caches.

    Parameters
    ----------
    info
        The document of a trace, with what a picture needs.
    path
        Name of the picture, for its format.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(10, 6.8), layout="constrained")
    (arrivals, places), (sizes, reuse) = figure.subplots(2, 2)
    requests = f"{info['requests']:,} requests, {info['read_fraction']:.0%} reads"
    figure.suptitle(f"{Path(info['path']).name}: {requests}")
    _arrivals(arrivals, info)
    _places(figure, places, info)
    _sizes(sizes, info)
    _reuse(reuse, info)
    return rendered(figure, path)


def _time_unit(seconds: float) -> tuple[float, str]:
    """Choose the unit in which a duration is a handy number: its length in s, and its name."""
    for length, name in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s")):
        if seconds >= 3 * length:
            return length, name
    return (1e-3, "ms") if seconds >= 3e-3 else (1e-6, "us")


def _byte_unit(count: float) -> tuple[float, str]:
    for power, name in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if count >= 2 * 1000.0**power:
            return 1000.0**power, name
    return 1.0, "B"


def _arrivals(axes: Axes, info: dict[str, Any]) -> None:
    timeline = info["timeline"]
    reads, others = timeline["reads"], timeline["others"]
    step = -(-len(reads) // _POINTS)
    width_s = step * timeline["bin_s"]
    unit, name = _time_unit(info["duration_s"])
    # The last bin ends with the trace, not with its width.
    starts = range(0, len(reads), step)
    ends = [min((at + step) * timeline["bin_s"], max(info["duration_s"], 1e-9)) for at in starts]
    edges = [0.0, *(end / unit for end in ends)]
    spans = [
        max(end - at * timeline["bin_s"], width_s / 100)
        for at, end in zip(starts, ends, strict=True)
    ]
    below = [0.0] * len(spans)
    for label, counts, color in (("reads", reads, _READ), ("writes and others", others, _WRITE)):
        rates = [sum(counts[at : at + step]) / span for at, span in zip(starts, spans, strict=True)]
        above = [low + rate for low, rate in zip(below, rates, strict=True)]
        axes.stairs(above, edges, baseline=below, fill=True, color=color, label=label, linewidth=0)
        below = above
    axes.set(xlabel=f"time, {name}", ylabel="arrivals per s", xlim=(0, edges[-1]))
    axes.set_ylim(0, 1.25 * axes.dataLim.ymax)  # room for the legend
    axes.legend(loc="upper right", ncols=2)


def _places(figure: Figure, axes: Axes, info: dict[str, Any]) -> None:
    from matplotlib import colormaps  # noqa: PLC0415
    from matplotlib.colors import ListedColormap, LogNorm  # noqa: PLC0415

    found = info["map"]
    if found is None or not found["counts"]:
        axes.set_axis_off()
        return
    counts, shrink = _coarser(found["counts"])
    unit, name = _time_unit(info["duration_s"])
    times = [row * shrink * found["time_bin_s"] / unit for row in range(len(counts) + 1)]
    height = shrink * found["place_bin_blocks"] * _BLOCK
    scale, bytes_name = _byte_unit(height * len(counts[0]))
    places = [column * height / scale for column in range(len(counts[0]) + 1)]
    most = max(max(row) for row in counts)
    columns = [[row[at] or float("nan") for row in counts] for at in range(len(counts[0]))]
    mesh = axes.pcolormesh(
        times,
        places,
        columns,
        cmap=ListedColormap(colormaps["viridis_r"].resampled(256)(range(50, 256))),
        norm=LogNorm(1, max(most, 2)),
        rasterized=True,
    )
    figure.colorbar(mesh, ax=axes, label="requests")
    axes.set(xlabel=f"time, {name}", ylabel=f"place on device {found['device']}, {bytes_name}")
    axes.set(xlim=(0, max(info["duration_s"] / unit, times[1])), ylim=(0, places[-1]))


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


def _sizes(axes: Axes, info: dict[str, Any]) -> None:
    lines = info["size_histogram"]
    starts = [line["from_bytes"] for line in lines]
    for shift, key, color in ((-0.2, "reads", _READ), (0.2, "writes", _WRITE)):
        shares = [100 * line[key] / info["requests"] for line in lines]
        at = [index + shift for index in range(len(lines))]
        axes.bar(at, shares, width=0.38, color=color, label=key)
    labels = [_binary(start) for start in starts]
    axes.set_xticks(range(len(lines)), labels, rotation=45 if len(lines) > 7 else 0)
    axes.set(xlabel="size, from this to twice as much", ylabel="share of all requests, %")
    axes.legend()


def _binary(count: int) -> str:
    for power, name in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << power:
            return f"{count >> power} {name}"
    return f"{count} B"


def _reuse(axes: Axes, info: dict[str, Any]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator  # noqa: PLC0415

    curve = info["lru_curve"]
    if not curve:
        axes.text(0.5, 0.5, "no reuse (--quick)", ha="center", transform=axes.transAxes)
        axes.set_axis_off()
        return
    sizes, ratios = [point[0] for point in curve], [100 * point[1] for point in curve]
    axes.plot([*sizes, 2 * sizes[-1]], [*ratios, ratios[-1]], color=_BOTH, drawstyle="steps-post")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=16, numticks=9))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda at, _position: _binary(round(at))))
    axes.minorticks_off()
    axes.set(xlabel="size of an LRU cache", ylabel="hit ratio, %", ylim=(0, 100))
    axes.set_xlim(sizes[0], 2 * sizes[-1])
    footprint = info["footprint"]["bytes"]
    axes.axvline(footprint, color=_BOTH, linestyle=":", linewidth=1)
    rate = info["reuse"]["sampling_rate"]
    note = "footprint" if rate == 1 else f"footprint\n(sample of {rate:.2%})"
    axes.annotate(
        note,
        (footprint, 3),
        textcoords="offset points",
        xytext=(-4, 0),
        ha="right",
        fontsize="small",
    )
    axes.grid(alpha=0.3)
