"""A disk: platters, arm, zones and skew."""

import math

from draw import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_ORANGE,
    RED,
    WHITE,
    Drawing,
)

d = Drawing(760, 522, "A disk: platters, arm, zones and skew")

d.text(20, 28, "From the side: 3 platters, 6 surfaces", bold=True)
d.rect(142, 50, 22, 200, fill=GREY)
for i in range(3):
    y = 75 + i * 55
    d.rect(30, y, 246, 8, fill=PALE_BLUE, stroke=BLUE, width=1.5)
    for face in (y - 9, y + 14):
        d.line([(232, face), (330, face)], colour=ORANGE, width=3)
        d.rect(226, face - 3, 10, 6, fill=RED, stroke="none")
d.rect(322, 54, 18, 196, fill=ORANGE)
d.line([(231, 262), (231, 48)], colour=GREEN, dashed=True)
d.text(
    231,
    280,
    "a cylinder: the tracks under",
    "all heads at one place of the arm",
    size=13,
    anchor="middle",
    colour=GREEN,
)
d.text(20, 280, "spindle", size=13, colour=GREY)
d.line([(50, 266), (150, 250)], colour=GREY, width=1)
d.text(352, 140, "arm", size=13)

d.text(20, 340, "Skew", bold=True)
d.text(
    20,
    360,
    "The first sector of the next track lies further on,",
    "so that it is not missed while the head switches.",
    size=13,
)
for line, (name, shift) in enumerate((("track 0", 0), ("track 1", 3), ("next cylinder", 8))):
    y = 396 + line * 30
    d.text(20, y + 15, name, size=13)
    for i in range(12):
        sector = (i - shift) % 12
        d.rect(120 + i * 24, y, 24, 21, fill=PALE_ORANGE if sector == 0 else WHITE, stroke=GREY)
        d.text(132 + i * 24, y + 15, str(sector), size=12, anchor="middle", bold=sector == 0)
d.line([(120, 494), (408, 494)], colour=GREY, width=1, arrow="end")
d.text(264, 512, "order in which they pass the head", size=12, colour=GREY, anchor="middle")

d.text(440, 28, "From above: zones", bold=True)
x, y = 570, 185
for radius, parts, fill in ((130, 24, PALE_BLUE), (95, 18, PALE_GREEN), (62, 12, PALE_ORANGE)):
    d.circle(x, y, radius, fill=fill, stroke=GREY)
    for i in range(parts):
        a = 2 * math.pi * i / parts
        d.line(
            [
                (x + 32 * math.cos(a), y + 32 * math.sin(a)),
                (x + radius * math.cos(a), y + radius * math.sin(a)),
            ],
            colour=WHITE,
            width=1,
        )
d.circle(x, y, 32, fill=GREY, stroke=GREY)
d.circle(x, y, 80, fill="none", stroke=BLUE, width=2, dashed=True)
d.arc(x, y, 142, 205, 250, width=2, arrow="end")
d.text(425, 95, "turns", anchor="start", size=13)
d.line([(718, 330), (644, 214)], colour=ORANGE, width=7)
d.circle(718, 330, 11, fill=ORANGE)
d.rect(638, 206, 11, 11, fill=RED, stroke="none")
d.arc(718, 330, 150, 212, 258, colour=ORANGE, width=2, arrow="both")
d.text(680, 362, "arm: seek", size=13)
d.text(440, 345, "track: dashed", size=13, colour=BLUE)
d.text(
    440,
    390,
    "Zones: tracks farther out hold more sectors.",
    "atlas10k: 334 outside, 229 inside.",
    "To reach a block: seek, wait for the platter",
    "to turn to it, then transfer.",
    size=13,
)
d.save("disk")
