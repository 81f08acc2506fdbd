"""The picture of applications on devices: run times, split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledsim.applications.outcome import Outcome

PARTS = (
    ("compute_s", "compute", "#4878a8"),
    ("stall_device_s", "I/O stall: device", "#d1803f"),
    ("stall_way_s", "I/O stall: the way there and back", "#e8c39b"),
)


def bars_of(axes: Axes, documents: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw a stacked bar for each outcome, and a mark for the prediction of a replay.

    Parameters
    ----------
    axes
        Where.
    documents
        `Outcome.to_dict()` by the name of its bar.
    """
    places = range(len(documents))
    bottom = [0.0] * len(documents)
    for part, label, colour in PARTS:
        heights = [document[part] for document in documents.values()]
        if any(heights):
            axes.bar(places, heights, 0.6, bottom=bottom, label=label, color=colour)
            bottom = [low + high for low, high in zip(bottom, heights, strict=True)]
    for place, document in enumerate(documents.values()):
        axes.annotate(
            f"{document['run_s']:.3g} s",
            (place, document["run_s"]),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    told = [(place, document["predicted"]) for place, document in enumerate(documents.values())]
    marks = [(place, predicted["run_s"]) for place, predicted in told if predicted is not None]
    if marks:
        axes.plot(*zip(*marks, strict=True), "k_", markersize=22, label="replay predicts")
    axes.set_xticks(places, list(documents))
    axes.set_ylabel("run time (s)")
    highest = max([*(document["run_s"] for document in documents.values()), *(y for _, y in marks)])
    axes.set_ylim(0, 1.12 * highest)
    axes.grid(visible=False, axis="x")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2, frameon=False)


def draw(outcomes: Sequence[Outcome], title: str) -> Figure:
    """Draw the run times of outcomes, one bar for each device, with a title over them."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(1.8 + 1.5 * len(outcomes), 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    bars_of(axes, {outcome.device: outcome.to_dict() for outcome in outcomes})
    return figure
