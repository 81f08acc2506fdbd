"""A MEMS write buffer."""

from draw import BLUE, GREEN, GREY, LIGHT, ORANGE, PALE_BLUE, PALE_GREEN, PALE_ORANGE, RED, Drawing

d = Drawing(760, 460, "MWB: writes go to logs on a sled, a cleaner moves them to the disk")

d.box(20, 190, 110, 64, "host", fill=LIGHT)

d.rect(250, 30, 490, 140, fill=PALE_BLUE, stroke=BLUE, width=2, round_=5)
d.text(262, 52, "front: MEMS sled, 256 MiB, in logs of 128 KiB", bold=True)
for i in range(6):
    x = 264 + i * 78
    d.rect(x, 66, 68, 44)
    if i < 4:
        full = 3 if i < 3 else 2
        d.rect(x, 66, 8, 44, fill=GREEN if i < 3 else "#ffffff")
        for k in range(full):
            d.rect(x + 8 + k * 20, 66, 6, 44, fill=ORANGE)
            d.rect(x + 14 + k * 20, 66, 14, 44, fill=PALE_ORANGE)
for x, name in (
    (298, "oldest"),
    (376, "closed"),
    (454, "closed"),
    (532, "open"),
    (610, "free"),
    (688, "free"),
):
    d.text(x, 126, name, size=12, anchor="middle")
for x, colour, name in (
    (264, GREEN, "summary"),
    (370, ORANGE, "header of a record"),
    (530, PALE_ORANGE, "data"),
):
    d.rect(x, 144, 12, 14, fill=colour)
    d.text(x + 18, 156, name, size=12)

d.box(300, 220, 200, 62, "cleaner", "buffer of 2 MiB, sorts by LBN", fill=PALE_GREEN, size=13)
d.rect(250, 350, 490, 80, fill=LIGHT, stroke=GREY, width=2, round_=5)
d.text(262, 374, "back: disk", bold=True)
for i in range(20):
    d.rect(264 + i * 23, 388, 23, 26, fill=PALE_ORANGE if i in {3, 4, 5, 9, 14, 15} else "#ffffff")

d.line([(75, 190), (75, 75), (248, 75)], colour=RED, width=2.5, arrow="end")
d.text(86, 62, "writes", colour=RED, bold=True)
d.text(86, 95, "appended to the", "open log; complete", "when there", size=12)
d.line([(248, 150), (200, 150), (200, 208), (132, 208)], colour=BLUE, width=2.5, arrow="end")
d.line([(248, 390), (200, 390), (200, 236), (132, 236)], colour=BLUE, width=2.5, arrow="end")
d.text(20, 290, "reads", colour=BLUE, bold=True)
d.text(
    20,
    310,
    "each block from where its",
    "newest completed write is:",
    "sled, disk or both",
    size=12,
)

d.line([(340, 170), (340, 218)], colour=GREEN, width=2.5, arrow="end")
d.text(
    352, 192, "oldest logs, up to 16 together: blocks", "that no later write has replaced", size=12
)
d.line([(400, 282), (400, 348)], colour=GREEN, width=2.5, arrow="end")
d.text(
    412,
    304,
    "one request per run of neighbouring blocks,",
    "when the disk is idle or the logs are nearly full",
    size=12,
)
d.save("mwb")
