"""Films of arms and sleds at work."""

from __future__ import annotations

import math
import subprocess
import tempfile
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import optional, path_text, real, refuse
from sledsim._core import SledsimError
from sledsim._input_files import check_output
from sledsim.plots import curves, paths, scales
from sledsim.plots.frame import Panel, picture, require
from sledsim.plots.moves import Leg, services_of, stamps_of
from sledsim.plots.style import CAUSES, FAINT, INK, QUIET
from sledsim.plots.subjects import subject
from sledsim.simulation import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from typing import TypeAlias

    from matplotlib.axes import Axes

    from sledsim.plots.frame import Size
    from sledsim.plots.moves import Axis, Stamp

    Show: TypeAlias = Callable[[Sequence[float], Sequence[tuple[float, ...]], str], None]
    """Moves what is seen from above: the place, the places of those that wait, a colour."""

FORMATS = (".gif", ".mp4")
"""Endings of films."""
_SECONDS, _MOST_SECONDS = 5.0, 60.0
_SPEEDS = (1e-6, 1e6)
_FRAMES_PER_S = 20
_DPI = 100
_INNER = 0.35
"""The radius of the innermost cylinder, as a share of that of cylinder 0."""
_PIVOT = (1.15, 0.75)
_ARM = 1.1
"""Where an arm turns and how long it is, in radii of cylinder 0."""
_CORNERS = 90
"""Of a ring."""
_PLACE: Any = {"color": INK, "marker": "o", "markersize": 8, "markeredgecolor": INK}


def animate(
    of: Run,
    path: str | PathLike[str],
    *,
    start_ms: float = 0.0,
    seconds: float | None = None,
    speed: float = 0.01,
    size: Size = None,
) -> None:
    """Write a film of the arm or the sled at work; see :meth:`sledsim.Run.animate`."""
    file = Path(path_text("path", path))
    check_output(str(file), FORMATS, (), f"path {file}")
    require()
    if not isinstance(of, Run):
        refuse("of", of, "a run")
    begins, rate = real("start_ms", start_ms, 0), real("speed", speed, *_SPEEDS)
    length = optional(real, "seconds", seconds, 1 / _FRAMES_PER_S, _MOST_SECONDS)
    served = stamps_of(of)
    if len(served) > 1:
        names = f"there are {len(served)}: {', '.join(served)}"
        raise SledsimError(f"animate shows one arm or sled, and {names}")
    ((label, every),) = served.items()
    cylinders = of.rows["cylinders"]
    stamps = [stamp for stamp in every if cylinders[stamp.number] is not None]
    last = max(stamp.completion_ns for stamp in stamps) / 1e6
    if begins >= last:
        refuse("start_ms", start_ms, f"below {last:g}, where the run ends")
    most = (last - begins) / rate / 1e3
    if length is not None and length > most:
        refuse("seconds", seconds, f"at most {most:.6g}: the run ends at {last:g} ms")
    length = min(_SECONDS, most) if length is None else length
    window = (begins, begins + length * rate * 1e3)
    frames = max(1, round(length * _FRAMES_PER_S))
    times = [begins + frame / _FRAMES_PER_S * rate * 1e3 for frame in range(frames)]
    film = Film(of, label, stamps, window, size)
    _core.write_atomically(file, _encoded(film, times, file.suffix.lower()))


def _encoded(film: Film, times: list[float], kind: str) -> bytes:
    """Return a film as a file; of a ``.gif`` the same bytes each time."""
    from matplotlib import animation, rc_context  # an extra

    writer: animation.AbstractMovieWriter
    if kind == ".gif":
        if not animation.PillowWriter.isAvailable():
            raise SledsimError("a .gif needs Pillow: pip install pillow")
        writer = animation.PillowWriter(fps=_FRAMES_PER_S)
    else:
        if not animation.FFMpegWriter.isAvailable():
            raise SledsimError("a .mp4 needs ffmpeg: apt-get install ffmpeg, or write a .gif")
        writer = animation.FFMpegWriter(fps=_FRAMES_PER_S, extra_args=["-fflags", "+bitexact"])
    with tempfile.TemporaryDirectory() as folder, rc_context({"savefig.bbox": None}):
        file = Path(folder) / f"film{kind}"
        try:
            with writer.saving(film.figure, str(file), _DPI):
                for time in times:
                    film.show(time)
                    writer.grab_frame()
        except (OSError, subprocess.SubprocessError) as error:
            raise SledsimError(f"the film cannot be written: {error}") from None
        return file.read_bytes()


