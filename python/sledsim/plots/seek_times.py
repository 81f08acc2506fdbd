"""Pictures of seek times of sleds and disks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim._core import SpecError
from sledsim._number_text import number, percent
from sledsim.hardware import Disk, Sled, device_of
from sledsim.plots import colour_bars, curves, maps, scales
from sledsim.plots.frame import Panel, picture, size_in
from sledsim.plots.style import INK, OP_LINES, heat_colours, looks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.hardware import Device, DeviceLike, Op
    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture

_POINTS = 101
"""Places along each axis."""
_LABELLED_IN = 2.0
"""On smaller maps contours have no labels."""
_CONTOURS = 14
_OPS: tuple[Op, ...] = ("read", "write")
_CURVE_POINTS = 3000
"""Points of a curve; more cannot be distinguished."""


def seeks(
    device: DeviceLike,
    start_um: Sequence[float] | None = None,
    **how: Unpack[How],
) -> Picture:
    """Draw how long seeks take.

    For a sled, from a start to every point it reaches, as a map with contours: the sled moves
    upwards at the start, and arrives whichever way is faster. For a disk, over the distance in
    cylinders, for reads and for writes.

    Parameters
    ----------
    device
        A sled or a disk.
    start_um
        X and Y of the start in \u00b5m from the centre, for a sled; by default the centre.
    **how
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For another kind of device, a start outside the travel of the sled, an unknown size, or a
        missing library.
    """
    of = device_of(device)
    if isinstance(of, Sled):
        return _of_sled(of, start_um, how)
    if not isinstance(of, Disk):
        raise SpecError(no_mechanics(of, "seeks"))
    if start_um is not None:
        refuse("start_um", start_um, "left out for a disk")
    return _of_disk(of, how)


def no_mechanics(device: Device, function: str) -> str:
    """Tell that a device is neither a sled nor a disk, and which of its parts can be drawn."""
    bases = [value for key, value in device.parameters.items() if key.rpartition(".")[2] == "base"]
    parts = " or ".join(f"plots.{function}({base!r})" for base in dict.fromkeys(bases))
    ask = f"; ask a part of it: {parts}" if parts else ""
    return f"device {device.name}: is neither a sled nor a disk{ask}"


def _of_sled(sled: Sled, start_um: Sequence[float] | None, how: How) -> Picture:
    x0, y0 = (0.0, 0.0) if start_um is None else _pair(start_um)
    xs, ys = (_along(sled.parameters[f"travel_{axis}_um"]) for axis in ("x", "y"))
    start = (x0 * 1e-6, y0 * 1e-6, "up")
    # X and Y move at the same time: a seek takes as long as the slower of both.
    of_x = [1e3 * sled.seek(start, (x * 1e-6, start[1], "up")).x_seek_s for x in xs]
    of_y = [
        1e3 * min(sled.seek(start, (start[0], y * 1e-6, way)).y_seek_s for way in ("up", "down"))
        for y in ys
    ]
    times = [[max(in_x, in_y) for in_x in of_x] for in_y in of_y]
    width_in = size_in(how.get("size"), 4.8)[0]
    every = [time for line in times for time in line]
    slower_x = sum(in_x > in_y for in_x in of_x for in_y in of_y) / len(every)
    mean, longest = number(sum(every) / len(every), 3), number(max(every), 3)
    where = "the centre"
    if (x0, y0) != (0, 0):
        where = f"({x0:g}, {y0:g}) \u00b5m".replace("-", "\u2212")
    heading = f"seek time of {sled.name} from {where}"
    note = f"mean {mean} ms, longest {longest} ms; X takes longer than Y to {percent(slower_x)} of"
    return picture(
        how,
        {"seeks": Panel(lambda axes: _map(axes, xs, ys, times, (x0, y0)), heading)},
        heading,
        notes=[f"{note} the points"],
        width_in=4.8,
        height_in=0.72 * width_in + 0.4,
    )


def _map(
    axes: Axes,
    xs: Sequence[float],
    ys: Sequence[float],
    times: Sequence[Sequence[float]],
    start: tuple[float, float],
) -> None:
    from matplotlib.ticker import MaxNLocator  # an extra

    mesh = axes.pcolormesh(
        xs, ys, times, cmap=heat_colours(), vmin=0, shading="nearest", rasterized=True
    )
    # To the X of the start there is no settling, a cliff that contours leave out.
    nearest = min(range(len(xs)), key=lambda place: abs(xs[place] - start[0]))
    slopes = [
        [float("nan") if place == nearest else time for place, time in enumerate(line)]
        for line in times
    ]
    longest = max(map(max, times))
    levels = MaxNLocator(_CONTOURS).tick_values(0, longest)[1:]
    room = min(scales.inches_of(axes)) >= _LABELLED_IN
    maps.contours(axes, (xs, ys), slopes, list(levels), labelled=room)
    axes.plot(*start, "o", color="white", markeredgecolor=INK, clip_on=False, zorder=3)
    axes.set(xlabel="X, \u00b5m", ylabel="Y, \u00b5m", aspect="equal")
    axes.set(xlim=(xs[0], xs[-1]), ylim=(ys[0], ys[-1]))
    axes.grid(visible=False)
    colour_bars.draw([axes], mesh, "seek time, ms")


def _along(travel_um: float) -> list[float]:
    return [travel_um * (place / (_POINTS - 1) - 0.5) for place in range(_POINTS)]


def _pair(given: Any) -> tuple[float, float]:
    try:
        x, y = map(float, given)
    except (TypeError, ValueError):
        refuse("start_um", given, "X and Y in \u00b5m from the centre")
    return x, y


def _of_disk(disk: Disk, how: How) -> Picture:
    every = {op: disk.seek_curve_ms(op) for op in _OPS}

    def draw(axes: Axes) -> None:
        color = looks([disk.name])[disk.name].color
        lines = {}
        for op, curve in every.items():
            step = max(1, len(curve) // _CURVE_POINTS)
            # The first cylinders one by one: there the curve bends.
            places = [*range(min(step, len(curve))), *range(step, len(curve), step)]
            times = [curve[place] for place in places]
            (lines[f"{op}s"],) = axes.plot(
                places, times, color=color, label=f"{op}s", **OP_LINES[op]
            )
        axes.set_xlabel("distance, cylinders")
        axes.set_ylabel(scales.wrapped(axes, "seek time with settling, ms", "y"))
        longest = max(map(max, every.values()))
        axes.set(xlim=(0, max(len(every["read"]) - 1, 1)), ylim=(0, 1.06 * longest or 1))
        scales.linear(axes, "x")
        scales.linear(axes, "y")
        curves.name(axes, lines)

    heading = f"seek time of {disk.name}"
    return picture(how, {"seeks": Panel(draw, heading)}, heading, height_in=3.2)
