"""A sled from the side."""

from draw import BLACK, BLUE, GREY, LIGHT, ORANGE, PALE_BLUE, RED, Drawing

d = Drawing(760, 330, "A media sled from the side: the sled above fixed probe tips")

d.rect(40, 240, 680, 44, fill=LIGHT)
d.text(380, 267, "substrate with the probe tips and their electronics: fixed", anchor="middle")
for x in (55, 665):
    d.rect(x, 96, 40, 144, fill=BLACK)
d.text(75, 84, "anchor", anchor="middle")
d.text(685, 84, "anchor", anchor="middle")

left, right = 190, 570
d.rect(left, 110, right - left, 46, fill=PALE_BLUE, stroke=BLUE, width=2)
d.text(380, 138, "media sled", anchor="middle", bold=True)
for i in range(38):
    x = left + i * 10
    d.rect(x, 156, 10, 10, fill=BLUE if (i * i + i // 3) % 3 else PALE_BLUE, stroke=BLUE, width=0.5)
d.text(660, 226, "magnetic medium", size=12, colour=BLUE, anchor="end")
d.line([(590, 214), (562, 166)], colour=BLUE, width=1)

d.spring((95, 120), (left, 120))
d.spring((right, 120), (665, 120))
for x, inner, edge in ((95, 135, left), (625, 625, right)):
    d.text(142 if x < left else 618, 104, "spring", anchor="middle")
    d.rect(x, 138, 40, 26, fill=ORANGE)
    d.line([(inner, 145), (inner + (edge - inner) * 0.75, 145)], colour=ORANGE, width=4)
    d.line([(edge, 152), (edge + (inner - edge) * 0.75, 152)], colour=BLUE, width=3)
    d.text(142 if x < left else 618, 182, "actuator", anchor="middle")

for i in range(5):
    x = 235 + i * 70
    d.line([(x - 34, 239), (x - 34, 226), (x, 190)], colour=RED, width=3)
    d.polygon([(x - 4, 192), (x + 4, 192), (x, 178)], fill=RED, stroke=RED)
d.text(498, 230, "tips", colour=RED)
d.line([(186, 166), (200, 166)], colour=GREY, width=1)
d.line([(186, 178), (230, 178)], colour=GREY, width=1)
d.text(180, 206, "gap", size=12, colour=GREY, anchor="end")
d.line([(176, 196), (188, 173)], colour=GREY, width=1)

d.line([(240, 80), (520, 80)], width=2, arrow="both")
d.text(380, 66, "the sled moves in X, and in Y into and out of the page", anchor="middle")
d.text(380, 308, "Not to scale.", size=12, colour=GREY, anchor="middle")
d.save("sled-side")
