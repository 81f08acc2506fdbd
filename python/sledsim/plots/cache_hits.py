"""Pictures of hit ratios of caches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim._number_text import plain
from sledsim.plots import curves, scales, units
from sledsim.plots.frame import Panel, picture
from sledsim.plots.style import looks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture

_NEEDED = {"policy", "size_mib", "segment_kib", "hit_ratio"}


def hits(
    rows: Sequence[Mapping[str, Any]],
    **how: Unpack[How],
) -> Picture:
    """Draw hit ratios over the sizes of caches: a line for each policy.

    Parameters
    ----------
    rows
        What :func:`sledsim.hit_ratios` returns.
    **how
        As for :func:`~sledsim.plots.cdf`; rows do not tell the load.

    Raises
    ------
    SledsimError
        For other rows, an unknown size, or a missing library.
    """
    if not _are_hits(rows):
        refuse("rows", rows, "what hit_ratios(load) returns")
    segments = " and ".join(dict.fromkeys(plain(row["segment_kib"]) for row in rows))

    def draw(axes: Axes) -> None:
        look = looks(list(dict.fromkeys(row["policy"] for row in rows)))
        lines = {}
        for policy, its in look.items():
            of = [row for row in rows if row["policy"] == policy and row["hit_ratio"] is not None]
            points = sorted((row["size_mib"] * 2**20, 100 * row["hit_ratio"]) for row in of)
            places, ratios = zip(*points, strict=True) if points else ((), ())
            lines[policy] = axes.plot(
                places, ratios, marker=its.marker, markersize=4.5, label=policy, **its.line()
            )[0]
        sizes = sorted({row["size_mib"] * 2**20 for row in rows})
        scales.at_values(axes, sizes, units.binary)
        highest = max((100 * (row["hit_ratio"] or 0.0) for row in rows), default=0.0)
        axes.set(xlabel="size of the cache", ylabel="hit ratio, %")
        axes.set_ylim(0, min(max(1.1 * highest, 1.0), 102.0))
        curves.name(axes, lines, at_ends=True)

    heading = f"hit ratios of caches of {segments} KiB segments"
    return picture(how, {"hits": Panel(draw)}, heading, height_in=3.4)


def _are_hits(rows: object) -> bool:
    return (
        isinstance(rows, list | tuple)
        and bool(rows)
        and all(isinstance(row, Mapping) and row.keys() >= _NEEDED for row in rows)
    )
