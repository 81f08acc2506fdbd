"""Shared code of the examples: the style of pictures, and the writing of files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

if TYPE_CHECKING:
    from collections.abc import Callable

INK, FAINT = "#1b1f24", "#d3d7dc"
STYLE = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 144,
    "svg.fonttype": "none",  # text stays text: it takes the font of the page
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
}
PLAIN = FuncFormatter(lambda value, _: f"{value:,.10g}")
LEFT_OUT = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}  # of text in pictures


def picture_path(text: str) -> Path:
    """Return the path of a picture, for ``argparse``.

    Raises
    ------
    ArgumentTypeError
        For the name of another kind of file.
    """
    path = Path(text)
    if path.suffix not in LEFT_OUT:
        msg = f"{text}: must end in {', '.join(LEFT_OUT)}"
        raise argparse.ArgumentTypeError(msg)
    return path


def write_results(
    options: argparse.Namespace,
    result: Any,
    picture: Callable[[Any], Figure],
    looks: dict[str, Any],
) -> None:
    """Write the numbers to ``--json`` and the picture to ``--output``, where they are asked for."""
    if options.json:
        write(options.json, json.dumps(result, indent=1) + "\n")
    if options.output:
        with style.context(["default", looks]):
            write(options.output, picture(result))


def write(path: Path, content: str | Figure) -> None:
    """Write a text or a picture atomically, and print its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        if isinstance(content, str):
            part.write_text(content, encoding="utf-8", newline="\n")
        else:
            content.savefig(part, format=path.suffix[1:], metadata={LEFT_OUT[path.suffix]: None})
        part.replace(path)
        print(f"Written: {path}")
    finally:
        part.unlink(missing_ok=True)
