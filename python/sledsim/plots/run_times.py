"""Pictures of applications on devices: run times, split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim._number_text import number
from sledsim.plots import bars, curves, scales
from sledsim.plots.frame import Panel, picture
from sledsim.plots.style import INK, RUN_TIMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture
    from sledsim.programs import Outcome

PARTS = {
    "compute_s": "compute",
    "stall_device_s": "I/O stall: device",
    "stall_way_s": "I/O stall: path",
}
_LISTED = 4
"""Most devices in a title."""


def applications(outcomes: Sequence[Outcome], **how: Unpack[How]) -> Picture:
    """Draw run times of an application on devices: a bar for each, split.

    A mark shows the run time that the replay of another device's recording predicts.

    Parameters
    ----------
    outcomes
        What ``sledsim.programs.bench`` and ``replay`` return.
    **how
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For anything but outcomes, an unknown size, or a missing library.
    """
    if not _are_outcomes(outcomes):
        refuse("outcomes", outcomes, "outcomes of an application, as bench and replay return them")
    labels = [each.device for each in outcomes]
    names = dict.fromkeys(each.title for each in outcomes)
    devices = list(dict.fromkeys(labels))
    on = ", ".join(devices) if len(devices) <= _LISTED else f"{len(devices)} devices"

    def bars_of(axes: Axes) -> None:
        draw(axes, labels, [each.to_dict() for each in outcomes])

    return picture(
        how,
        {"applications": Panel(bars_of, "Run times")},
        f"{', '.join(names)} on {on}",
        facts=[f"{', '.join(names)} on {', '.join(devices)}"],
        height_in=1.5 + 0.4 * len(outcomes),
    )


def _are_outcomes(given: object) -> bool:
    return (
        isinstance(given, list | tuple)
        and bool(given)
        and all(hasattr(each, "stall_s") for each in given)
    )


def draw(axes: Axes, labels: Sequence[str], documents: Sequence[Mapping[str, Any]]) -> None:
    """Draw a bar for each outcome on axes.

    Parameters
    ----------
    axes
        Where.
    labels
        The names of the bars.
    documents
        ``Outcome.to_dict()`` of each.
    """
    parts = {part: [document[part] for document in documents] for part in PARTS}
    drawn, _ = bars.stacked(axes, parts, RUN_TIMES)
    handles = {PARTS[part]: bar for part, bar in drawn.items()}
    told = {place: each["predicted"] for place, each in enumerate(documents) if each["predicted"]}
    marks = {place: predicted["run_s"] for place, predicted in told.items()}
    if marks:
        from matplotlib.lines import Line2D  # an extra

        look: Any = {"marker": "|", "color": INK, "markeredgewidth": 2, "linestyle": "none"}
        axes.plot(list(marks.values()), list(marks), markersize=17, **look)
        handles["predicted by a replay"] = Line2D([], [], markersize=9, **look)
    for place, document in enumerate(documents):
        end = max(document["run_s"], marks.get(place, 0.0))
        bars.beside(axes, end, place, f"{number(document['run_s'], 3)} s", 6)
    bars.rows(axes, labels)
    highest = max(*(document["run_s"] for document in documents), *marks.values(), 0.0)
    axes.set(xlabel="run time, s", xlim=(0, 1.14 * highest or 1))
    scales.linear(axes, "x")
    curves.legend_above(axes, handles)
