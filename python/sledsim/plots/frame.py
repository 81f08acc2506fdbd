"""How every picture begins and ends: its size, its panels, its title, its footnotes."""

from __future__ import annotations

import re
import textwrap
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sledsim import _arguments as arguments
from sledsim import _core
from sledsim._arguments import as_list, refuse
from sledsim._core import SledsimError
from sledsim.plots import curves
from sledsim.plots.scales import inches_of
from sledsim.plots.style import STYLE
from sledsim.results import cautions
from sledsim.traces.frames import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Size: TypeAlias = str | tuple[float, float] | None
    """``"column"``, ``"page"``, ``"WxH"`` in inches, or a pair of inches."""
    Place: TypeAlias = Axes | Sequence[Axes] | None
    """Axes to draw on: one for each panel."""

WIDTHS_IN = {"column": 3.4, "page": 7.0}
"""Widths in the columns of a paper: one of two, and both."""
_LEAST_IN, _MOST_IN = 1.5, 60.0
_PANEL_IN = 2.6
"""Panels that would be narrower stand below each other."""
_GRID = 4
"""So many panels may also stand two by two."""
_CHARACTERS_PER_INCH = {"title": 11.4, "note": 17.0}
_LINE_IN = 0.17
_KEY = 0.01
"""The height of the axes below a legend for all panels, as a share of a panel."""
_WXH = re.compile(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)", re.ASCII)


