"""Figure 5: capsules of twelve records on the simple device."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle

from sledsim import tables
from sledsim.hardware import Sled
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.example import example
from sledsim.papers.cmu_cs_03_125.figure2 import picture
from sledsim.plots.style import BLUE, VERMILION
from sledsim.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS = {"a1": 40, "a2": 80}
"""1 and 2 units: twelve of the one and six of the other fill a block."""


def blocks(table: Table, capsule: int, records: int) -> list[int]:
    """Return the blocks of a capsule in the order of attributes and records."""
    own = range(capsule * records, min(capsule * records + records, table.records))
    places = [table.place(record, name)[0] for name in table.schema_names for record in own]
    return list(dict.fromkeys(places))


def passes(device: Sled, lbns: list[int]) -> int:
    """Return the number of sled positions needed to read some blocks."""
    return len(device.batch([("read", lbn, 1) for lbn in sorted(lbns)]).passes)


def simulate(*, quick: bool) -> Found:  # a device of 81 blocks
    """Fill the device with capsules, and locate them."""
    device = example()
    records = 12 * (device.blocks // 3)
    table = tables.table(sample.records(records, WIDTHS), device, "capsule", page_header_bytes=0)
    held = table.facts["records_per_capsule"]
    capsules = [blocks(table, number, held) for number in range(records // held)]
    first = capsules[: device.parallelism.S_T]
    firsts = [own[0] for own in first]
    return Found(
        {
            "records": held,
            "blocks": len(capsules[0]),
            "larger": len({*capsules[0][1:]}),
            "places": {" ".join(map(str, own)): float(number) for number, own in enumerate(first)},
            "passes": max(passes(device, own) for own in capsules),
            "jumps": sum(two != one + 1 for one, two in pairwise(firsts)),
        },
        series={"capsules": capsules},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the squares: in each block its LBN, its attribute and its capsule."""
    capsules = found.series["capsules"]
    device = example()
    shape = device.parallelism
    texts = {
        lbn: (f"a{2 if part else 1}", f"c{number}", VERMILION if part else BLUE)
        for number, own in enumerate(capsules)
        for part, lbn in enumerate(own)
    }
    figure.set_size_inches(5.6, 5.6)
    axes = figure.add_subplot()
    gap = 0.35
    for y, line in enumerate(picture(device)):
        for x, lbn in enumerate(line):
            corner = (x + gap * (x // shape.S_x), y + gap * (y // shape.S_y))
            axes.text(corner[0] + 0.06, corner[1] + 0.08, str(lbn), fontsize=8, va="top")
            attribute, capsule, colour = texts[lbn]
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=colour, alpha=0.25, linewidth=0))
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, linewidth=0.6))
            middle = (corner[0] + 0.5, corner[1] + 0.62)
            axes.text(*middle, f"{attribute} {capsule}", ha="center", va="center")
    axes.set(xlim=(-0.1, shape.N_x * (shape.S_x + gap)), ylim=(shape.N_y * (shape.S_y + gap), -0.1))
    axes.set_aspect("equal")
    axes.set_axis_off()
