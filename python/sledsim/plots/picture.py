"""The figures that the functions of this package return. It needs matplotlib, unlike the others."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from sledsim.plots.style import SAVING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": dict.fromkeys(["Creator", "Date", "Format", "Type"]),
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
}
"""What would differ from day to day or from version to version, left out."""
DPI = 200
"""Of files; of notebooks, half of it."""


def saving() -> AbstractContextManager[None]:
    """Return the context in which files are written."""
    return mpl.rc_context(SAVING)


class Picture(Figure):
    """A figure that notebooks show, and whose PDF files have TrueType fonts."""

    caption = ""
    """What belongs below it in a paper: what is drawn, load, devices, seed, intervals, cautions."""

    def savefig(self, fname: Any, **keys: Any) -> None:
        """Write the figure, as ``matplotlib.figure.Figure.savefig`` does."""
        with saving():
            super().savefig(fname, **keys)

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=DPI / 2, metadata=METADATA["png"])
        return content.getvalue()
