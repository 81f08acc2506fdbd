"""Pictures of layouts: where logical blocks lie on a sled or a disk."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledsim._core import SpecError
from sledsim.hardware import Disk, Sled, device_of
from sledsim.layout_maps import Layout
from sledsim.plots import colour_bars, maps, scales, texts
from sledsim.plots.frame import Panel, picture
from sledsim.plots.seek_times import no_mechanics
from sledsim.plots.style import INK, heat_colours

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.hardware import DeviceLike
    from sledsim.layout_maps import LayoutPart
    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture

_LOOKS = 20_000
"""Blocks looked up at the most."""
_ROWS = 128
_COLUMNS = 400
"""Places drawn each way at the most."""
_UNITS = ((1_000_000, ", millions"), (1000, ", thousands"), (1, ""))
_LETTER_IN = 0.13
_BESIDE = 0.7
"""The share of the room that the bar of colours leaves."""
_NAMED = 36
"""Most parts that are numbered."""


def layout(device: DeviceLike | Layout, **how: Unpack[How]) -> Picture:
    """Draw where logical blocks lie on the media: their number is the colour.

    Of a sled, what one tip sees is drawn, cylinders across and rows upwards: the mean LBN of the
    tracks at each place. Of a disk, cylinders from the outer edge inwards, as high as their tracks
    have sectors. Parts of a layout are numbered in logical order.

    Parameters
    ----------
    device
        A sled or a disk, or what :func:`sledsim.layout` returns.
    **how
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For another kind of device, an unknown size, or a missing library.
    """
    of = device.device if isinstance(device, Layout) else device_of(device)
    if not isinstance(of, Sled | Disk):
        raise SpecError(no_mechanics(of, "layout"))
    own = None if of._core.layout() is None else Layout(of)
    lbn_of: Callable[[int], int] = (lambda block: block) if own is None else own.lbn
    name = "as the device has them" if own is None else str(own.facts["name"])
    parts = [] if own is None else own.parts
    draw = _sled if isinstance(of, Sled) else _disk
    heading = f"logical blocks on {of.name}: {name}"
    return picture(
        how,
        {"layout": Panel(lambda axes: draw(axes, of, lbn_of, parts), heading)},  # type: ignore[arg-type]
        heading,
        width_in=6.0,
        height_in=3.4,
    )


def _sled(
    axes: Axes, sled: Sled, lbn_of: Callable[[int], int], parts: Sequence[LayoutPart]
) -> list[str]:
    derived = sled.spec["derived"]
    cylinders, rows, tracks = (
        derived[name] for name in ("cylinders", "rows_per_track", "tracks_per_cylinder")
    )
    ups = _sampled(rows, _ROWS)
    most = max(2, _LOOKS // (len(ups) * tracks))
    acrosses = _sampled(cylinders, min(most, _COLUMNS))
    means = [
        [
            sum(lbn_of(sled.lbn(across, track, up, 0)) for track in range(tracks)) / tracks
            for across in acrosses
        ]
        for up in ups
    ]
    mesh = axes.pcolormesh(
        _edges(acrosses, cylinders),
        _edges(ups, rows),
        means,
        cmap=heat_colours(),
        vmin=0,
        vmax=sled.blocks - 1,
        rasterized=True,
    )
    axes.set(xlabel="cylinder (X)", ylabel="row (Y)", xlim=(0, cylinders), ylim=(0, rows))
    _finish(axes, mesh, sled.blocks)
    return _outline(axes, parts, rows)


def _disk(
    axes: Axes, disk: Disk, lbn_of: Callable[[int], int], parts: Sequence[LayoutPart]
) -> list[str]:
    zones = disk.zones()
    cylinders = zones[-1].last_cylinder + 1
    heights, found, lefts, widths = [], [], [], []
    for zone in zones:
        own = zone.last_cylinder - zone.first_cylinder + 1
        count = max(1, math.ceil(_COLUMNS * own / cylinders))
        places = [zone.first_cylinder + place for place in _sampled(own, count)]
        edges = [zone.first_cylinder + edge for edge in _edges(_sampled(own, count), own)]
        for place, left, right in zip(places, edges, edges[1:], strict=False):
            block = next(
                (
                    at
                    for sector in range(zone.blocks_per_track)
                    if (at := disk.lbn(place, 0, sector)) is not None
                ),
                None,
            )
            if block is not None:
                lefts.append(left)
                widths.append(right - left)
                heights.append(zone.blocks_per_track)
                found.append(lbn_of(block))
    import numpy as np  # comes with matplotlib
    from matplotlib.cm import ScalarMappable  # an extra
    from matplotlib.colors import Normalize

    colours = ScalarMappable(Normalize(0, disk.blocks - 1), heat_colours())
    axes.bar(
        lefts,
        heights,
        widths,
        align="edge",
        color=colours.to_rgba(np.array(found)),
        linewidth=0,
        edgecolor="none",
    )
    top = 1.06 * max(heights, default=1)
    axes.set(xlabel="cylinder, from the outer edge", ylabel="sectors per track")
    axes.set(xlim=(0, cylinders), ylim=(0, top))
    _finish(axes, colours, disk.blocks)
    return _outline(axes, parts, top)


def _sampled(count: int, most: int) -> list[int]:
    """Return places evenly apart, from the first to the last of so many."""
    most = min(count, most)
    return [(2 * place + 1) * count // (2 * most) for place in range(most)]


def _edges(places: Sequence[int], count: int) -> list[float]:
    """Return the edges between places, from 0 on."""
    return [place * count / len(places) for place in range(len(places) + 1)]


def _finish(axes: Axes, mapped: Any, blocks: int) -> None:
    axes.grid(visible=False)
    scales.linear(axes, "x", share=_BESIDE)
    scales.linear(axes, "y")
    unit, name = next((u, n) for u, n in _UNITS if blocks >= 2 * u or u == 1)
    colour_bars.draw([axes], mapped, f"LBN{name}", unit)


def _outline(axes: Axes, parts: Sequence[LayoutPart], top: float) -> list[str]:
    """Draw the outlines of parts, and their numbers where they have room; tell what those are."""
    from matplotlib.patches import Rectangle  # an extra

    width, height = scales.inches_of(axes)
    wide, high = (abs(end - start) for start, end in (axes.get_xlim(), axes.get_ylim()))
    for number, part in enumerate(parts, 1):
        left, right = part.cylinders[0], part.cylinders[1] + 1
        low, up = (0.0, top) if part.rows is None else (part.rows[0], part.rows[1] + 1)
        axes.add_patch(
            Rectangle(
                (left, low), right - left, up - low, fill=False, edgecolor="white", linewidth=0.9
            )
        )
        text = str(number) if part.data is None else part.data
        room = _BESIDE * width * (right - left) / wide, height * (up - low) / high
        long_in = texts.width_in(text) + 0.04
        turned = room[0] <= long_in
        across, along = (room[1], room[0]) if turned else room
        if len(parts) <= _NAMED and across > long_in and along > _LETTER_IN:
            axes.text(
                (left + right) / 2,
                (low + up) / 2,
                text,
                ha="center",
                va="center",
                fontsize=texts.points(),
                rotation=90 if turned else 0,
                color=INK,
                path_effects=maps.halo(2.2),
            )
    if not parts or parts[0].data is not None:
        return []
    order = ", numbered in the order of their LBNs" if axes.texts else ""
    return [f"{len(parts):,} parts{order}"]
