"""Bars in groups, with their values on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.plots import curves
from sledsim.plots.scales import inches_of
from sledsim.plots.style import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

_SHARE = 0.8
"""What the bars of a group take of its place."""
_LETTER_IN = 0.085
"""Width of a letter on a bar."""


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
            texts = [text(value) if own is None else own[place] for place, value in found]  # type: ignore[operator]
            longest = max((len(line) for one in texts for line in one.split("\n")), default=0)
            upright |= longest * _LETTER_IN > 1.1 * room
            keys: Any = {"rotation": 90} if longest * _LETTER_IN > 1.1 * room else {}
            axes.bar_label(bars, texts, padding=2, fontsize="small", **keys)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", length=0)
    if text is not None:
        _make_room(axes, 0.14 if upright else 0.05)
    if len(series) > 1:
        curves.legend_above(axes, handles)


def _make_room(axes: Axes, share: float) -> None:
    """Move the upper end of the Y axis up, for what is written on the bars."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        axes.set_ylim(low, high * (high / low) ** share)
    else:
        axes.set_ylim(low, high + share * (high - low))
