"""Shared code of the examples: the writing of numbers and of pictures in the style of sledsim."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from sledsim.plots import curves
from sledsim.plots.files import FORMATS, encoded
from sledsim.plots.style import INK, SAVING, STYLE

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["INK", "PLAIN", "STYLE", "picture_path", "write", "write_picture", "write_results"]

PLAIN = FuncFormatter(lambda value, _: f"{value:,.10g}")


def picture_path(text: str) -> Path:
    """Return the path of a picture, for ``argparse``.

    Raises
    ------
    ArgumentTypeError
        For the name of another kind of file.
    """
    path = Path(text)
    if path.suffix not in FORMATS:
        raise argparse.ArgumentTypeError(f"{text}: must end in {', '.join(FORMATS)}")
    return path


def write_results(
    options: argparse.Namespace, result: Any, picture: Callable[[Any], Figure]
) -> None:
    """Write the numbers to ``--json`` and the picture to ``--output``, where they are asked for."""
    if options.json:
        write(options.json, json.dumps(result, indent=1) + "\n")
    if options.output:
        write_picture(options.output, lambda: picture(result))


def write_picture(path: Path, draw: Callable[[], Figure]) -> None:
    """Draw in the style of sledsim, and write the picture."""
    with style.context(["default", STYLE]), mpl.rc_context(SAVING):
        figure = draw()
        curves.fit(figure)
        write(path, figure)


def write(path: Path, content: str | Figure) -> None:
    """Write a text or a picture atomically, and print its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        if isinstance(content, str):
            part.write_text(content, encoding="utf-8", newline="\n")
        else:
            part.write_bytes(encoded(content, path.suffix[1:]))
        part.replace(path)
        print(f"Written: {path}")
    finally:
        part.unlink(missing_ok=True)
