"""The order of LBNs over the tracks and cylinders of a sled."""

from draw import BLUE, GREEN, GREY, ORANGE, PALE_BLUE, PALE_GREEN, RED, Drawing

d = Drawing(760, 510, "Cylinder, track, row: how LBNs run up and down over a sled")
d.text(20, 28, "Cylinder 0 of g2: five tracks of 27 rows of 20 blocks", bold=True)
d.text(
    20, 48, "The five tracks lie at the same X. Each is read with other tips.", size=13, colour=GREY
)

wide, step, top, low = 84, 112, 110, 390
rows = (
    ("26", 110),
    ("25", 142),
    ("", 174),
    ("", 206),
    ("", 238),
    ("", 270),
    ("", 302),
    ("1", 334),
    ("0", 366),
)
for track in range(5):
    x = 56 + track * step
    up = track % 2 == 0
    d.text(x + wide / 2, 92, f"track {track}", anchor="middle")
    for name, y in rows:
        d.rect(x, y, wide, 24, fill=PALE_BLUE if up else PALE_GREEN, stroke=GREY, width=0.7)
        if name:
            row = int(name)
            first = track * 540 + 20 * (row if up else 26 - row)
            d.text(x + wide / 2, y + 17, f"{first}-{first + 19}", size=12, anchor="middle")
            if track == 0:
                d.text(48, y + 17, name, size=12, anchor="end", colour=GREY)
    ends = [(x + wide / 2, 326), (x + wide / 2, 180)]
    d.line(ends if up else ends[::-1], colour=BLUE if up else GREEN, width=3, arrow="end")
    if track < 4:
        middle = x + (wide + step) / 2
        y, angles = (top, (180, 360)) if up else (low, (0, 180))
        if up:
            d.arc(middle, y - 6, 12, *angles, colour=RED, width=2, arrow="end")
        else:
            d.arc(middle, y + 6, 12, *angles, colour=RED, width=2, arrow="start")
d.text(20, 92, "row", size=12, colour=GREY)

x = 650
d.text(x + wide / 2, 70, "cylinder 1", anchor="middle", bold=True)
d.text(x + wide / 2, 92, "track 0", anchor="middle")
for name, y in rows:
    d.rect(x, y, wide, 24, fill=PALE_GREEN, stroke=GREY, width=0.7)
    if name:
        first = 2700 + 20 * (26 - int(name))
        d.text(x + wide / 2, y + 17, f"{first}-{first + 19}", size=12, anchor="middle")
d.line([(x + wide / 2, 180), (x + wide / 2, 326)], colour=GREEN, width=3, arrow="end")
d.line([(592, 122), (646, 122)], colour=ORANGE, width=4, arrow="end")

d.line([(24, 440), (60, 440)], colour=BLUE, width=3, arrow="end")
d.text(70, 445, "pass up or down over the rows: 0.129 ms a row, 20 blocks")
d.line([(24, 466), (60, 466)], colour=RED, width=2, arrow="end")
d.text(70, 471, "turnaround in Y at the end of a track, with a change of tips: 0.041 ms, and the")
d.text(70, 489, "servo field crossed: 0.014 ms")
d.line([(520, 440), (556, 440)], colour=ORANGE, width=4, arrow="end")
d.text(566, 445, "next cylinder: 0.229 ms")
d.save("track")
