"""The picture of applications on devices: run times, split."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from sledsim.applications.outcome import Outcome

PARTS = (
    ("compute_s", "compute", "#4878a8"),
    ("device_s", "I/O stall: device", "#d1803f"),
    ("way_s", "I/O stall: way there and back", "#e8c39b"),
)


def bars(axes: Axes, outcomes: Sequence[Outcome]) -> None:
    """Draw a stacked bar for each outcome, and what was predicted as a mark."""
    places = range(len(outcomes))
    bottom = [0.0] * len(outcomes)
    for part, label, colour in PARTS:
        heights = [getattr(outcome, part) for outcome in outcomes]
        if any(heights):
            axes.bar(places, heights, 0.6, bottom=bottom, label=label, color=colour)
            bottom = [low + high for low, high in zip(bottom, heights, strict=True)]
    for place, outcome in zip(places, outcomes, strict=True):
        axes.annotate(
            f"{outcome.run_s:.3g} s",
            (place, outcome.run_s),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    told = [(place, outcome.predicted) for place, outcome in enumerate(outcomes)]
    marks = [(place, predicted.run_s) for place, predicted in told if predicted is not None]
    if marks:
        axes.plot(*zip(*marks, strict=True), "k_", markersize=22, label="replay predicts")
    axes.set_xticks(places, [outcome.device for outcome in outcomes])
    axes.set(ylabel="run time (s)", ylim=(0, None))
    axes.margins(y=0.12)
    axes.grid(visible=False, axis="x")
    axes.legend()


def draw(outcomes: Sequence[Outcome], title: str, path: str) -> bytes:
    """Draw the run times as a picture.

    Parameters
    ----------
    outcomes
        One for each device.
    title
        Over it.
    path
        Name of the picture, for its format.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(1.8 + 1.5 * len(outcomes), 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    bars(axes, outcomes)
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix[1:].lower(), dpi=150)
    return picture.getvalue()
