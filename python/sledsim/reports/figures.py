"""Pictures of reports, drawn by sledsim.plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.reports.parts import Figure

if TYPE_CHECKING:
    from sledsim.reports.parts import Text

PANEL = "4.4x3.4"
"""Inches of a picture of one panel: on a phone its text is as large as that around it."""


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
        As :class:`~sledsim.reports.parts.Figure` has them.
    options
        Further arguments of the function.
    """
    from sledsim import plots  # noqa: PLC0415 (an extra)

    options.setdefault("size", "page" if wide else PANEL)
    figure = getattr(plots, kind)(*of, title="", **options)
    return Figure(plots.encoded(figure, "svg"), caption, alt, wide)
