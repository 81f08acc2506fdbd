"""Names of curves: a legend for a few, names beside the curves for many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.plots import scales, texts
from sledsim.plots.scales import inches_of
from sledsim.plots.style import in_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

    from sledsim.plots.style import Look

IN_LEGEND = 8
"""More curves have their names beside them."""
_NAME_IN = 1.6
"""Width of a name beside a curve; a longer one is cut in the middle."""
_SPARE_IN = 0.06
"""What a label keeps from the edge, as the last layout may move it a little."""
_DIRECT, _MOVED = 0.25, 0.1
"""Names stand at the ends of few curves if they take less of the width, and move less far."""
_LINE_IN = 0.15
"""Height of a name beside a curve."""


def draw(
    axes: Axes,
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    markers: bool = True,
    log_y: bool = False,
    own: Mapping[str, Look] | None = None,
) -> dict[str, Line2D]:
    """Draw curves in looks of their own, and name them.

    Parameters
    ----------
    axes
        Where.
    curves
        Places on both axes, by the name of the curve.
    markers
        Whether each place has a mark.
    log_y
        Whether the Y axis becomes a logarithmic one for all of them.
    own
        The looks; by default those of things that are no devices.
    """
    if log_y:
        scales.logarithmic(axes, "y", *scales.ends(y for _, ys in curves.values() for y in ys))
    own = own or in_order(list(curves))
    lines = {}
    for label, (xs, ys) in curves.items():
        mark: Any = {"marker": own[label].marker, "markersize": 4} if markers else {}
        lines[label] = axes.plot(xs, ys, label=label, **own[label].line(), **mark)[0]
    name(axes, lines)
    return lines


def name(
    axes: Axes, lines: Mapping[str, Line2D], *, at_ends: bool = False, direct: bool = False
) -> None:
    """Name the curves of axes, where there are several.

    Parameters
    ----------
    axes
        Where they are drawn.
    lines
        The curves by their names.
    at_ends
        Whether the names of many stand at the right ends of the curves.
    direct
        Whether those of few do, too, where they have room.
    """
    if len(lines) < 2:
        return
    if direct and _have_room(axes, lines):
        _at_ends(axes, lines)
    elif len(lines) <= IN_LEGEND:
        legend_above(axes, lines)
    elif at_ends:
        _at_ends(axes, lines)
    else:
        _beside(axes, lines)


def legend_above(axes: Axes, handles: Mapping[str, Any], columns: int | None = None) -> None:
    """Write a legend above axes, where it covers nothing; by default as wide as the axes."""
    from matplotlib import rcParams  # an extra

    inches, _ = inches_of(axes)
    size = texts.points(rcParams["legend.fontsize"])
    lines = any(hasattr(handle, "get_linestyle") for handle in handles.values())
    beside = 0.5 if lines else 0.32  # the handle, and what is left free
    names = [texts.fitted(label, max(0.8, inches - beside), 2, size) for label in handles]
    if columns is None:
        longest = max(texts.width_in(label, size) for label in names)
        columns = max(1, min(len(names), int(inches / (longest + beside))))
    axes.legend(
        list(handles.values()),
        names,
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        alignment="left",
        borderaxespad=0,
        ncols=columns,
        fontsize=size,
        columnspacing=1.0,
        labelspacing=0.3,
        handlelength=2.6 if lines else 1.0,
        handletextpad=0.5,
    )


def fit(figure: Figure) -> None:
    """Keep legends and titles above axes, and labels of X axes, within a figure."""
    texts.draw(figure)  # the layout is known only then
    for axes in figure.axes:
        while (legend := axes.get_legend()) and legend.get_window_extent().x1 > figure.bbox.x1:
            columns = legend._ncols - 1  # type: ignore[attr-defined]
            if not columns:
                break
            _legend_anew(axes, legend, {}, columns)
            texts.draw(figure)
    for axes in figure.axes:
        head: Any = axes._left_title  # type: ignore[attr-defined]
        box = head.get_window_extent()
        if head.get_text() and box.x1 > figure.bbox.x1:
            text = texts.raw(head).replace("\n", " ")
            room = (figure.bbox.x1 - box.x0) / figure.dpi - _SPARE_IN
            head.set_text(texts.wrapped(text, room, head.get_fontsize()))
        label = axes.xaxis.label
        box = label.get_window_extent()
        if box.x0 < 0 or box.x1 > figure.bbox.x1 - _SPARE_IN * figure.dpi:
            text = texts.raw(label)
            half = max(len(word) for word in (text[len(text) // 2 :], *text.split()))
            label.set_text(texts.wrapped(text, texts.width_in("x" * (half + 4), "medium")))
            if box.x1 > figure.bbox.x1:
                label.set(x=1, ha="right")


def add_to_legend(axes: Axes, label: str, handle: Any) -> None:
    """Add an entry to the legend of axes, or begin one above them."""
    legend = axes.get_legend()
    if legend is not None:
        _legend_anew(axes, legend, {label: handle})
        return
    title = axes.get_title(loc="left")
    legend_above(axes, {label: handle})
    heading(axes, title)


def _legend_anew(
    axes: Axes, legend: Legend, more: Mapping[str, Any], columns: int | None = None
) -> None:
    names = [texts.raw(text).replace("\n", " ") for text in legend.get_texts()]
    title = texts.raw(legend.get_title())
    legend_above(axes, {**dict(zip(names, legend.legend_handles, strict=True)), **more}, columns)
    heading(axes, title)


def heading(axes: Axes, text: str) -> None:
    """Write the title of axes, above their legend if they have one."""
    legend = axes.get_legend()
    axes.set_title("" if legend else text)
    if legend is not None:
        legend.set_title(text)
        legend.get_title().set_fontsize(axes.title.get_fontsize())


def _beside(axes: Axes, lines: Mapping[str, Line2D]) -> None:
    """Write each name beside its curve, all at different heights."""
    import numpy as np  # comes with matplotlib

    low, high = axes.get_ylim()
    left, right = axes.get_xlim()
    count = len(lines)
    for number, (label, line) in enumerate(lines.items()):
        share = (number + 0.5) / count * 0.94 + 0.02
        height = low + share * (high - low)
        xs, ys = (np.asarray(part, dtype=float).tolist() for part in line.get_data())
        reached = (x for x, y in zip(xs, ys, strict=True) if y >= height)
        place = min(max(next(reached, xs[-1]), left), right)
        across = (axes.transData - axes.transAxes).transform((place, height))[0]
        axes.annotate(
            texts.cut(label, _NAME_IN),
            (place, height),
            xytext=(4 if across < 0.5 else -4, 0),
            textcoords="offset points",
            ha="left" if across < 0.5 else "right",
            va="center",
            fontsize=texts.points(),
            color=line.get_color(),
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6},
        )


def _ends(axes: Axes, lines: Mapping[str, Line2D]) -> dict[str, tuple[Any, float, float]]:
    """Return the right end of each curve, its height, and that of its name, as shares of axes."""
    import numpy as np  # comes with matplotlib

    ends = {
        label: np.asarray(line.get_data(), dtype=float)[:, -1]
        for label, line in lines.items()
        if len(np.asarray(line.get_xdata()))
    }
    to_axes = axes.transData - axes.transAxes
    heights = {label: float(to_axes.transform(end)[1]) for label, end in ends.items()}
    ordered = sorted(heights, key=lambda label: heights[label])
    moved = _spread([heights[label] for label in ordered], _LINE_IN / inches_of(axes)[1])
    return {
        label: (ends[label], heights[label], height)
        for label, height in zip(ordered, moved, strict=True)
    }


def _have_room(axes: Axes, lines: Mapping[str, Line2D]) -> bool:
    """Return whether names fit beside the right ends of curves, near to them."""
    most = _DIRECT * inches_of(axes)[0]
    return all(texts.width_in(label) <= most for label in lines) and all(
        abs(height - own) <= _MOVED for _, own, height in _ends(axes, lines).values()
    )


def _at_ends(axes: Axes, lines: Mapping[str, Line2D]) -> None:
    """Write each name beside the right end of its curve, with a line to it."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    most = min(_NAME_IN, 0.33 * figure.get_size_inches()[0])
    for label, (end, _, height) in _ends(axes, lines).items():
        axes.annotate(
            texts.cut(label, most),
            end,
            xytext=(1.04, height),
            textcoords="axes fraction",
            va="center",
            fontsize=texts.points(),
            color=lines[label].get_color(),
            arrowprops={
                "arrowstyle": "-",
                "color": lines[label].get_color(),
                "linewidth": 0.6,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 3,
            },
            annotation_clip=False,
        )


def _spread(heights: Sequence[float], apart: float) -> list[float]:
    """Move rising heights as little as lets them stay apart, from 0 to 1 where that has room."""
    groups: list[tuple[float, int]] = []  # the mean of each less its shift, and how many they are
    for place, height in enumerate(heights):
        mean, count = height - place * apart, 1
        while groups and groups[-1][0] > mean:
            before, others = groups.pop()
            mean, count = (before * others + mean * count) / (others + count), others + count
        groups.append((mean, count))
    most = 1.0 - (len(heights) - 1) * apart
    moved = [max(0.0, min(mean, most)) for mean, count in groups for _ in range(count)]
    return [mean + place * apart for place, mean in enumerate(moved)]
