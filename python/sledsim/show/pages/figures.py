"""Pictures of reports, drawn by sledsim.plots."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from sledsim import plots
from sledsim.plots.files import encoded
from sledsim.results import cautions
from sledsim.show.pages.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        The function.
    of
        What is drawn.
    caption, alt, wide
        As :class:`~sledsim.show.pages.parts.Figure` has them.
    options
        Further arguments of the function.
    """
    options.setdefault("size", None if wide else panel())
    draw = getattr(plots, kind)
    return Figure(encoded(draw(*of, title="", **options), "svg"), caption, alt, wide)
