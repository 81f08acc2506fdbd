"""Statistics of traces and loads, which can be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _above
from sledsim._above import Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.plots.frame import Place, Size

OF_PICTURES = ("timeline", "map", "lru_curve")
"""Keys that only a picture needs."""


class TraceInfo(Shown, dict[str, Any]):
    """Statistics of a trace; made by :func:`trace_info` and :func:`load_info`.

    It is a dictionary, whose keys the page on traces explains.
    """

    def plot(self, *, ax: Place = None, size: Size = None, title: str | None = None) -> Figure:
        """Draw arrivals and places over time, sizes, and hit ratios of LRU caches.

        The statistics must have been made with ``picture=True``. See :func:`sledsim.plots.trace`
        for the parameters.
        """
        figure: Figure = _above.plots().trace(self, ax=ax, size=size, title=title)
        return figure
