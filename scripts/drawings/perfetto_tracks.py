"""The tracks of a trace for Perfetto: a short run, drawn from the file that it wrote."""

import sys
import tempfile
from pathlib import Path

import sledsim as ss
from draw import GREEN, GREY, LIGHT, RED, WHITE, Drawing
from sledsim.plots.style import CAUSES, OPS

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.perfetto_traces import read

COLOURS = {name: CAUSES[name] for name in ("overhead", "queue", "seek", "transfer", "bus")}
LEFT, RIGHT, FROM_NS, UNTIL_NS = 190, 84, 4e6, 14e6

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "out.pftrace"
    load = ss.workload("random", rate=900, requests=16, seed=7)
    ss.simulate(load, "g2", series=True, series_ms=1).to_perfetto(file)
    trace = read(file)

lanes = [(trace.path(uuid), track) for uuid, track in trace.tracks.items() if track.slices]
lanes.sort(key=lambda lane: lane[1].rank)
height = 116 + 50 * len(lanes) + 100
d = Drawing(760, height, "The tracks of a trace for Perfetto: ten milliseconds of g2")


def at(time_ns: float) -> float:
    """Return where a time is."""
    shown = (min(max(time_ns, FROM_NS), UNTIL_NS) - FROM_NS) / (UNTIL_NS - FROM_NS)
    return LEFT + (760 - LEFT - RIGHT) * shown


for ms in range(4, 15, 2):
    d.line([(at(ms * 1e6), 28), (at(ms * 1e6), height - 46)], colour=LIGHT, width=1)
    d.text(at(ms * 1e6), 20, f"{ms} ms", size=12, anchor="middle", colour=GREY)
d.text(14, 50, "g2", bold=True)
counters = trace.counters()


def steps(
    values: list[tuple[int, float]], base: float, high: float, colour: str, unit: str = ""
) -> None:
    """Draw a counter between two heights."""
    most = max(value for time, value in values if time < UNTIL_NS)
    before = [value for time, value in values if time <= FROM_NS]
    last = base - (base - high) * (before[-1] if before else 0) / most
    points = [(at(FROM_NS), last)]
    for time, value in values:
        if not FROM_NS < time < UNTIL_NS:
            continue
        y = base - (base - high) * value / most
        points += [(at(time), last), (at(time), y)]
        last = y
    d.line([*points, (at(UNTIL_NS), last)], colour=colour, width=1.5)
    d.text(at(UNTIL_NS) + 8, high + 4, f"{most:.2g}{unit}", size=11, colour=GREY)
    d.text(at(UNTIL_NS) + 8, base + 4, "0", size=11, colour=GREY)


d.text(26, 80, "outstanding requests", size=13)
steps(counters["g2", "outstanding requests"], 90, 56, RED)
d.text(26, 112, "stream 0", size=13)
y = 98.0
for path, track in lanes:
    d.text(38, y + 32, path[-1], size=13)
    for request in track.slices:
        if request.end <= FROM_NS or request.start >= UNTIL_NS:
            continue
        left, wide = at(request.start), at(request.end) - at(request.start)
        d.rect(left, y, wide, 20, fill=WHITE if request.name == "read" else OPS["write"], width=0.8)
        if wide > 34:
            d.text(left + wide / 2, y + 14, request.name, size=11, anchor="middle")
        for part in request.parts:
            wide = at(part.end) - at(part.start)
            colour = COLOURS[part.name]
            d.rect(at(part.start), y + 21, wide, 17, fill=colour, stroke="none")
    y += 50
d.text(14, y + 30, "power of all devices", size=13)
steps(counters["power of all devices",], y + 46, y + 14, GREEN, " W")
x = 14.0
for name, colour in COLOURS.items():
    d.rect(x, height - 30, 14, 14, fill=colour, width=0.5)
    d.text(x + 20, height - 18, name, size=12)
    x += 110
d.save("perfetto-tracks")
