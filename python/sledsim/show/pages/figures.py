"""Pictures of reports, drawn by sledsim.plots."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from sledsim import plots
from sledsim.plots.files import encoded
from sledsim.plots.frame import begin
from sledsim.plots.style import OPS
from sledsim.results import cautions
from sledsim.show.pages.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Picture

    from sledsim.failures.crashes import CrashReport
    from sledsim.plots.frame import Size
    from sledsim.show.sheet import Text

_WIDTH_IN, _HEIGHT_IN, _LINE_IN = 4.4, 3.3, 0.17
"""Of a picture of one panel: on a phone its text is nearly as large as that around it."""
_WIDE = 62
"""Characters of a line of its footnotes."""


def panel(
    found: Mapping[str, Sequence[Mapping[str, Any]]] | None = None, more_in: float = 0.0
) -> tuple[float, float]:
    """Return the inches of a picture of one panel, with room for its footnotes.

    Parameters
    ----------
    found
        Cautions by label, of which the picture has footnotes.
    more_in
        How much higher it is than others.
    """
    lines = [len(textwrap.wrap(line, _WIDE)) for line in cautions.lines(found or {})]
    notes = 1 + sum(lines) if lines else 0
    return _WIDTH_IN, _HEIGHT_IN + more_in + _LINE_IN * notes


def drawn(
    kind: str, *of: Any, caption: Text, alt: str, wide: bool = False, **options: Any
) -> Figure:
    """Return a picture that a function of :mod:`sledsim.plots` draws.

    Parameters
    ----------
    kind
        The function; or ``"crash"``.
    of
        What is drawn.
    caption, alt, wide
        As :class:`~sledsim.show.pages.parts.Figure` has them.
    options
        Further arguments of the function.
    """
    options.setdefault("size", None if wide else panel())
    draw = crash if kind == "crash" else getattr(plots, kind)
    return Figure(encoded(draw(*of, title="", **options), "svg"), caption, alt, wide)


def crash(test: CrashReport, *, size: Size = None, title: str = "") -> Picture:
    """Draw what became of the writes that were under way when the power failed.

    Parameters
    ----------
    test
        The crash test.
    size, title
        As for :func:`sledsim.plots.cdf`.
    """
    way = test.to_dict()["under_way"]
    counts = {name: way[name] for name in ("kept", "torn", "lost")}
    with begin(None, size, height_in=2.4) as frame:
        (axes,) = frame.axes
        axes.barh(list(counts), list(counts.values()), color=OPS["write"])
        for place, count in enumerate(counts.values()):
            axes.annotate(
                f"{count:,}", (count, place), (4, 0), textcoords="offset points", va="center"
            )
        axes.invert_yaxis()
        axes.margins(x=0.15)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("writes under way at a power failure")
        return frame.end(title)
