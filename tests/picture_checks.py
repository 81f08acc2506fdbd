"""What tests of pictures measure: boxes of texts, contrasts, colours apart, fonts."""

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Bbox

TEXT, LINE = 4.5, 3.0
"""Contrasts of WCAG 2.1: of text (1.4.3), and of what one must see to understand (1.4.11)."""
_SLACK_PT = 0.75
"""Boxes have room for accents and descenders: so much of each side may lie over another box."""


class Seen:
    """A picture as it is drawn: its texts, their boxes in points, what is behind them."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self._canvas = FigureCanvasAgg(figure)
        figure.draw_without_rendering()
        self._renderer = self._canvas.get_renderer()  # type: ignore[no-untyped-call]
        self._points = 72 / figure.dpi
        ticks = {}
        axes: list[Any] = figure.findobj(Axis)
        for axis in axes:
            if axis.axes.get_visible():
                ticks[axis] = list(self._tick_labels(axis))
        self.ticks: list[list[Text]] = list(ticks.values())
        """The labels of the ticks of each axis."""
        of_axes = {id(one) for one in self._all_ticks(ticks)}
        every: list[Any] = figure.findobj(Text)
        self.texts: list[Text] = [
            text for text in every if id(text) not in of_axes and self._is_drawn(text)
        ] + [text for texts in self.ticks for text in texts]
        """All texts that are drawn."""

    def problems(self, like_lines: Iterable[str] = ()) -> list[Any]:
        """Return what keeps a reader from reading it: texts over others, cut off, or pale."""
        return [*self.overlaps(), *self.cut_off(), *self.pale_texts(like_lines)]

    def box(self, text: Text) -> Bbox:
        """Return the box of a text in points, without arrows."""
        box = Text.get_window_extent(text, self._renderer)
        return Bbox(np.asarray(box) * self._points)

    def overlaps(self) -> list[tuple[str, str]]:
        """Return the pairs of texts that lie over each other."""
        boxes = [(text.get_text(), _smaller(self.box(text))) for text in self.texts]
        return [
            (one, other)
            for (one, box), (other, beside) in combinations(boxes, 2)
            if box.overlaps(beside)
        ]

    def cut_off(self) -> list[str]:
        """Return the texts that reach beyond the edge of the figure."""
        width, height = self.figure.get_size_inches() * 72
        return [
            text.get_text()
            for text in self.texts
            for box in [_smaller(self.box(text))]
            if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height
        ]

    def pale_texts(self, like_lines: Iterable[str] = ()) -> list[tuple[str, float]]:
        """Return the texts that do not stand out against what is behind most of them.

        Texts in a colour of ``like_lines`` need the contrast of lines.
        """
        shown = [text for text in self.texts if text.get_visible()]
        for text in shown:
            text.set_visible(False)
        constrained = self.figure.get_layout_engine()
        self.figure.set_layout_engine("none")  # nothing moves
        try:
            self._canvas.draw()  # type: ignore[no-untyped-call]
        finally:
            for text in shown:
                text.set_visible(True)
            self.figure.set_layout_engine(constrained)
        pixels = np.asarray(self._canvas.buffer_rgba())  # type: ignore[no-untyped-call]
        pixels = pixels[::-1, :, :3]
        pale = []
        for text in shown:
            behind = _most(pixels, np.asarray(self.box(text)) / self._points)
            if (patch := text.get_bbox_patch()) is not None:
                behind = _over(patch.get_facecolor(), behind)
            for effect in text.get_path_effects():
                if isinstance(effect, withStroke):  # an edge around the letters
                    gc: dict[str, Any] = vars(effect)["_gc"]
                    behind = np.array(to_rgba(gc["foreground"])[:3])
            own = np.array(to_rgba(text.get_color()))
            ratio = contrast(_over(own, behind), behind)
            lines = {to_rgba(colour) for colour in like_lines}
            least = LINE if tuple(own) in lines else TEXT
            if ratio < least:
                pale.append((text.get_text(), round(ratio, 2)))
        return pale

    def pale_lines(self) -> list[tuple[str, float]]:
        """Return the lines of axes that do not stand out against white."""
        white = np.ones(3)
        pale = []
        for axes in self.figure.axes:
            for line in axes.lines:
                seen = line.get_linestyle() != "None" or line.get_marker() not in {"None", ""}
                if not line.get_visible() or not seen:
                    continue
                marks = line.get_linestyle() == "None"
                colour: Any = line.get_markeredgecolor() if marks else line.get_color()
                own = np.array(to_rgba(colour, line.get_alpha()))
                if (ratio := contrast(_over(own, white), white)) < LINE:
                    pale.append((str(line.get_label()), round(ratio, 2)))
        return pale

    def _tick_labels(self, axis: Axis) -> Iterator[Text]:
        low, high = sorted(axis.get_view_interval())
        reach = 1e-9 * (high - low)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if low - reach <= tick.get_loc() <= high + reach and axis.get_visible():
                yield from (text for text in (tick.label1, tick.label2) if self._is_drawn(text))

    @staticmethod
    def _all_ticks(axes: Iterable[Axis]) -> Iterator[Text]:
        for axis in axes:
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                yield from (tick.label1, tick.label2)

    @staticmethod
    def _is_drawn(text: Artist) -> bool:
        assert isinstance(text, Text)
        return bool(text.get_visible() and text.get_text().strip())


def _smaller(box: Bbox) -> Bbox:
    """Return a box without the room that a font leaves around its letters."""
    return Bbox(
        [[box.x0 + _SLACK_PT, box.y0 + _SLACK_PT], [box.x1 - _SLACK_PT, box.y1 - _SLACK_PT]]
    )


def _most(pixels: Any, box: Any) -> Any:
    """Return the colour that most of the pixels in a box have; white outside."""
    (left, low), (right, high) = np.clip(np.rint(box), 0, None).astype(int)
    inside = pixels[low:high, left:right].reshape(-1, 3)
    if not len(inside):
        return np.ones(3)
    numbers = inside.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    colours, counts = np.unique(numbers, return_counts=True)  # numbers sort faster than rows
    colour = int(colours[counts.argmax()])
    return np.array([colour >> 16, colour >> 8 & 255, colour & 255]) / 255


def _over(colour: Any, behind: Any) -> Any:
    """Lay a colour with an alpha over another."""
    colour = np.asarray(colour, dtype=float)
    return colour[3] * colour[:3] + (1 - colour[3]) * np.asarray(behind)


def contrast(one: Any, other: Any) -> float:
    """Return the contrast of two colours, as matplotlib takes them (WCAG 2)."""
    lights = (linear(to_rgba(colour)[:3]) for colour in (one, other))
    low, high = sorted(float(light @ (0.2126, 0.7152, 0.0722)) for light in lights)
    return (high + 0.05) / (low + 0.05)


def linear(colour: Any) -> Any:
    """Return the light of a colour of sRGB."""
    colour = np.asarray(colour, dtype=float)
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


EYES = {
    "normal": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
"""What readers see, on linear light: Machado, Oliveira and Fernandes 2009, severity 1."""
_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(colour: str, eye: str = "normal") -> Any:
    """Return a colour as a reader sees it, in CIELAB for the white of sRGB."""
    light = np.clip(EYES[eye] @ linear(to_rgba(colour)[:3]), 0, 1)
    shares = _XYZ @ light / _WHITE
    x, y, z = np.where(shares > 0.008856, np.cbrt(shares), 7.787 * shares + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def nearest(colours: Iterable[str]) -> tuple[float, str, str, str]:
    """Return how far apart the nearest two colours are, and for whose eyes."""
    return min(
        (float(np.linalg.norm(lab(one, eye) - lab(other, eye))), one, other, eye)
        for one, other in combinations(colours, 2)
        for eye in EYES
    )


def fonts(pdf: bytes) -> set[str]:
    """Return the subtypes of the fonts of a PDF file of matplotlib."""
    kinds = re.findall(rb"<<[^<>]*/Type\s*/Font\b(?!Descriptor)[^<>]*", pdf)
    return {found.decode() for kind in kinds for found in re.findall(rb"/Subtype\s*/(\w+)", kind)}
