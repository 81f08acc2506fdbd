"""Texts of pictures: how wide they are, how they break into lines, how TeX is to read them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.text import Text

LEAST_PT = 7.0
"""No text is smaller, unless the user's own font is."""
_TEX = (
    {char: f"\\{char}" for char in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "|": "$|$", '"': r"\textquotedbl{}"}
    | {"\u00a0": "~", "\u2212": "$-$", "\u00d7": r"$\times$", "\u00b5": r"$\mu$"}
    | {"\u00b1": r"$\pm$", "\u2026": r"\ldots{}", "\u207b": "$^-$"}
    | {char: f"$^{number}$" for number, char in enumerate("\u2070\u00b9\u00b2\u00b3")}
    | {chr(0x2070 + number): f"$^{number}$" for number in range(4, 10)}
)
"""What TeX would take for commands, and what its fonts lack."""


def points(size: str | float = "small") -> float:
    """Return a size of text in points, of a name the one by the font size of the user."""
    from matplotlib.font_manager import FontProperties  # an extra

    base = FontProperties(size="medium").get_size_in_points()
    return max(FontProperties(size=size).get_size_in_points(), min(LEAST_PT, base))


def width_in(text: str, size: str | float = "small") -> float:
    """Return the width of the longest line of a text in inches."""
    from matplotlib import rcParams  # an extra

    family = ", ".join(rcParams["font.family"])
    return max(_width_in(line, points(size), family) for line in text.split("\n"))


@lru_cache(4096)
def _width_in(line: str, size_pt: float, _family: str) -> float:
    from matplotlib.font_manager import FontProperties  # an extra
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size_pt)
    return float(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0]) / 72


def wrapped(text: str, inches: float, size: str | float = "medium", indent: str = "") -> str:
    """Break a text into lines of at most so many inches; further lines begin with an indent."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and width_in(longer, size) > inches:
            lines.append(line)
            longer = indent + word
        line = longer
    return "\n".join([*lines, line])


def cut(text: str, inches: float, size: str | float = "small") -> str:
    """Cut a text in the middle if it is longer than so many inches."""
    kept = len(text)
    cut_text = text
    while kept > 4 and width_in(cut_text, size) > inches:
        kept -= 1
        end = kept // 2 - 1
        cut_text = f"{text[: kept - end - 1]}\u2026{text[len(text) - end :]}"
    return cut_text


def fitted(text: str, inches: float, lines: int, size: str | float = "medium") -> str:
    """Break a text into at most so many lines of so many inches, and cut it if it is longer."""
    found = text
    for share in range(10, 2, -1):
        found = wrapped(cut(text, share / 10 * lines * inches, size), inches, size)
        if found.count("\n") < lines:
            break
    return found


def for_tex(text: str) -> str:
    """Return a text as TeX is to read it, so that it shows every character."""
    return "".join(_TEX.get(char, char) for char in text)


def raw(text: Text) -> str:
    """Return a text as it was before :func:`escape`."""
    escaped, own = getattr(text, "_sledsim", ("", ""))
    return str(own) if text.get_text() == escaped else text.get_text()


def escape(artist: Artist) -> None:
    """Let TeX show texts, names and numbers as they are, where the user has it write texts."""
    from matplotlib import rcParams  # an extra
    from matplotlib.axis import Axis
    from matplotlib.text import Text
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    if not rcParams["text.usetex"]:
        return
    every: list[Any] = artist.findobj(Text)
    for text in every:
        if (own := raw(text)) == text.get_text():
            text.set_text(for_tex(own))
            text._sledsim = text.get_text(), own
    every = artist.findobj(Axis)
    for axis in every:
        inner = axis.get_major_formatter()
        if not isinstance(inner, ScalarFormatter) and not hasattr(inner, "for_tex"):
            axis.set_major_formatter(FuncFormatter(lambda *at, inner=inner: for_tex(inner(*at))))
            axis.get_major_formatter().for_tex = True


def lay_out(figure: Figure) -> None:
    """Give the axes of a figure their places, its texts as TeX needs them."""
    escape(figure)
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.execute(figure)


def draw(figure: Figure) -> None:
    """Give all of a figure its place, its texts as TeX needs them."""
    escape(figure)
    figure.draw_without_rendering()
