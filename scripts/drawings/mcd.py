"""A MEMS caching disk."""

from draw import (
    BLUE,
    GREEN,
    GREY,
    LIGHT,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_ORANGE,
    RED,
    WHITE,
    Drawing,
)

d = Drawing(760, 480, "MCD: a sled caches segments of a disk, through a segment buffer")

d.box(20, 60, 110, 64, "host", fill=LIGHT)

d.rect(250, 30, 490, 140, fill=PALE_BLUE, stroke=BLUE, width=2, round_=5)
d.text(262, 52, "front: MEMS sled, 256 MiB, slots of one segment", bold=True)
kinds = (PALE_GREEN, PALE_GREEN, PALE_ORANGE, "part", WHITE, PALE_ORANGE)
for i, kind in enumerate(kinds):
    x = 264 + i * 78
    d.rect(x, 66, 68, 44, fill=WHITE if kind == "part" else kind)
    if kind == "part":
        d.rect(x + 22, 66, 20, 44, fill=PALE_ORANGE)
    d.rect(x, 66, 8, 44, fill=GREY)
for x, colour, name in (
    (264, GREY, "header"),
    (340, PALE_GREEN, "clean"),
    (410, PALE_ORANGE, "dirty"),
    (478, WHITE, "free or not valid"),
):
    d.rect(x, 130, 14, 14, fill=colour)
    d.text(x + 20, 142, name, size=12)

d.rect(250, 232, 490, 62, fill=LIGHT, stroke=GREY, width=2, round_=5)
d.text(262, 258, "segment buffer: 2 MiB of non-volatile memory", bold=True)
d.text(262, 280, "holds what moves between sled and disk", size=12)
d.rect(250, 370, 490, 80, fill=LIGHT, stroke=GREY, width=2, round_=5)
d.text(262, 394, "back: disk", bold=True)
for i in range(20):
    d.rect(264 + i * 23, 408, 23, 26, fill=PALE_GREEN if i in {2, 9} else WHITE)

d.line([(132, 84), (248, 84)], colour=BLUE, width=2.5, arrow="both")
d.text(140, 72, "hit: the sled", size=13, colour=BLUE)
d.line([(440, 370), (440, 296)], colour=RED, width=2.5, arrow="end")
d.line([(440, 232), (440, 172)], colour=RED, width=2.5, arrow="end")
d.text(430, 336, "miss: 1. read the segment", size=13, colour=RED, anchor="end")
d.text(430, 206, "2. write it to a slot", size=13, colour=RED, anchor="end")
d.line([(250, 262), (75, 262), (75, 128)], colour=ORANGE, width=2.5, arrow="end")
d.text(84, 206, "Shortcut: the buffer", "answers pending", "requests", size=13)
d.line([(560, 170), (560, 230)], colour=GREEN, width=2.5, arrow="end")
d.line([(560, 294), (560, 368)], colour=GREEN, width=2.5, arrow="end")
d.text(570, 192, "destage: a dirty segment", "that is given up", size=13)
d.text(570, 316, "Immediate Report: the", "slot is free before this", "write is done", size=13)
d.text(
    20,
    330,
    "Partial Write: a bit",
    "for each block says",
    "what is valid; a write",
    "to part of a segment",
    "reads nothing",
    size=13,
)
d.save("mcd")
