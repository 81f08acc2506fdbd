"""Statistics of traces and loads, which can be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._above import Drawn, Shown

if TYPE_CHECKING:
    pass

OF_PICTURES = ("timeline", "map", "lru_curve")
"""Keys that only a picture needs."""


class TraceInfo(Drawn, Shown, dict[str, Any]):
    """Statistics of a trace; made by :func:`trace_info` and :func:`load_info`.

    It is a dictionary, whose keys the page on traces explains.
    """

    _kind = "trace"
