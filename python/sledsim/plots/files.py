"""Pictures as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._arguments import path_text, refuse

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
"""Endings of pictures."""


def save(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure in the format of the file's ending; the file appears when it is complete.

    PDF files have TrueType fonts, the text of SVG files stays text.

    Parameters
    ----------
    figure
        A figure of this package, or another one of matplotlib.
    path
        The file: ``.png``, ``.svg`` or ``.pdf``.

    Raises
    ------
    SledsimError
        For another ending, or a file that cannot be written.
    """
    file = Path(path_text("path", path))
    kind = file.suffix.lower()
    if kind not in FORMATS:
        refuse("path", str(file), f"a name that ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    _core.write_atomically(file, encoded(figure, kind[1:]))


def encoded(figure: Figure, kind: str) -> bytes:
    """Return a figure as a file, the same bytes each time.

    Parameters
    ----------
    figure
        A figure of this package, or another one of matplotlib.
    kind
        ``"png"``, ``"svg"`` or ``"pdf"``.
    """
    from sledsim.plots.picture import DPI, METADATA, saving  # an extra

    content = io.BytesIO()
    with saving():
        figure.savefig(content, format=kind, dpi=DPI, metadata=METADATA[kind])
    return content.getvalue()
