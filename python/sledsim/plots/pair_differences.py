"""Distribution functions of paired differences of response time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.plots import curves, scales
from sledsim.plots.frame import Panel, picture
from sledsim.plots.style import QUIET, looks
from sledsim.plots.subjects import cautions_of, facts, runs_of, subject

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.comparison import Comparison
    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture


WHAT = "Distribution of the differences of response time of the same requests"


def differences(of: Comparison, **how: Unpack[How]) -> Picture:
    """Draw how much faster or slower the same requests were than on the baseline.

    A curve for each run but the baseline: the share of the requests whose response time minus that
    on the baseline is at most so many ms. Left of zero requests were faster.

    Parameters
    ----------
    of
        A comparison with ``paired=True``.
    **how
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For a comparison without pairs, an unknown size, or a missing library.
    """
    if not getattr(of, "has_pairs", False):
        raise SledsimError(f"{of!r}: has no pairs: compare(..., paired=True) makes them")
    return picture(
        how,
        {"differences": Panel(lambda axes: draw(axes, of), WHAT)},
        subject(of),
        facts=facts(of, intervals=False),
        found=cautions_of(runs_of(of), means=False),
    )


def draw(axes: Axes, of: Comparison) -> None:
    """Draw the curves of a comparison on axes."""
    baseline, *others = of.labels
    look = looks(of.labels)
    drawn = {label: points for label in others if (points := of.differences(label))}
    scales.signed(axes, [ms for points in drawn.values() for ms, _ in points])
    axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.set(ylabel="share of requests", ylim=(0, 1.02))
    axes.set_xlabel(scales.wrapped(axes, f"response time minus that on {baseline}, ms"))
    lines = {}
    for label, points in drawn.items():
        places, shares = zip((points[0][0], 0.0), *points, strict=True)
        line = look[label].line()
        lines[label] = axes.plot(places, shares, drawstyle="steps-post", label=label, **line)[0]
    curves.name(axes, lines)
