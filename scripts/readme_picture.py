"""Draws the picture of README.md: how long the reads of PostMark take on three devices.

Draw it anew, from the root of the checkout, with ``.venv/bin/python scripts/readme_picture.py``. It
writes docs/drawings/cdf.svg and needs nothing but sledsim. The same version of sledsim writes the
same bytes.

The load is the shipped trace ``postmark-ext4``, replayed with one request outstanding, because the
disk cannot keep up with its recorded pace. The devices are those that MSST 2005 compares: each is
behind a controller with 4 MB of cache.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import sledsim as ss

PICTURE = Path(__file__).parents[1] / "docs" / "drawings" / "cdf.svg"
TRACE = "sample:postmark-ext4"
# The device, what to call it, its colour, and where on its curve the label stands: the share of
# requests, the distance in pixels, and the end of the text that is nearest to the curve.
CURVES = (
    ("mems", "sled", "#009e73", 0.30, -12, "end"),
    ("mcd", "hybrid", "#0072b2", 0.56, 16, "start"),
    ("disk", "disk", "#d55e00", 0.45, 12, "start"),
)

WIDTH, HEIGHT = 700, 390
LEFT, RIGHT, TOP, BOTTOM = 62, 682, 38, 336
FIRST_MS, LAST_MS = 0.2, 50.0
TICKS_MS = (0.2, 0.5, 1, 2, 5, 10, 20, 50)
SHARES = (0, 25, 50, 75, 100)
INK, FAINT = "#1b1f24", "#d3d7dc"


def x(milliseconds: float) -> float:
    """Return the place of a time on the logarithmic axis."""
    share = math.log(milliseconds / FIRST_MS) / math.log(LAST_MS / FIRST_MS)
    return LEFT + (RIGHT - LEFT) * share


def y(share: float) -> float:
    """Return the place of a share of the requests."""
    return BOTTOM - (BOTTOM - TOP) * share


def curve(cdf: Sequence[tuple[float, float]]) -> str:
    """Return the points of a curve, a pixel apart at least."""
    points = [(x(FIRST_MS), y(max((share for time, share in cdf if time <= FIRST_MS), default=0)))]
    for time, share in cdf:
        if FIRST_MS < time <= LAST_MS:
            point = (x(time), y(share))
            if math.dist(point, points[-1]) >= 1:
                points.append(point)
    return " ".join(f"{across:.1f},{down:.1f}" for across, down in [*points, (RIGHT, y(1))])


def text(across: float, down: float, words: str, more: str = "") -> str:
    """Return a text; ``more`` are attributes."""
    return f'<text x="{across:.1f}" y="{down:.1f}"{more and " " + more}>{words}</text>'


def picture() -> str:
    """Simulate, and return the SVG."""
    load = ss.read_trace(TRACE, queue_depth=1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"',
        f'     width="{WIDTH}" height="{HEIGHT}" font-size="15" fill="{INK}"',
        '     font-family="system-ui, Helvetica, Arial, sans-serif">',
        "<title>Response times of the reads of PostMark on a disk, a hybrid and a sled</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for percent in SHARES:
        down = y(percent / 100)
        lines += [
            f'<path d="M{LEFT} {down:.1f}H{RIGHT}" stroke="{FAINT}"/>',
            text(LEFT - 8, down + 5, f"{percent} %", 'text-anchor="end"'),
        ]
    for time in TICKS_MS:
        lines += [
            f'<path d="M{x(time):.1f} {BOTTOM}v5" stroke="{INK}"/>',
            text(x(time), BOTTOM + 22, f"{time:g}", 'text-anchor="middle"'),
        ]
    lines += [
        text((LEFT + RIGHT) / 2, HEIGHT - 8, "response time (ms)", 'text-anchor="middle"'),
        text(12, 20, "reads that took no longer"),
    ]
    for name, label, colour, share, distance, anchor in CURVES:
        cdf = ss.simulate(load, ss.device(name)).cdf("response_time", op="read")
        beside = next(time for time, reached in cdf if reached >= share)
        look = f'fill="{colour}" font-weight="600" text-anchor="{anchor}"'
        lines += [
            f'<g fill="none" stroke="{colour}" stroke-width="2.5" stroke-linejoin="round">',
            f'<polyline points="{curve(cdf)}"/></g>',
            text(x(beside) + distance, y(share) + 5, label, look),
        ]
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8", newline="\n")
    print(f"Written: {PICTURE}")
