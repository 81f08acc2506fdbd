"""Bars in groups, with their values on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sledsim.plots import curves, texts
from sledsim.plots.scales import inches_of
from sledsim.plots.style import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

THICK = 0.68
"""How much of their room horizontal bars take."""
_SHARE = 0.8
"""What the bars of a group take of its place."""
_LABEL_IN = 0.36
"""The share of the width that names beside bars take at the most."""
_ROOMY = 1.8
"""In less lines a bar names are small."""


def grouped(
    axes: Axes,
    groups: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    text: Callable[[float], str] | Mapping[str, Sequence[str]] | None = None,
    *,
    colours: Mapping[str, str] | None = None,
    bottom: float = 0.0,
) -> None:
    """Draw a group of bars for each place, and a legend above if a group has several.

    Parameters
    ----------
    axes
        Where; a logarithmic scale is set before.
    groups
        The names of the groups, from left to right.
    series
        A number for each group by the name of the series; ``None`` for no bar.
    text
        What is written on a bar: made of its number, or given by series. Text that is wider than
        its bar stands upright.
    colours
        The colours of the series; by default those of things that are no devices.
    bottom
        Where bars begin.
    """
    if colours is None:
        colours = {label: look.color for label, look in in_order(list(series)).items()}
    width = _SHARE / len(series)
    room = inches_of(axes)[0] / (len(groups) + 0.4) * width
    handles, upright = {}, False
    for number, (label, numbers) in enumerate(series.items()):
        shift = width * (number - (len(series) - 1) / 2)
        found = [(place, value) for place, value in enumerate(numbers) if value is not None]
        places = [place + shift for place, _ in found]
        heights = [value - bottom for _, value in found]
        bars = axes.bar(places, heights, 0.94 * width, bottom, color=colours[label], label=label)
        handles[label] = bars
        if text is not None:
            own = None if callable(text) else text[label]
            said = [text(value) if own is None else own[place] for place, value in found]  # type: ignore[operator]
            longest = max((texts.width_in(one) for one in said), default=0.0)
            upright |= longest > 0.9 * room
            keys: Any = {"rotation": 90} if longest > 0.9 * room else {}
            axes.bar_label(bars, said, padding=2, fontsize=texts.points(), **keys)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", length=0)
    if text is not None:
        _make_room(axes, 0.14 if upright else 0.05)
    if len(series) > 1:
        curves.legend_above(axes, handles)


_LABELS: WeakKeyDictionary[Axes, Sequence[str]] = WeakKeyDictionary()
"""The names of the bars of axes."""


def are_named(axes: Axes) -> bool:
    """Return whether :func:`rows` has named bars of these axes."""
    return axes in _LABELS


def rows(axes: Axes, labels: Sequence[str] = ()) -> None:
    """Name horizontal bars, from top to bottom, in as many lines as have room.

    Without labels those that it was called with stand in the room that there is now.
    """
    labels = labels or _LABELS.get(axes, ())
    if not labels:
        return
    _LABELS[axes] = labels
    figure = axes.get_figure(root=True)
    assert figure is not None
    most = min(1.5, _LABEL_IN * figure.get_size_inches()[0])
    room_pt = 72 * inches_of(axes)[1] / max(1, len(labels))
    size = texts.points("medium" if room_pt > _ROOMY * texts.points("medium") else "small")
    lines = max(1, int(room_pt / (1.25 * size)))
    names = [texts.fitted(label, most, lines, size) for label in labels]
    axes.set_yticks(range(len(labels)), names, fontsize=size)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def stacked(
    axes: Axes, parts: Mapping[str, Sequence[float]], colours: Mapping[str, str]
) -> tuple[dict[str, Any], list[float]]:
    """Draw horizontal bars of parts; return what is drawn of each part, and where bars end."""
    ends = [0.0] * max(map(len, parts.values()), default=0)
    drawn: dict[str, Any] = {}
    for part, widths in parts.items():
        if any(widths):
            drawn[part] = axes.barh(range(len(ends)), widths, THICK, left=ends, color=colours[part])
            ends = [end + width for end, width in zip(ends, widths, strict=True)]
    return drawn, ends


def beside(axes: Axes, end: float, place: float, text: str, apart_pt: float = 5) -> None:
    """Write a text beside the right end of a horizontal bar."""
    axes.annotate(
        text,
        (end, place),
        xytext=(apart_pt, 0),
        textcoords="offset points",
        va="center",
        fontsize=texts.points(),
        annotation_clip=False,
    )


def _make_room(axes: Axes, share: float) -> None:
    """Move the upper end of the Y axis up, for what is written on the bars."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        axes.set_ylim(low, high * (high / low) ** share)
    else:
        axes.set_ylim(low, high + share * (high - low))
