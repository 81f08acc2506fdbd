"""Distribution functions of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.plots import curves, scales
from sledsim.plots.frame import Panel, picture
from sledsim.plots.style import OP_LINES, looks
from sledsim.plots.subjects import cautions_of, facts, runs_of, subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture
    from sledsim.plots.subjects import Subject
    from sledsim.simulation import Run

_APART = 1 / 400
"""The smallest difference of shares that can be seen."""


def cdf(
    of: Subject,
    time: str = "response_time",
    *,
    op: str | None = None,
    **how: Unpack[How],
) -> Picture:
    """Draw distribution functions of a kind of time.

    A single run has a curve for all requests, and for reads and writes if it is of response times
    and no operation is chosen.

    Parameters
    ----------
    of
        A run, a comparison, or runs by their labels.
    time
        A kind of time, as for :meth:`Run.cdf() <sledsim.Run.cdf()>`.
    op
        ``"read"``, ``"write"``, ``"flush"`` or ``"trim"``, for the response times of these alone.
    **how
        ``ax``: axes to draw on, one for each panel; by default a new figure. ``size``:
        ``"column"`` (3.4 inches wide, a row of panels at most 2.6 high), ``"page"`` (7 inches),
        ``"WxH"`` in inches, or a pair of inches. ``title``: in place of the one that names load
        and devices; ``""`` for none. ``panel``: the name of the only panel to draw. ``notes``:
        whether footnotes are drawn; the ``caption`` of the figure has them in any case.

    Raises
    ------
    SledsimError
        For an unknown time, panel or size, a size that is too small, or a missing library.
    """
    runs = runs_of(of)
    shown = Panel(lambda axes: draw(axes, runs, time, op), f"Distribution of the {_words(time)}")
    return picture(
        how,
        {"cdf": shown},
        subject(of),
        facts=facts(of, intervals=False),
        found=cautions_of(runs, means=False),
    )


def _words(time: str) -> str:
    words = time.replace("_", " ")
    return words if "time" in words else f"{words} time"


def draw(
    axes: Axes, runs: Mapping[str, Run], time: str = "response_time", op: str | None = None
) -> None:
    """Draw the curves of runs on axes; those of a single run by operation."""
    look = looks(list(runs))
    drawn: dict[str, tuple[Sequence[tuple[float, float]], dict[str, Any]]] = {}
    for label, run in runs.items():
        drawn[label] = run.cdf(time, op), look[label].line()
    if len(runs) == 1 and time == "response_time" and op is None:
        (run,), (one,) = runs.values(), look.values()
        all_of_it = {"all": run.cdf(), "read": run.cdf(op="read"), "write": run.cdf(op="write")}
        kinds = {name: points for name, points in all_of_it.items() if points}
        if len(kinds) == 2:  # all are reads, or all are writes
            kinds.pop("all")
        drawn = {
            name if name == "all" else f"{name}s": (
                points,
                {"color": one.color, **OP_LINES[name]},
            )
            for name, points in kinds.items()
        }
    drawn = {name: (points, line) for name, (points, line) in drawn.items() if points}
    axes.set(xlabel=f"{_words(time)}, ms", ylabel=f"share of {op}s" if op else "share of requests")
    axes.set_ylim(0, 1.02)
    ends = [place for points, _ in drawn.values() for place in (points[0][0], points[-1][0])]
    scales.fit(axes, "x", ends, from_zero=True)
    lines = {}
    for name, (points, line) in drawn.items():
        places, shares = zip((points[0][0], 0.0), *_thinned(points), strict=True)
        lines[name] = axes.plot(places, shares, drawstyle="steps-post", label=name, **line)[0]
    curves.name(axes, lines)


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Leave out points that cannot be told from those before them; the last one stays."""
    kept = [points[0]]
    for point in points[1:-1]:
        if point[1] - kept[-1][1] >= _APART:
            kept.append(point)
    return [*kept, *points[1:][-1:]]
