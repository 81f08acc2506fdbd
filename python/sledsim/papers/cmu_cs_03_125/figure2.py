"""Figure 2: the LBNs of a simple device, and an equivalence class."""

from itertools import combinations

from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle

from sledsim.hardware import Sled
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.example import example
from sledsim.plots.style import BLUE

MARKED = 33
"""A block of the class in ovals."""
EXAMPLES = ((33, 34, 35), (33, 38, 52))
"""Blocks that section 2.2 says can be accessed together."""


def picture(device: Sled) -> list[list[int]]:
    """Return the lines of the figure, from the places of all blocks.

    Squares of a row of tips lie side by side, sets of tips below each other; within a square,
    columns are cylinders and lines are rows, the lowest Y on top.
    """
    shape = device.parallelism
    lines = [[-1] * (shape.S_x * shape.N_x) for _ in range(shape.S_y * shape.N_y)]
    for lbn in range(device.blocks):
        at = device.locate(lbn)
        lines[shape.S_y * at.track + at.row][shape.S_x * at.cell + at.cylinder] = lbn
    return lines


def written(device: Sled) -> dict[str, float]:
    """Return the number of each line of the figure, by its content, square by square."""
    columns = device.parallelism.S_x
    squares = [
        [line[first : first + columns] for first in range(0, len(line), columns)]
        for line in picture(device)
    ]
    texts = [" | ".join(" ".join(map(str, part)) for part in line) for line in squares]
    return {text: float(number) for number, text in enumerate(texts, 1)}


def simulate(*, quick: bool) -> Found:  # nothing is run
    """Locate all blocks, and compute the class."""
    device, wider = example(), example(micropositioning_cylinders=1)
    marked = device.equivalent(MARKED)
    conflicts = sum(
        device.conflicting(*pair) for blocks in EXAMPLES for pair in combinations(blocks, 2)
    )
    return Found(
        {
            "layout": written(device),
            "class": {str(lbn): float(lbn) for lbn in marked},
            "conflicts": conflicts,
            "times_larger": len(wider.equivalent(MARKED)) / len(marked),
        },
        series={"lines": picture(device), "class": marked},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the squares with their LBNs, the class in ovals."""
    lines, marked = found.series["lines"], set(found.series["class"])
    shape = example().parallelism
    figure.set_size_inches(4.6, 4.6)
    axes = figure.add_subplot()
    gap = 0.35
    for y, line in enumerate(lines):
        for x, lbn in enumerate(line):
            place = (x + gap * (x // shape.S_x) + 0.5, y + gap * (y // shape.S_y) + 0.5)
            axes.text(*place, str(lbn), ha="center", va="center")
            if lbn in marked:
                axes.add_patch(Ellipse(place, 0.9, 0.75, facecolor=BLUE, alpha=0.25, linewidth=0))
                axes.add_patch(Ellipse(place, 0.9, 0.75, fill=False, edgecolor=BLUE, linewidth=1.4))
    for square_y in range(shape.N_y):
        for square_x in range(shape.N_x):
            corner = (square_x * (shape.S_x + gap), square_y * (shape.S_y + gap))
            axes.add_patch(Rectangle(corner, shape.S_x, shape.S_y, fill=False))
    axes.set(xlim=(-0.1, shape.N_x * (shape.S_x + gap)), ylim=(shape.N_y * (shape.S_y + gap), -0.1))
    axes.set_aspect("equal")
    axes.set_axis_off()
