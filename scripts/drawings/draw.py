"""What the drawings of the documentation are made with: shapes and text, written as SVG.

Each file beside this one draws one picture into docs/drawings; `python scripts/drawings/all.py`
draws all of them. The colours are those of Okabe and Ito, which the colour-blind can tell apart.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parents[2] / "docs" / "drawings"

BLACK = "#1a1a1a"
GREY = "#767676"
LIGHT = "#ececec"
WHITE = "#ffffff"
BLUE = "#0072b2"
SKY = "#56b4e9"
GREEN = "#009e73"
ORANGE = "#e69f00"
RED = "#d55e00"
PALE_BLUE = "#d6ecf8"
PALE_GREEN = "#cfeee3"
PALE_ORANGE = "#fbe8bf"
PALE_RED = "#f7d9c6"

_COLOURS = {BLACK: "k", GREY: "g", BLUE: "b", GREEN: "n", ORANGE: "o", RED: "r", SKY: "s"}

Point = tuple[float, float]


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


class Drawing:
    """A picture of a size in pixels; `save` writes it."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._parts: list[str] = []
        self._heads: set[str] = set()

    def rect(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        *,
        fill: str = WHITE,
        stroke: str = BLACK,
        width: float = 1,
        round_: float = 0,
        dashed: bool = False,
    ) -> None:
        """Draw a rectangle from its upper left corner."""
        self._parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}"'
            + (f' rx="{_n(round_)}"' if round_ else "")
            + f' fill="{fill}"{_stroke(stroke, width, dashed)}/>'
        )

    def circle(
        self,
        x: float,
        y: float,
        r: float,
        *,
        fill: str = WHITE,
        stroke: str = BLACK,
        width: float = 1,
        dashed: bool = False,
    ) -> None:
        """Draw a circle around a point."""
        self._parts.append(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}" fill="{fill}"'
            f"{_stroke(stroke, width, dashed)}/>"
        )

    def polygon(
        self, points: Sequence[Point], *, fill: str = WHITE, stroke: str = BLACK, width: float = 1
    ) -> None:
        """Draw a closed polygon."""
        at = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._parts.append(f'<polygon points="{at}" fill="{fill}"{_stroke(stroke, width, False)}/>')

    def line(
        self,
        points: Sequence[Point],
        *,
        colour: str = BLACK,
        width: float = 1.5,
        dashed: bool = False,
        arrow: str = "",
    ) -> None:
        """Draw a line through points; `arrow` is "", "start", "end" or "both"."""
        at = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._parts.append(
            f'<polyline points="{at}" fill="none"{_stroke(colour, width, dashed)}'
            f"{self._ends(colour, arrow)}/>"
        )

    def arc(
        self,
        x: float,
        y: float,
        r: float,
        first: float,
        last: float,
        *,
        colour: str = BLACK,
        width: float = 1.5,
        dashed: bool = False,
        arrow: str = "",
    ) -> None:
        """Draw an arc around a point, clockwise from one angle to another, in degrees."""
        a, b = math.radians(first), math.radians(last)
        large = int(last - first > 180)
        self._parts.append(
            f'<path d="M{_n(x + r * math.cos(a))} {_n(y + r * math.sin(a))}A{_n(r)} {_n(r)} 0 '
            f'{large} 1 {_n(x + r * math.cos(b))} {_n(y + r * math.sin(b))}" fill="none"'
            f"{_stroke(colour, width, dashed)}{self._ends(colour, arrow)}/>"
        )

    def spring(self, start: Point, end: Point, *, turns: int = 6, size: float = 7) -> None:
        """Draw a spring between two points."""
        (x0, y0), (x1, y1) = start, end
        length = math.hypot(x1 - x0, y1 - y0)
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        points = [start]
        for turn in range(2 * turns):
            along = length * (0.15 + 0.7 * (turn + 0.5) / (2 * turns))
            side = size if turn % 2 else -size
            points.append((x0 + along * dx - side * dy, y0 + along * dy + side * dx))
        points.append(end)
        self.line(points, colour=GREEN, width=2)

    def text(
        self,
        x: float,
        y: float,
        *lines: str,
        size: int = 14,
        colour: str = BLACK,
        anchor: str = "start",
        bold: bool = False,
    ) -> None:
        """Write lines of text; `y` is the base of the first, `anchor` start, middle or end."""
        for number, line in enumerate(lines):
            self._parts.append(
                f'<text x="{_n(x)}" y="{_n(y + number * size * 1.25)}"'
                + (f' font-size="{size}"' if size != 14 else "")
                + (f' fill="{colour}"' if colour != BLACK else "")
                + (f' text-anchor="{anchor}"' if anchor != "start" else "")
                + (' font-weight="bold"' if bold else "")
                + f">{escape(line)}</text>"
            )

    def box(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        *lines: str,
        fill: str = LIGHT,
        stroke: str = BLACK,
        size: int = 14,
        bold: bool = True,
    ) -> None:
        """Draw a box with lines of text in its middle."""
        self.rect(x, y, w, h, fill=fill, stroke=stroke, width=1.5, round_=5)
        first = y + h / 2 + size * (0.35 - 0.625 * (len(lines) - 1))
        for number, line in enumerate(lines):
            self.text(
                x + w / 2,
                first + number * size * 1.25,
                line,
                size=size,
                anchor="middle",
                bold=bold and number == 0,
            )

    def save(self, name: str) -> Path:
        """Write docs/drawings/`name`.svg."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="14" fill="{BLACK}">'
        )
        marks = "".join(
            f'<marker id="{_COLOURS[colour]}" viewBox="0 0 10 10" refX="9" refY="5" '
            f'markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" '
            f'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{colour}"/></marker>'
            for colour in sorted(self._heads)
        )
        lines = [head, f"<title>{escape(self.title)}</title>"]
        lines += [f"<defs>{marks}</defs>"] if marks else []
        lines += [f'<rect width="{self.width}" height="{self.height}" fill="{WHITE}"/>']
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"{name}.svg"
        path.write_text("\n".join([*lines, *self._parts, "</svg>\n"]), encoding="utf-8")
        return path

    def _ends(self, colour: str, arrow: str) -> str:
        if not arrow:
            return ""
        self._heads.add(colour)
        mark = f"url(#{_COLOURS[colour]})"
        start = f' marker-start="{mark}"' if arrow in {"start", "both"} else ""
        return start + (f' marker-end="{mark}"' if arrow in {"end", "both"} else "")


def _stroke(colour: str, width: float, dashed: bool) -> str:
    if colour == "none":
        return ""
    return (
        f' stroke="{colour}"'
        + (f' stroke-width="{_n(width)}"' if width != 1 else "")
        + (' stroke-dasharray="5 4"' if dashed else "")
    )
