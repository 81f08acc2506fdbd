"""Pictures of studies."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError
from sledsim.arguments import path_text, refuse

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

    from sledsim.studies.study import Study

_MOST_LINES = 12
_LOG_FROM = 30
"""From this ratio of the largest to the smallest on, the axis is logarithmic."""
_MARKERS = "osD^vP*X<>hd"
_FORMATS = (".png", ".svg", ".pdf")


def draw(study: Study, x: str, y: str, by: str | None, path: str | PathLike[str] | None) -> Figure:
    """Draw a result over a key, as :meth:`Study.plot` says.

    Raises
    ------
    SledsimError
        For an unknown name, more lines than can be told apart, a missing library, or a file that
        cannot be written.
    """
    for name, given in (("x", x), ("by", by)):
        if given is not None and given not in study.varied:
            refuse(name, given, f"a key that varies: {', '.join(study.varied) or 'there is none'}")
    means = study.means_table()
    results = [name for name in means.names() if f"{name}.low" in means.names()]
    if y not in results:
        refuse("y", y, f"a result: {_nearest(y, results)}")
    first = study.varied if by is None else [by, *(key for key in study.varied if key != by)]
    keys = [key for key in first if key != x]
    lines = _lines(means, x, y, keys)
    if len(lines) > _MOST_LINES:
        msg = f"{len(lines)} lines for {', '.join(keys)}: at most {_MOST_LINES} can be told apart"
        raise SledsimError(msg)
    figure = _drawn(lines, x, y, keys)
    if path is not None:
        write(figure, path)
    return figure


def write(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure in the format of the file's ending; the file appears when it is complete.

    Raises
    ------
    SledsimError
        For another ending, or a file that cannot be written.
    """
    file = Path(path_text("path", path))
    if file.suffix.lower() not in _FORMATS:
        refuse("path", str(file), f"a name that ends in {', '.join(_FORMATS)}")
    content = io.BytesIO()
    figure.savefig(content, format=file.suffix.lower().removeprefix("."), dpi=150)
    _core.write_atomically(file, content.getvalue())


def _nearest(name: str, known: list[str]) -> str:
    import difflib  # noqa: PLC0415 (only errors need it)

    near = difflib.get_close_matches(name, known, n=5, cutoff=0.4) or known[:10]
    return f"{', '.join(near)}, ..."


def _lines(
    means: _core.StudyTable, x: str, y: str, keys: list[str]
) -> dict[tuple[Any, ...], list[tuple[Any, Any, Any, Any]]]:
    """Return the points of each line: x, mean, low, high."""
    columns = [means.column(name) or [] for name in (x, y, f"{y}.low", f"{y}.high")]
    labels = [means.column(key) or [] for key in keys]
    lines: dict[tuple[Any, ...], list[tuple[Any, Any, Any, Any]]] = {}
    for row, point in enumerate(zip(*columns, strict=True)):
        if point[1] is not None:
            lines.setdefault(tuple(label[row] for label in labels), []).append(point)
    return lines


def _drawn(
    lines: dict[tuple[Any, ...], list[tuple[Any, Any, Any, Any]]], x: str, y: str, keys: list[str]
) -> Figure:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 (optional)
    except ImportError:
        msg = "plot needs matplotlib: pip install 'sledsim[plots]'"
        raise SledsimError(msg) from None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for number, (values, points) in enumerate(lines.items()):
        label = ", ".join(f"{key} = {_short(v)}" for key, v in zip(keys, values, strict=True))
        ordered = sorted(points, key=lambda point: point[0])
        places = [point[0] for point in ordered]
        marker = _MARKERS[number]
        (line,) = axes.plot(
            places, [p[1] for p in ordered], marker=marker, markersize=4, label=label or None
        )
        if all(point[2] is not None for point in ordered):
            low, high = ([point[side] for point in ordered] for side in (2, 3))
            axes.fill_between(places, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set(xlabel=x, ylabel=y)
    heights = [point[1] for points in lines.values() for point in points if point[1] > 0]
    if heights and max(heights) > _LOG_FROM * min(heights):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if any(keys):
        axes.legend(fontsize="small", frameon=False)
    return figure


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
