"""Pictures of applications on devices: run times, split."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim._number_text import number
from sledsim.plots import curves, scales
from sledsim.plots.frame import begin
from sledsim.plots.style import INK, RUN_TIMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledsim.plots.frame import Place, Size
    from sledsim.programs import Outcome

PARTS = {
    "compute_s": "compute",
    "stall_device_s": "I/O stall: device",
    "stall_way_s": "I/O stall: path",
}
_LABEL = 20
"""Characters of a line of a label beside a bar."""
_LISTED = 4
"""Most devices in a title."""


def applications(
    outcomes: Sequence[Outcome], *, ax: Place = None, size: Size = None, title: str | None = None
) -> Figure:
    """Draw run times of an application on devices: a bar for each, split.

    A mark shows the run time that the replay of another device's recording predicts.

    Parameters
    ----------
    outcomes
        What ``sledsim.programs.bench`` and ``replay`` return.
    ax
        Axes to draw on; by default a new figure.
    size, title
        As for :func:`~sledsim.plots.cdf`.

    Raises
    ------
    SledsimError
        For anything but outcomes, an unknown size, or a missing library.
    """
    if not _are_outcomes(outcomes):
        refuse("outcomes", outcomes, "outcomes of an application, as bench and replay return them")
    labels = [each.device for each in outcomes]
    lines = max(_label(label).count("\n") + 1 for label in labels)
    height_in = 1.5 + (0.25 + 0.15 * lines) * len(outcomes)
    with begin(ax, size, height_in=height_in) as frame:
        draw(frame.axes[0], labels, [each.to_dict() for each in outcomes])
        names = dict.fromkeys(each.title for each in outcomes)
        devices = list(dict.fromkeys(labels))
        on = ", ".join(devices) if len(devices) <= _LISTED else f"{len(devices)} devices"
        heading = f"{', '.join(names)} on {on}"
        return frame.end(heading if title is None else title)


def _are_outcomes(given: object) -> bool:
    return (
        isinstance(given, list | tuple)
        and bool(given)
        and all(hasattr(each, "stall_s") for each in given)
    )


def _label(label: str) -> str:
    return textwrap.fill(curves.short(label, 3 * _LABEL), _LABEL, break_on_hyphens=False)


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
    places = list(range(len(documents)))
    ends = [0.0] * len(documents)
    handles: dict[str, Any] = {}
    for part, name in PARTS.items():
        widths = [document[part] for document in documents]
        if any(widths):
            handles[name] = axes.barh(places, widths, 0.62, left=ends, color=RUN_TIMES[part])
            ends = [end + width for end, width in zip(ends, widths, strict=True)]
    told = {place: each["predicted"] for place, each in enumerate(documents) if each["predicted"]}
    marks = {place: predicted["run_s"] for place, predicted in told.items()}
    if marks:
        (mark,) = axes.plot(
            list(marks.values()), list(marks), "|", color=INK, markersize=17, markeredgewidth=2
        )
        handles["predicted by a replay"] = mark
    for place, document in enumerate(documents):
        axes.annotate(
            f"{number(document['run_s'], 3)} s",
            (max(document["run_s"], marks.get(place, 0.0)), place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            annotation_clip=False,
        )
    axes.set_yticks(places, [_label(label) for label in labels])
    axes.set_ylim(len(documents) - 0.4, -0.6)
    highest = max(*(document["run_s"] for document in documents), *marks.values(), 0.0)
    axes.set(xlabel="run time, s", xlim=(0, 1.14 * highest or 1))
    scales.linear(axes, "x")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    curves.legend_above(axes, handles)
