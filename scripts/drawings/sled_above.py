"""A sled from above."""

from draw import BLACK, BLUE, GREY, ORANGE, PALE_BLUE, RED, Drawing

d = Drawing(760, 520, "A media sled from above: springs, actuators, directions, probe tips")
left, top, side = 150.0, 110.0, 300.0
right, low = left + side, top + side

d.rect(20, 20, 560, 480, fill="none", stroke=GREY, dashed=True)
d.text(30, 40, "fixed frame", colour=GREY)

for x, y, dx, dy in (
    (left, top, -1, -1),
    (right, top, 1, -1),
    (left, low, -1, 1),
    (right, low, 1, 1),
):
    d.spring((x, y), (x + dx * 55, y + dy * 55))
    d.rect(x + dx * 55 - 9, y + dy * 55 - 9, 18, 18, fill=BLACK)

d.rect(left, top, side, side, fill=PALE_BLUE, stroke=BLUE, width=2)
cell = side / 5
for i in range(1, 5):
    d.line([(left + i * cell, top), (left + i * cell, low)], colour=BLUE, width=0.7)
    d.line([(left, top + i * cell), (right, top + i * cell)], colour=BLUE, width=0.7)
for i in range(5):
    for j in range(5):
        d.circle(left + (i + 0.62) * cell, top + (j + 0.38) * cell, 4, fill=RED, stroke=RED)

for at in (left - 62, right + 34):
    d.rect(at, top + 80, 28, side - 160, fill=ORANGE)
    inner = at + 28 if at < left else at
    edge = left if at < left else right
    for k in range(7):
        y = top + 92 + k * 19.3
        d.line([(inner, y), (inner + (edge - inner) * 0.7, y)], colour=ORANGE, width=3)
        d.line([(edge, y + 9.6), (edge + (inner - edge) * 0.7, y + 9.6)], colour=BLUE, width=2)
for at in (top - 62, low + 34):
    d.rect(left + 80, at, side - 160, 28, fill=ORANGE)
    inner = at + 28 if at < top else at
    edge = top if at < top else low
    for k in range(7):
        x = left + 92 + k * 19.3
        d.line([(x, inner), (x, inner + (edge - inner) * 0.7)], colour=ORANGE, width=3)
        d.line([(x + 9.6, edge), (x + 9.6, edge + (inner - edge) * 0.7)], colour=BLUE, width=2)

d.line([(526, 405), (570, 405)], width=2, arrow="end")
d.line([(526, 405), (526, 361)], width=2, arrow="end")
d.text(558, 424, "X")
d.text(534, 372, "Y")

x = 600
d.rect(x, 60, 24, 16, fill=PALE_BLUE, stroke=BLUE, width=2)
d.text(x + 34, 73, "media sled")
d.text(x + 34, 91, "moves in X and Y", size=12, colour=GREY)
d.rect(x + 4, 122, 16, 16, fill=PALE_BLUE, stroke=BLUE, width=0.7)
d.text(x + 34, 135, "region of")
d.text(x + 34, 153, "one tip")
d.circle(x + 12, 185, 4, fill=RED, stroke=RED)
d.text(x + 34, 190, "probe tip")
d.text(x + 34, 208, "fixed, below", "the sled", size=12, colour=GREY)
d.spring((x - 6, 255), (x + 30, 255), turns=4, size=5)
d.text(x + 34, 260, "spring")
d.text(x + 34, 278, "pulls towards", "the centre", size=12, colour=GREY)
d.rect(x, 315, 24, 16, fill=ORANGE)
d.text(x + 34, 328, "actuator")
d.text(x + 34, 346, "pushes the sled", "one way or", "the other", size=12, colour=GREY)
d.rect(x + 4, 400, 16, 16, fill=BLACK)
d.text(x + 34, 413, "anchor")
d.text(x, 450, "g2: 6,400 tips,", "100 µm of travel", "in X and in Y", size=12)
d.save("sled-above")
