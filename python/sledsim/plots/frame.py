"""How every picture begins and ends: its size, its panels, title, footnotes and caption."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict

from sledsim import _arguments as arguments
from sledsim import _core
from sledsim._arguments import as_list, refuse
from sledsim._core import SledsimError
from sledsim.plots import bars, curves, style, texts
from sledsim.plots.scales import inches_of
from sledsim.results import cautions
from sledsim.traces.frames import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledsim.plots.picture import Picture

    Size: TypeAlias = str | tuple[float, float] | None
    """``"column"``, ``"page"``, ``"WxH"`` in inches, or a pair of inches."""
    Place: TypeAlias = Axes | Sequence[Axes] | None
    """Axes to draw on: one for each panel."""
    Draw: TypeAlias = Callable[[Axes], Sequence[str] | None]
    """Draws a panel, and returns footnotes."""

WIDTHS_IN = {"column": 3.4, "page": 7.0}
"""Widths in the columns of a paper: one of two, and both."""
ROW_IN = 2.6
"""The most height of a row of panels in a column."""
_LEAST_IN, _MOST_IN = 1.5, 60.0
_AXES_IN = (0.5, 0.6)
"""The least width and height of axes: in less nothing can be read."""
_LABELS_IN = 0.75
"""What titles and labels of axes take of the height of a row."""
_PANEL_IN = 2.6
"""Panels that would be narrower stand below each other."""
_ROW_IN = 1.5
"""In less height panels stand side by side, however narrow they are."""
_GRID = 4
"""So many panels may also stand two by two."""
_ATTEMPTS = 12
"""So many sizes are tried to find one that has room."""
_NOTES = 0.2
"""The share of a height that was asked for which footnotes may take."""
_TITLE = 3
"""The most lines of a title."""
_MOVED = "notes: see the caption"
_KEY = 0.01
"""The height of the axes below a legend for all panels, as a share of a panel."""
_WXH = re.compile(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)", re.ASCII)


class How(TypedDict, total=False):
    """What the functions of all pictures take; :func:`sledsim.plots.cdf` says what it means."""

    ax: Place
    size: Size
    title: str | None
    panel: str | None
    notes: bool


class Panel(NamedTuple):
    """A panel of a picture."""

    draw: Draw
    what: str = ""
    """What it shows, for the caption."""
    x: object = None
    """Panels below each other that have the same share their X axis."""
    y: object = None
    """Panels beside each other that have the same share their Y axis."""
    wide: bool = False
    """Whether it is as wide as the picture, below the others."""


def picture(
    how: How,
    panels: Mapping[str, Panel],
    heading: str,
    *,
    facts: Sequence[str] = (),
    found: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    notes: Sequence[str] = (),
    width_in: float | None = None,
    height_in: float = 3.0,
    panel_in: float = _PANEL_IN,
    lines: int = 1,
    columns: int | None = None,
    stacked: bool = False,
    key: Callable[[], Mapping[str, Any]] | None = None,
) -> Picture:
    """Draw a picture in the style of all pictures.

    Parameters
    ----------
    how
        What the user asks for.
    panels
        The panels by their names.
    heading
        The title, unless the user gives one.
    facts, notes
        What the caption says of the load and the devices; footnotes beside those of the panels.
    found
        Cautions by the labels of their results.
    width_in, height_in
        The width without a size asked for, and the height of a row of panels.
    panel_in
        The least width of panels side by side.
    lines
        In how many lines the panels stand, if each has room; panels that follow each other stand
        below each other.
    columns
        In how many columns the panels stand at the most, if they wrap.
    stacked
        Whether the panels stand below each other in any case.
    key
        Returns the entries of a legend for all panels.
    """
    if unknown := sorted(how.keys() - How.__annotations__.keys()):
        known = ", ".join(How.__annotations__)
        raise TypeError(f"{', '.join(unknown)}: no option of pictures, which are {known}")
    require()
    name = how.get("panel")
    if name is not None:
        if name not in panels:
            refuse("panel", name, f"one of {', '.join(panels)}")
        panels = {name: panels[name]._replace(wide=False)}
    many = sum(not panel.wide for panel in panels.values()) > 1
    default_in = width_in or (WIDTHS_IN["page"] if many else 5.2)

    def drawn(ax: Place, size: Size) -> Picture:
        width, height = size_in(size, default_in)
        shown = list(panels.values())
        narrow = [panel for panel in shown if not panel.wide]
        with style.applied(width if ax is None else math.inf):
            if ax is not None:
                frame = _Frame(how, shown, _given(ax, size, len(panels)))
                return frame.drawn(heading, key, facts, every)
            across = _columns(len(narrow), width, panel_in, lines, columns, stacked=stacked)
            if height is not None:  # panels side by side rather than low ones
                ways = [across, 2 if len(narrow) == _GRID else across, -(-len(narrow) // lines)]
                high = [way for way in ways if height * way >= _ROW_IN * len(narrow)]
                across = max(across, next(iter(high), ways[-1]))
            if across > 1 and lines > 1:
                shown = [panel for line in range(lines) for panel in narrow[line::lines]]
            frame = _made({**how, "size": size}, shown, width, height_in, across, keyed=bool(key))
            return frame.drawn(heading, key, facts, every)

    every = [*cautions.lines(found or {}), *notes]
    try:
        return drawn(how.get("ax"), how.get("size"))
    except _TooSmallError as error:
        width, height = _with_room(drawn, error.size)
        more = f', or one panel: panel="{next(iter(panels))}"' if len(panels) > 1 else ""
        refuse("size", how.get("size"), f"about {width:g}x{height:g} or larger here{more}")


def _with_room(
    drawn: Callable[[Place, Size], object], size: tuple[float, float]
) -> tuple[float, float]:
    """Return a size in which a picture has room."""
    for _ in range(_ATTEMPTS):
        try:
            drawn(None, size)
        except _TooSmallError as error:
            size = error.size
        else:
            break
    return size


class _TooSmallError(Exception):
    """A size leaves no room for axes; another one may."""

    def __init__(self, size: tuple[float, float]) -> None:
        super().__init__(size)
        self.size = size


def _columns(
    panels: int, width: float, least: float, lines: int, wrapped: int | None, *, stacked: bool
) -> int:
    """Return how many panels stand side by side."""
    if wrapped:
        most = max(1, min(panels, wrapped, int((width - 0.4) / least)))
        return -(-panels // -(-panels // most))
    columns = -(-panels // lines)
    columns = columns if width / columns >= least and not stacked else 1
    if panels == _GRID and not stacked and columns == 1 and width / 2 >= least:
        return 2
    return columns


def _made(
    how: How, panels: list[Panel], width: float, height_in: float, columns: int, *, keyed: bool
) -> _Frame:
    from sledsim.plots.picture import Picture

    size = how.get("size")
    narrow = sum(not panel.wide for panel in panels)
    rows = -(-narrow // columns) + len(panels) - narrow
    row_in = min(height_in, ROW_IN) if size == "column" else height_in
    height = size_in(size, width)[1]
    figure = Picture(figsize=(width, height or row_in * rows), layout="constrained")
    ratios = [_KEY] * keyed + [1.0] * rows
    grid = figure.add_gridspec(keyed + rows, columns, height_ratios=ratios)
    places = [(keyed + n // columns, n % columns) for n in range(narrow)]
    places += [(keyed + rows - len(panels) + n, -1) for n in range(narrow, len(panels))]
    legend = figure.add_subplot(grid[0, :], label="key") if keyed else None
    axes = [figure.add_subplot(grid[r, c] if c >= 0 else grid[r, :]) for r, c in places]
    frame = _Frame(how, panels, axes, rows, row_in - _LABELS_IN if height is None else None)
    frame.places = places
    if legend:
        legend.set_axis_off()
        frame.key = legend
    return frame


class _Frame:
    """A picture that is being drawn."""

    def __init__(
        self,
        how: How,
        panels: list[Panel],
        axes: list[Axes],
        rows: int = 0,
        axes_in: float | None = None,
    ) -> None:
        self.how, self.panels, self.axes = how, panels, axes
        figure = axes[0].get_figure(root=True)
        assert figure is not None
        self.figure: Any = figure
        self.places: list[tuple[int, int]] = []
        """The row and the column of each panel; none on axes that were given."""
        self.key = axes[0]
        """Where a legend for all panels stands."""
        self.collapsed = False
        self.rows = rows
        self.axes_in = axes_in
        """The height of axes that the figure grows for; ``None`` if its height is fixed."""

    def drawn(
        self,
        heading: str,
        key: Callable[[], Mapping[str, Any]] | None,
        facts: Sequence[str],
        notes: Sequence[str],
    ) -> Picture:
        """Draw the panels, write title and footnotes, and return the figure."""
        notes = list(notes)
        for panel, axes in zip(self.panels, self.axes, strict=True):
            notes += panel.draw(axes) or ()
        notes = list(dict.fromkeys(notes))
        self._share()
        if key is not None:
            own = self.key.get_title(loc="left")
            curves.legend_above(self.key, key())
            curves.heading(self.key, own)
        asked = self.how.get("title")
        title = arguments.text("title", heading if asked is None else asked)
        text = _core.brief(" ".join(title.split()))
        what = "; ".join(dict.fromkeys(panel.what for panel in self.panels if panel.what))
        told = [getattr(self.figure, "caption", ""), _caption([what or heading, *facts], notes)]
        self.figure.caption = "\n".join(dict.fromkeys(filter(None, told)))
        shown = notes if self.how.get("notes", True) else []
        if self.places:
            self._finish(text, shown)
        else:
            self._on_given(text, shown)
            for axes in self.axes:
                texts.escape(axes)
        made: Picture = self.figure
        return made

    def _share(self) -> None:
        """Leave out the labels of axes that the panel below or beside has, too."""
        by_place = dict(zip(self.places, zip(self.axes, self.panels, strict=True), strict=False))
        for (row, column), (axes, panel) in by_place.items():
            below, left = by_place.get((row + 1, column)), by_place.get((row, column - 1))
            if below and panel.x is not None and below[1].x == panel.x:
                axes.tick_params(axis="x", which="both", labelbottom=False)
                axes.set_xlabel("")
                below[0].sharex(axes)
            if left and panel.y is not None and left[1].y == panel.y:
                axes.tick_params(axis="y", which="both", labelleft=False)
                axes.set_ylabel("")
        for row in {row for row, _ in self.places}:
            named = [
                axes
                for (own, _), (axes, panel) in by_place.items()
                if own == row and panel.y is not None and axes.get_xlabel()
            ]
            if len(named) > 1 and len({axes.get_xlabel() for axes in named}) == 1:
                _label_once(named)
        if self.places:
            self.figure.align_ylabels(self.axes)

    def _finish(self, title: str, notes: list[str]) -> None:
        """Write title and footnotes, and find the height."""
        figure = self.figure
        width, height = figure.get_size_inches()
        most = ROW_IN * self.rows if self.how.get("size") == "column" else math.inf
        if title:
            size = texts.points("large" if width > style.NARROW_IN else "medium")
            lines = _TITLE - (width <= style.NARROW_IN)
            text = texts.fitted(title, 0.84 * width, lines, size)  # it is bold
            figure.suptitle(text, x=0.01, ha="left")
        space = footnotes(figure, notes)
        room = height if self.axes_in is None else most
        if space > _NOTES * room:
            footnotes(figure, [_MOVED])
        self._lay_out()
        for _ in range(2):
            lack = self.rows * ((self.axes_in or 0.0) - self._least()[1])
            if self.axes_in is None or lack <= 0.01 or height >= most:
                break
            height = min(height + lack, most)
            figure.set_size_inches(width, height)
            self._lay_out()
        if notes and self._squashed():
            footnotes(figure, [_MOVED])
            self._lay_out()
        if self._squashed():
            raise _TooSmallError(self._larger())

    def _lay_out(self) -> None:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            named = [axes for axes in self.axes if bars.are_named(axes)]
            if named:
                texts.lay_out(self.figure)
            for axes in named:
                bars.rows(axes)  # the room is known only now
            curves.fit(self.figure)
        self.collapsed = any("collapsed" in str(each.message) for each in told)

    def _least(self) -> tuple[float, float]:
        """Return the least width and the least height of the axes in inches."""
        if self.collapsed:
            return 0.0, 0.0
        widths, heights = zip(*(inches_of(axes) for axes in self.axes), strict=True)
        return min(map(abs, widths)), min(map(abs, heights))

    def _squashed(self) -> bool:
        return any(own < least for own, least in zip(self._least(), _AXES_IN, strict=True))

    def _larger(self) -> tuple[float, float]:
        """Return a size in which axes may have room, in tenths of an inch."""
        many = max(column for _, column in self.places) + 1, self.rows
        inches = zip(self.figure.get_size_inches(), self._least(), _AXES_IN, many, strict=True)
        width, height = (
            math.ceil(10 * (whole + count * max(0.0, least - own)) - 1e-6) / 10
            for whole, own, least, count in inches
        )
        return width, height

    def _on_given(self, title: str, notes: list[str]) -> None:
        axes = self.axes[0]
        width = inches_of(axes)[0]
        if title:
            text = texts.wrapped(title, width)
            legend = axes.get_legend()  # it stands where the title would
            if legend is None:
                axes.set_title(text)
            else:
                legend.set_title(text)
        if notes:
            text = "\n".join(texts.wrapped(note, width, "small", "   ") for note in notes)
            axes.set_xlabel(f"{axes.get_xlabel()}\n{text}".strip())


def _label_once(panels: Sequence[Axes]) -> None:
    """Write the label of the X axis that panels of a row share below their middle."""
    text = panels[0].get_xlabel().replace("\n", " ")
    for axes in panels:
        axes.set_xlabel(" ")  # keeps the height
    middle = panels[(len(panels) - 1) // 2]
    middle.set_xlabel(text, x=0.5 if len(panels) % 2 else 1.06)
    middle.xaxis.label.set_in_layout(False)


def _caption(parts: Sequence[str], notes: Sequence[str]) -> str:
    """Write what belongs below a picture in a paper."""
    told = [f"Notes: {'; '.join(notes)}"] if notes else []
    every = [*parts, *told, f"Simulated with sledsim {_core.VERSION}"]
    sentences = (
        " ".join(part.replace("\u00a0", " ").split()).rstrip(".") for part in every if part
    )
    return " ".join(f"{text[:1].upper()}{text[1:]}." for text in sentences)


def footnotes(figure: Figure, notes: Sequence[str]) -> float:
    """Write footnotes below a figure with constrained layout; return the inches that they need."""
    if not notes:
        return 0.0
    width = 0.97 * figure.get_size_inches()[0]
    text = "\n".join(texts.wrapped(note, width, "small", "   ") for note in notes)
    figure.supxlabel(text, x=0.01, ha="left", fontsize=texts.points())
    return texts.points() * 1.25 / 72 * (1 + text.count("\n"))


def _given(ax: Place, size: Size, panels: int) -> list[Axes]:
    given: Any = [ax] if hasattr(ax, "get_figure") else ax
    axes: list[Any] = as_list("ax", getattr(given, "flat", given))  # subplots() returns an array
    if len(axes) != panels or not all(hasattr(each, "get_figure") for each in axes):
        refuse("ax", ax, f"{panels} axes, one for each panel" if panels > 1 else "one axes")
    if size is not None:
        refuse("size", size, "left out where ax is given: the figure is there")
    return axes


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
