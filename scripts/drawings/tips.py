"""Tips, the regions they see, and what lies in a region."""

from draw import BLUE, GREEN, GREY, ORANGE, PALE_BLUE, RED, SKY, Drawing

d = Drawing(760, 500, "Tips and squares: the region of one tip, its bits, tip sectors and servo")

d.text(20, 28, "One square of g2: 64 tips, one block", bold=True)
cell, left, top = 34, 20, 46
d.rect(left, top, 8 * cell, 8 * cell, fill=PALE_BLUE, stroke=BLUE, width=2)
for i in range(1, 8):
    d.line([(left + i * cell, top), (left + i * cell, top + 8 * cell)], colour=BLUE, width=0.5)
    d.line([(left, top + i * cell), (left + 8 * cell, top + i * cell)], colour=BLUE, width=0.5)
for i in range(8):
    for j in range(8):
        d.circle(left + i * cell + 20, top + j * cell + 22, 2.5, fill=RED, stroke="none")
        d.rect(left + i * cell + 18, top + j * cell + 8, 4, 11, fill=GREEN, stroke="none")
d.rect(left + 7 * cell, top, cell, cell, fill="none", width=2.5)
d.line([(left + 8 * cell, top), (400, 46)], colour=GREY, width=1, dashed=True)
d.line([(left + 8 * cell, top + cell), (400, 446)], colour=GREY, width=1, dashed=True)

d.circle(28, 345, 3.5, fill=RED, stroke=RED)
d.text(42, 350, "tip: all are at the same place of their regions")
d.rect(25, 363, 5, 13, fill=GREEN, stroke=GREEN)
d.text(42, 375, "tip sector: 8 bytes of the block")
d.text(20, 405, "64 tip sectors of 8 bytes are a block of 512.", size=13)
d.text(
    20,
    425,
    "g2 has 100 such squares; power is enough",
    "for 20 at once: 20 blocks are a row.",
    size=13,
)

d.text(400, 28, "The region of one tip: 100 µm x 100 µm", bold=True)
x0, y0, w, h = 400, 46, 240, 400
d.rect(x0, y0, w, h, fill=PALE_BLUE, stroke=BLUE, width=2)
column = 12
for i in range(1, 20):
    d.line([(x0 + i * column, y0), (x0 + i * column, y0 + h)], colour=SKY, width=0.5)
servo, sector = 10, 86
for k in range(5):
    y = y0 + 3 + k * 96
    d.rect(x0, y, w, servo, fill=ORANGE, stroke=ORANGE)
    if k < 4:
        d.rect(x0 + 12 * column, y + servo, column, sector, fill=GREEN, stroke=GREEN)
d.circle(x0 + 12.5 * column, y0 + 245, 5, fill=RED, stroke=RED)
d.line(
    [(x0 + 12.5 * column, y0 + 238), (x0 + 12.5 * column, y0 + 205)],
    colour=RED,
    width=2,
    arrow="end",
)
d.line([(644, 54), (654, 54)], colour=GREY, width=1)
d.text(660, 58, "servo:", "10 bits", size=13)
d.line([(646, 62), (650, 62), (650, 142), (646, 142)], colour=GREY, width=1)
d.text(660, 100, "tip sectors:", "80 bits along", "Y, a row", size=13)
d.text(660, 200, "27 rows", size=13)
d.text(660, 252, "a tip reads", "up or down", "a column", size=13)
d.text(
    400,
    466,
    "2,500 columns of bits: 2,500 cylinders of 40 nm.",
    "Not to scale: 20 columns and 4 rows are drawn.",
    size=12,
)
d.save("tips")