class Film:
    """The picture that each frame changes."""

    def __init__(
        self,
        of: Run,
        label: str,
        stamps: Sequence[Stamp],
        window_ms: tuple[float, float],
        size: Size,
    ) -> None:
        low, high = window_ms
        seen = [one for one in stamps if one.arrival_ns <= high * 1e6]
        # The one before says where the arm or the sled is as the film begins.
        begun = [one for one in seen if one.completion_ns < low * 1e6]
        before = max(begun, key=lambda one: one.completion_ns, default=None)
        seen = [one for one in seen if one == before or one.completion_ns >= low * 1e6]
        way = paths.Way(label, label, services_of(of, seen or stamps[:1]), len(stamps))
        self._moved = way.moved
        self._axes: tuple[Axis, ...] = tuple(way.axes)
        legs = {axis: [leg for one in way.moved for leg in one.legs(axis)] for axis in way.axes}
        self._legs = legs
        self._starts = {axis: [leg.start_ms for leg in legs[axis]] for axis in way.axes}
        draw = _sled if len(self._axes) > 1 else _disk

        def draw_above(axes: Axes) -> None:
            self._show = draw(axes, {axis: _largest(of, axis) for axis in self._axes})
            self._text = axes.set_title(" ", fontweight="normal")

        def draw_below(axes: Axes) -> None:
            paths.draw([axes], [(way, "cylinder")], [way])
            axes.set(xlim=window_ms, title="")
            curves.legend_above(axes, paths.keys([way]))
            self._cursor = axes.axvline(low, color=INK, linewidth=1.2)

        self.figure = picture(
            {"size": size},
            {"above": Panel(draw_above), "below": Panel(draw_below, wide=True)},
            subject(of),
            notes=[_NOTES[draw], paths.STRAIGHT],
            width_in=6.4,
        )
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")  # nothing moves from frame to frame

    def show(self, time_ms: float) -> None:
        """Show a time."""
        place = [self._place(axis, time_ms) for axis in self._axes]
        waiting = [one for one in self._moved if one.arrival_ms <= time_ms < one.start_ms]
        queue = [tuple(float(one.row[f"to_{axis}"]) for axis in self._axes) for one in waiting]
        cause = self._cause(time_ms)
        doing = cause.replace("_", " ") if cause else "no request"
        self._text.set_text(f"{time_ms:.3f} ms: {doing}, {len(queue)} waiting")
        self._cursor.set_xdata([time_ms, time_ms])
        self._show(place, queue, CAUSES[cause] if cause else "white")

    def _place(self, axis: Axis, time_ms: float) -> float:
        legs = self._legs[axis]
        at = bisect_right(self._starts[axis], time_ms) - 1
        if at < 0:
            return legs[0].start
        leg = legs[at]
        if time_ms >= leg.end_ms:  # between requests: to where the next one begins
            if at + 1 == len(legs):
                return leg.end
            after = legs[at + 1]
            leg = Leg("", leg.end_ms, after.start_ms, leg.end, after.start)
        share = (time_ms - leg.start_ms) / (leg.end_ms - leg.start_ms)
        return leg.start + share * (leg.end - leg.start)

    def _cause(self, time_ms: float) -> str:
        at = bisect_right(self._starts["cylinder"], time_ms) - 1
        leg = self._legs["cylinder"][at]
        return leg.cause if at >= 0 and time_ms < leg.end_ms else ""


def _largest(run: Run, axis: Axis) -> int:
    """Return the largest place along an axis that a run came to."""
    every: list[int | None] = [*run.rows[f"from_{axis}"], *run.rows[f"to_{axis}"]]
    return max(place for place in every if place is not None)


def _sled(axes: Axes, most: Mapping[Axis, int]) -> Show:
    """Draw the square that a tip reaches, with the place below it, and return what moves it."""
    (waits,) = axes.plot([], [], linestyle="none", marker="s", color=QUIET, markersize=4)
    (place,) = axes.plot([], [], linestyle="none", **_PLACE)
    axes.set_box_aspect(1)
    axes.set(xlabel="X: cylinder", ylabel="Y: boundary of rows")
    axes.set(xlim=(-0.02 * most["cylinder"], 1.02 * most["cylinder"] + 1))
    axes.set(ylim=(-0.5, most["row"] + 1.5))
    scales.linear(axes, "x", share=0.5)
    scales.linear(axes, "y")

    def show(at: Sequence[float], queue: Sequence[tuple[float, ...]], colour: str) -> None:
        place.set_data([at[0]], [at[1]])
        place.set_markerfacecolor(colour)
        waits.set_data([x for x, _ in queue], [y for _, y in queue])

    return show


def _disk(axes: Axes, most: Mapping[Axis, int]) -> Show:
    """Draw a platter with its arm, and return what moves it; those that wait are rings."""
    from matplotlib.collections import LineCollection  # an extra
    from matplotlib.patches import Circle

    last = most["cylinder"] or 1
    turn = [math.tau * step / _CORNERS for step in range(_CORNERS + 1)]
    for radius, colour in ((1.0, FAINT), (_INNER - 0.05, "white")):
        axes.add_patch(Circle((0, 0), radius, facecolor=colour, edgecolor=INK, linewidth=0.8))
    rings = LineCollection([], colors=QUIET, linewidths=0.8)
    axes.add_collection(rings)
    (arm,) = axes.plot([], [], color=INK, linewidth=3, solid_capstyle="round")
    axes.plot(*_PIVOT, **_PLACE, linestyle="none")
    (head,) = axes.plot([], [], linestyle="none", **_PLACE)
    axes.set(aspect="equal", xlim=(-1.05, 1.3), ylim=(-1.05, 1.05))
    axes.set_axis_off()
    away = math.hypot(*_PIVOT)

    def radius_of(cylinder: float) -> float:
        return 1 - (1 - _INNER) * cylinder / last  # cylinder 0 is the outermost

    def show(at: Sequence[float], queue: Sequence[tuple[float, ...]], colour: str) -> None:
        radius = radius_of(at[0])
        # The head is where the circle of its cylinder meets that of the arm.
        corner = math.acos((away**2 + radius**2 - _ARM**2) / (2 * away * radius))
        angle = math.atan2(_PIVOT[1], _PIVOT[0]) + corner
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        arm.set_data([_PIVOT[0], x], [_PIVOT[1], y])
        head.set_data([x], [y])
        head.set_markerfacecolor(colour)
        radii = {radius_of(cylinder) for (cylinder,) in queue}
        rings.set_segments(
            [[(r * math.cos(angle), r * math.sin(angle)) for angle in turn] for r in sorted(radii)]
        )

    return show


_NOTES = {
    _sled: "squares are the places of requests that wait",
    _disk: "rings are the cylinders of requests that wait",
}
