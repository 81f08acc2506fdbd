"""The way of a request through the simulator, and what is beside it."""

from draw import BLUE, GREEN, GREY, LIGHT, PALE_BLUE, PALE_GREEN, PALE_ORANGE, RED, Drawing

d = Drawing(760, 430, "From a load to its results")

d.text(20, 30, "what arrives", size=13, colour=GREY, bold=True)
d.box(20, 44, 150, 52, "generator", "workloads/", fill=PALE_ORANGE, size=13)
d.box(20, 112, 150, 52, "trace", "sledsim-traces", fill=PALE_ORANGE, size=13)
d.box(210, 78, 130, 52, "load", "run/load.rs", fill=LIGHT, size=13)
d.line([(170, 70), (208, 92)], arrow="end")
d.line([(170, 138), (208, 116)], arrow="end")

d.text(380, 30, "virtual clock", size=13, colour=GREY, bold=True)
d.box(
    380,
    44,
    160,
    120,
    "engine",
    "asks for the next arrival,",
    "the next event,",
    "the next completion",
    size=12,
)
d.line([(340, 104), (378, 104)], arrow="end")

d.text(590, 30, "results", size=13, colour=GREY, bold=True)
d.box(590, 44, 150, 52, "rows", "Parquet, CSV", fill=PALE_GREEN, size=13)
d.box(590, 112, 150, 52, "statistics", "summary JSON", fill=PALE_GREEN, size=13)
d.line([(540, 86), (588, 70)], arrow="end")
d.line([(540, 122), (588, 138)], arrow="end")

d.rect(200, 210, 540, 130, fill=PALE_BLUE, stroke=BLUE, width=2, round_=5)
d.text(214, 232, "model: pure timing, no clock of its own", bold=True)
d.box(214, 250, 110, 68, "layout", "layouts/", size=12)
d.box(344, 250, 110, 68, "composite", "compose/", size=12)
d.box(474, 250, 110, 68, "station", "scheduler, bus", "queueing/", size=12)
d.box(604, 250, 122, 68, "mechanism", "sled, arm", "devices/", size=12)
for x in (324, 454, 584):
    d.line([(x, 284), (x + 18, 284)], arrow="end")
d.line([(430, 164), (430, 208)], colour=RED, width=2.5, arrow="end")
d.text(424, 192, "requests", colour=RED, anchor="end", size=13)
d.line([(490, 208), (490, 166)], colour=GREEN, width=2.5, arrow="end")
d.text(498, 192, "completions: one row each", colour=GREEN, size=13)

d.box(
    20,
    210,
    150,
    130,
    "emulator",
    "runs the same model",
    "under the real clock,",
    "for NBD, FUSE, RPC",
    fill=LIGHT,
    size=12,
)
d.line([(170, 275), (198, 275)], arrow="both")
d.box(200, 370, 540, 44, "device file -> keys -> catalog -> spec -> model", fill=LIGHT, size=13)
d.line([(470, 370), (470, 342)], arrow="end")

d.save("pipeline")
