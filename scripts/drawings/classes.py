"""An equivalence class of the device cmu2003."""

from draw import GREY, ORANGE, PALE_GREEN, SKY, Drawing

d = Drawing(760, 440, "An equivalence class, what a request leaves of it, and a capsule in it")
d.text(20, 28, "cmu2003, sled at cylinder 0, row 3: the class of LBN 33", bold=True)

asked = {33, 34, 35, 36}
free = {500, 503, 574, 1116, 1653, 2667}
CAPSULE = 8  # the place in its row of the first block, and of all of them

d.rect(80, 64, 420, 320)
for i in range(1, 10):
    d.line([(80 + i * 42, 64), (80 + i * 42, 384)], width=1)
    d.line([(80, 64 + i * 32), (500, 64 + i * 32)], width=1)
for track in range(10):
    row = 3 if track % 2 == 0 else 27 - 1 - 3
    for cell in range(10):
        lbn = track * 270 + row * 10 + cell
        x, y = 80 + cell * 42, 64 + track * 32
        if lbn in asked | free:
            d.rect(x, y, 42, 32, fill=SKY if lbn in asked else ORANGE)
        elif cell == CAPSULE and track < 9:
            d.rect(x, y, 42, 32, fill=PALE_GREEN)
        d.text(x + 21, y + 21, str(lbn), size=13, anchor="middle")
    d.text(70, 64 + track * 32 + 21, f"track {track}", size=12, anchor="end", colour=GREY)
d.text(290, 54, "squares of a row, one block each", size=12, anchor="middle", colour=GREY)

x = 530
d.text(x, 78, "N = 100 squares: 100", "blocks are under tips", bold=True)
d.text(x, 120, "Power is enough for p = 10", "of them in one pass:")
d.rect(x, 154, 24, 20, fill=SKY)
d.text(x + 34, 169, "a request: LBN 33-36")
d.rect(x, 186, 24, 20, fill=ORANGE)
d.text(x + 34, 201, "6 blocks for free: for a", "background task, or for", "others of a batch")
d.rect(x, 246, 24, 20, fill=PALE_GREEN)
d.text(
    x + 34,
    261,
    "a capsule: all columns of",
    "60 records in one pass.",
    "Along a row and a track,",
    "one column of them",
)
d.rect(x, 332, 24, 20)
d.text(x + 34, 347, "other blocks of the class")
d.text(80, 410, "LBN 43 is in row 4: another position of the sled, another class.", size=13)
d.save("classes")