class Frame:
    """A picture that is being drawn; made by :func:`begin`."""

    def __init__(
        self,
        figure: Figure,
        axes: Sequence[Axes],
        *,
        own: bool,
        grows: bool,
        keyed: bool = False,
    ) -> None:
        self.figure = figure
        self.axes = list(axes)
        """One for each panel."""
        self.own = own
        """Whether the figure was made for this picture: it then has the title and the notes."""
        self.key = self.axes.pop(0) if keyed else self.axes[0]
        """Where a legend for all panels stands."""
        self._grows = grows  # by its title, legends and notes, as no height was asked for

    def end(
        self,
        title: str,
        found: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        more: Sequence[str] = (),
    ) -> Figure:
        """Write the title and the footnotes, and return the figure.

        Parameters
        ----------
        title
            The title; none if empty.
        found
            Cautions by the labels of their results.
        more
            Further footnotes.
        """
        title = _core.brief(" ".join(arguments.text("title", title).split()))
        notes = [*cautions.lines(found or {}), *more]
        if self.own:
            width, height = self.figure.get_size_inches()
            if title:
                lines = _wrapped(title, width, "title")
                self.figure.suptitle(lines, x=0.01, ha="left")
                height += _LINE_IN * lines.count("\n") * self._grows
            height += footnotes(self.figure, notes) * self._grows
            self._resize(width, height)
            curves.fit(self.figure)
            self._resize(width, height)
        else:
            axes = self.axes[0]
            if title:
                text = _wrapped(title, inches_of(axes)[0], "title")
                legend = axes.get_legend()  # it stands where the title would
                if legend is None:
                    axes.set_title(text)
                else:
                    legend.set_title(text)
            if notes:
                text = "\n".join(_wrapped(note, inches_of(axes)[0], "note") for note in notes)
                axes.set_xlabel(f"{axes.get_xlabel()}\n{text}".strip())
        return self.figure

    def _resize(self, width: float, height: float) -> None:
        grown = _LINE_IN * self._legend_lines() if self._grows else 0.0
        self.figure.set_size_inches(width, height + grown)

    @property
    def across(self) -> bool:
        """Whether the panels stand side by side."""
        rows = {axes.get_subplotspec().rowspan.start for axes in self.axes if self.own}  # type: ignore[union-attr]
        return len(rows) <= 1

    @property
    def columns(self) -> int:
        """How many panels stand side by side, as far as it is known; 1 on axes that were given."""
        return max(axes.get_subplotspec().colspan.stop for axes in self.axes) if self.own else 1  # type: ignore[union-attr]

    def _legend_lines(self) -> int:
        """Return the lines that legends take above axes."""
        found: dict[int, int] = {}
        for axes in dict.fromkeys([self.key, *self.axes]):
            legend, place = axes.get_legend(), axes.get_subplotspec()
            if legend and place:
                lines = sum(text.get_text().count("\n") + 1 for text in legend.get_texts())
                columns = legend._ncols  # type: ignore[attr-defined]
                row = place.rowspan.start
                found[row] = max(found.get(row, 0), -(-lines // columns))
        return sum(found.values())


def footnotes(figure: Figure, notes: Sequence[str]) -> float:
    """Write footnotes below a figure with constrained layout; return the inches that they need."""
    if not notes:
        return 0.0
    width, _ = figure.get_size_inches()
    text = "\n".join(_wrapped(note, width, "note") for note in notes)
    figure.supxlabel(text, x=0.01, ha="left", fontsize="small")
    return _LINE_IN * (1 + text.count("\n"))


@contextmanager
def begin(
    ax: Place,
    size: Size,
    *,
    panels: int = 1,
    width_in: float | None = None,
    height_in: float = 3.0,
    shares: Sequence[float] | None = None,
    stacked: bool = False,
    lines: int = 1,
    wide: int = 0,
    keyed: bool = False,
) -> Iterator[Frame]:
    """Begin a picture in the style of all pictures, which holds inside the ``with`` block.

    Parameters
    ----------
    ax
        Axes to draw on, one for each panel; ``None`` makes a figure.
    size
        The size asked for.
    panels
        How many panels there are. They stand side by side if they have room.
    width_in, height_in
        The width without a size asked for, and the height of a panel.
    shares
        How much of the width each panel takes, side by side.
    stacked
        Whether the panels stand below each other in any case.
    lines
        In how many lines the panels stand, if each has room.
    wide
        How many further panels stand below them, as wide as the picture.
    keyed
        Whether a legend for all panels stands above them.
    """
    require()
    import matplotlib as mpl  # an extra
    from matplotlib import style

    with style.context(["default", STYLE]), mpl.rc_context():
        if ax is not None:
            yield _given(ax, size, panels + wide)
            return
        from sledsim.plots.picture import Picture

        default = width_in or WIDTHS_IN["page"] if panels > 1 else width_in or 5.2
        width, height = size_in(size, default)
        columns = -(-panels // lines)
        columns = columns if width / columns >= _PANEL_IN and not stacked else 1
        if panels == _GRID and not stacked and columns == 1 and width / 2 >= _PANEL_IN:
            columns = 2
        rows = panels // columns
        grows = height is None
        if height is None:
            height = height_in * (rows + wide)
        figure = Picture(figsize=(width, height))
        grid = figure.add_gridspec(
            keyed + rows + wide,
            columns,
            width_ratios=shares if columns == panels else None,
            height_ratios=[_KEY] * keyed + [1.0] * (rows + wide),
        )
        places = [grid[0, :]] * keyed
        places += [grid[keyed + n // columns, n % columns] for n in range(panels)]
        places += [grid[keyed + rows + n, :] for n in range(wide)]
        made = [figure.add_subplot(place) for place in places]
        if keyed:
            made[0].set_axis_off()
        yield Frame(figure, made, own=True, grows=grows, keyed=keyed)


def _given(ax: Place, size: Size, panels: int) -> Frame:
    given: Any = [ax] if hasattr(ax, "get_figure") else ax
    axes: list[Any] = as_list("ax", getattr(given, "flat", given))  # subplots() returns an array
    if len(axes) != panels or not all(hasattr(each, "get_figure") for each in axes):
        refuse("ax", ax, f"{panels} axes, one for each panel" if panels > 1 else "one axes")
    if size is not None:
        refuse("size", size, "left out where ax is given: the figure is there")
    return Frame(axes[0].get_figure(root=True), axes, own=False, grows=False)


def require(problem: str = "pictures need matplotlib: pip install 'sledsim[plots]'") -> None:
    """Refuse to draw without matplotlib, in these words."""
    try:
        import matplotlib  # noqa: F401, ICN001 (an extra)
    except ImportError:
        raise SledsimError(problem) from None


def size_in(size: Size, width_in: float, name: str = "size") -> tuple[float, float | None]:
    """Return the width and height that a size means, in inches; no height if it leaves it open."""
    if size is None:
        return width_in, None
    if isinstance(size, str) and size in WIDTHS_IN:
        return WIDTHS_IN[size], None
    match = _WXH.fullmatch(size) if isinstance(size, str) else None
    try:
        pair = match.groups() if match else () if isinstance(size, str) else tuple(size)
        numbers = [float(number) for number in pair]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 2 or not all(_LEAST_IN <= number <= _MOST_IN for number in numbers):
        must = f"column, page or WxH in inches, from {_LEAST_IN:g} to {_MOST_IN:g} each, as in 7x3"
        refuse(name, size, must)
    return numbers[0], numbers[1]


def _wrapped(text: str, inches: float, kind: str) -> str:
    width = max(20, int(inches * _CHARACTERS_PER_INCH[kind]))
    indent = "" if kind == "title" else "   "
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)


def load_title(workload: Mapping[str, Any]) -> str:
    """Name a load in a title: what it is, and how fast it comes.

    Parameters
    ----------
    workload
        ``workload`` of the document of a run.
    """
    if workload["workload"] == "trace":
        name = name_of(Path(workload["path"]))
        scale = workload.get("time_scale", 1.0)
        faster = f"{scale:g} times as fast" if scale != 1 else "as recorded"
    else:
        name = workload.get("preset") or workload["workload"]
        rate = workload.get("rate")
        faster = f"{rate:,g} requests/s" if rate is not None else ""
    if (depth := workload.get("queue_depth")) is not None:
        faster = f"{depth:,g} outstanding"
    return f"{name}, {faster}" if faster else str(name)
