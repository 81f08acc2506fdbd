"""Maps of studies: a result by two keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim._number_text import number
from sledsim.plots import colour_bars, maps, names, scales, texts
from sledsim.plots.study_lines import are_numbers, by_panel, check_keys, points_of, values_of
from sledsim.plots.study_pictures import (
    check_study,
    counted,
    faceted,
    head,
    heading,
    label_categories,
)
from sledsim.plots.style import QUIET, heat_colours

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture
    from sledsim.plots.study_lines import Point
    from sledsim.studies.study import Study

_LOG_FROM = 30
"""From this ratio of the largest to the smallest on, colours are logarithmic."""
_BESIDE = 0.8
"""The share of the room that the bar of colours leaves."""


def heat(
    of: Study,
    x: str,
    y: str,
    z: str,
    *,
    col: str | None = None,
    row: str | None = None,
    **how: Unpack[How],
) -> Picture:
    """Draw a result of a study by two keys as a map: a cell for each pair of values.

    The values stand in the cells where they have room. Cells that are not to be relied on, as
    those of an overloaded device, are hatched, and their values have the mark ``!``.

    Parameters
    ----------
    of
        The study.
    x, y
        Keys that vary.
    z
        A result, as the column is called.
    col, row
        Further keys that vary, as for :func:`~sledsim.plots.study`.
    **how
        As for :func:`~sledsim.plots.study`.

    Raises
    ------
    SledsimError
        For an unknown name, a further key that varies and is not given, an unknown size, or a
        missing library.
    """
    check_study(of)
    given = {"x": x, "y": y, "col": col, "row": row}
    if rest := check_keys(of, given):
        free = [name for name in ("col", "row") if given[name] is None]
        ask = " and ".join(f'{name}="{key}"' for name, key in zip(free, rest, strict=False))
        ask = f"give {ask}" if len(rest) <= len(free) else "run one value of some of them"
        raise SledsimError(f"{', '.join(rest)}: varies, too, and a cell has one value: {ask}")
    points = points_of(of, z, "z")
    if not points:
        raise SledsimError(f"z = {z!r}: none of the {len(of.keys):,} runs has a value")
    panels = by_panel(points, row, col)
    across, up = values_of(points, x), values_of(points, y)
    up = up if are_numbers(up) else up[::-1]  # names begin at the top
    every = [point.mean for point in points]
    made: list[Axes] = []

    def draw(axes: Axes, title: str) -> None:
        mesh = _cells(axes, {(p.at[x], p.at[y]): p for p in panels[title]}, across, up, every)
        axes.set_xlabel(scales.wrapped(axes, names.label(x)))
        axes.set_ylabel(scales.wrapped(axes, names.label(y), "y"))
        head(axes, title, panels)
        made.append(axes)
        count = 1 if how.get("panel") else len(panels)
        if len(made) % count == 0:  # the others of this figure are drawn
            colour_bars.draw(made[-count:], mesh, names.label(z))

    codes = [code for point in points for code in point.unreliable]
    return faceted(
        of,
        dict.fromkeys(panels, draw),
        how,
        heading(of, z, x, y, col, row),
        notes=[f"! hatched cells are not to be relied on: {counted(codes)}"] * bool(codes),
        columns=len(values_of(points, col)) if col else 1,
        forced=row is not None,
        height_in=max(2.6, 1.2 + 0.3 * len(up)),
    )


def _cells(
    axes: Axes,
    found: dict[tuple[Any, Any], Point],
    across: list[Any],
    up: list[Any],
    every: list[float],
) -> Any:
    from matplotlib.colors import LogNorm, Normalize  # an extra
    from matplotlib.patches import Rectangle

    least, most = min(every, default=0.0), max(every, default=1.0)
    norm = (LogNorm if most > _LOG_FROM * least > 0 else Normalize)(least, most)
    nothing = float("nan")
    means = [[found[a, b].mean if (a, b) in found else nothing for a in across] for b in up]
    mesh = axes.pcolormesh(means, cmap=heat_colours(), norm=norm, edgecolor="white", linewidth=0.6)
    said = {
        place: number(point.mean, 3) + " !" * bool(point.unreliable)
        for place, point in found.items()
    }
    width, height = scales.inches_of(axes)
    room = _BESIDE * width / len(across), height / len(up)
    fits = room[1] > 1.7 * texts.points() / 72 and room[0] > 0.04 + max(
        map(texts.width_in, said.values()), default=0.0
    )
    for (a, b), point in found.items():
        left, low = across.index(a), up.index(b)
        if point.unreliable:
            look: Any = {"fill": False, "linewidth": 0, "edgecolor": QUIET, "hatch": "////"}
            axes.add_patch(Rectangle((left, low), 1, 1, **look))
        if fits:
            maps.write(axes, (left + 0.5, low + 0.5), said[a, b])
    label_categories(axes, "x", across, 0.5)
    label_categories(axes, "y", up, 0.5)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    return mesh
