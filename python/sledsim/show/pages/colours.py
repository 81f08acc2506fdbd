"""Colours of pictures on a page, which has a light and a dark look."""

from __future__ import annotations

import re

from sledsim.plots.style import FAINT, INK, QUIET

PAPER = "#ffffff"
DARK_PAPER = "#14181d"
_NAMED = {INK: "--ink", PAPER: "--paper"}
"""Colours that are those of the page."""
_OF_THE_PAGE = (INK, PAPER, QUIET, FAINT)
"""Colours of text, paper and grids in the style of all pictures."""
_IMAGE = re.compile(r"<(\w+:)?image\b")
_LEAST, _ENOUGH = 3.0, 4.5
"""Contrasts: of shapes at the least, and of text."""
_GREY = 24
"""How far apart red, green and blue of a grey are at the most, of 255."""
_MOST = 48
"""Colours of one picture at the most that follow the page; with more it is a map of values."""
_HEX = re.compile(r"#[0-9a-f]{6}\b", re.ASCII)


class Palette:
    """The colours that the pictures of one page have."""

    def __init__(self) -> None:
        self._used: dict[str, str] = {}

    def mapped(self, svg: str) -> dict[str, str]:
        """Return what stands for each colour of a picture, and keep them for the page."""
        found = dict.fromkeys(_HEX.findall(svg))
        if _IMAGE.search(svg):  # greys that lie on it are not those of the page
            own = (c for c in found if c in _OF_THE_PAGE or not _is_grey(c))
            found = dict.fromkeys(own)
        many = len(found) > _MOST
        answers = {}
        for colour in found:
            if colour in _NAMED:
                answers[colour] = f"var({_NAMED[colour]})"
            elif not many or _is_grey(colour):
                answers[colour] = f"var({self._name(colour)})"
        return answers

    def _name(self, colour: str) -> str:
        return self._used.setdefault(colour, f"--c{colour[1:]}")

    @property
    def light(self) -> dict[str, str]:
        """Colours on white paper, by the names of their CSS variables."""
        return {name: colour for colour, name in sorted(self._used.items())}

    @property
    def dark(self) -> dict[str, str]:
        """Colours on dark paper, by the names of their CSS variables."""
        return {name: dark(colour) for colour, name in sorted(self._used.items())}


def dark(colour: str) -> str:
    """Return the colour on dark paper that stands for one on white paper.

    A grey has the same contrast to the dark paper. Another colour is mixed with white until it has
    the contrast that it had, of 3 to 4.5.
    """
    wanted = contrast(colour, PAPER)
    if _is_grey(colour):
        return _lightened(DARK_PAPER, wanted)
    return _lightened(colour, min(max(wanted, _LEAST), _ENOUGH))


def _lightened(colour: str, wanted: float) -> str:
    """Mix a colour with white until its contrast to the dark paper is what is wanted."""
    for share in range(101):
        mixed = "#" + "".join(
            f"{round(part + (255 - part) * share / 100):02x}" for part in _parts(colour)
        )
        if contrast(mixed, DARK_PAPER) >= wanted:
            return mixed
    return PAPER


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    shares = [part / 255 for part in _parts(colour)]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _is_grey(colour: str) -> bool:
    parts = _parts(colour)
    return max(parts) - min(parts) <= _GREY


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
