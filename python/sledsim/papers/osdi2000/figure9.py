"""Figure 9: service times of requests that stay within one of 25 squares of the sled."""

import random
from statistics import fmean

from matplotlib.figure import Figure

from sledsim.hardware import Sled
from sledsim.papers import Found, Setup
from sledsim.papers.osdi2000 import parts
from sledsim.plots import maps

SQUARES, ROW_BITS = 5, 90
SEED = 1
CENTRE = (2, 2)
PLACES = [(column, row) for row in range(SQUARES) for column in range(SQUARES)]
ENDS = {0, SQUARES - 1}
OUTERMOST = {
    "corners": [place for place in PLACES if {*place} <= ENDS],
    "border": [place for place in PLACES if {*place} & ENDS],
}
SETTLED, UNSETTLED = "settled", "unsettled"

Means = dict[tuple[int, int], float]


def square(device: Sled, side_bits: int, column: int, row: int) -> tuple[range, list[int]]:
    """Return the cylinders of a square and the rows of which the middle lies in it."""
    shape = device.spec["derived"]
    first = shape["cylinders"] // 2 + side_bits * column - side_bits * SQUARES // 2
    low = side_bits * row - side_bits * SQUARES // 2
    rows = shape["rows_per_track"]
    middles = [ROW_BITS * (place - (rows - 1) / 2) for place in range(rows)]
    inside = [place for place, bits in enumerate(middles) if low <= bits < low + side_bits]
    return range(first, first + side_bits), inside


def mean_ms(device: Sled, cylinders: range, rows: list[int], requests: int) -> float:
    """Return the mean time of reads of one row, each from where the one before ended."""
    chance = random.Random(SEED)
    tracks = device.spec["derived"]["tracks_per_cylinder"]
    end, times = None, []
    for _ in range(requests + 1):
        lbn = device.lbn(chance.choice(cylinders), chance.randrange(tracks), chance.choice(rows), 0)
        read = device.access(lbn, 8, start=end)
        times.append(1e3 * read.total_s)
        end = read.end
    return fmean(times[1:])


def means_ms(device: Sled, side_bits: int, places: list[tuple[int, int]], n: int) -> Means:
    """Return the mean times within some squares, by column and row."""
    return {
        (column, row): mean_ms(device, *square(device, side_bits, column, row), n)
        for column, row in places
    }


def outer_ms(means: Means, setup: Setup) -> float:
    """Return the mean time in the outermost squares."""
    return fmean(means[place] for place in OUTERMOST[setup["outermost"]])


def grid(setup: Setup, places: list[tuple[int, int]], requests: int) -> dict[str, Means]:
    """Return the mean times within some squares, with settling and without."""
    return {
        name: means_ms(
            parts.sled(setup, settling_constants=constants),
            setup["square_bits"],
            places,
            requests,
        )
        for name, constants in ((SETTLED, 1), (UNSETTLED, 0))
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Stay within each square, with settling and without."""
    requests = 500 if quick else 2_500
    found = grid(setup, PLACES, requests)
    return Found(
        {
            f"{name}_percent": 100 * (outer_ms(means, setup) / means[CENTRE] - 1)
            for name, means in found.items()
        }
        | {
            "places": {
                "centre": found[SETTLED][CENTRE],
                "corners": outer_ms(found[SETTLED], setup),
            }
        },
        series={
            "side_bits": setup["square_bits"],
            **{
                name: [[means[column, row] for column in range(SQUARES)] for row in range(SQUARES)]
                for name, means in found.items()
            },
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the grid with both times in each square."""
    figure.set_size_inches(6.4, 5.2)
    axes = figure.add_subplot()
    settled, unsettled = found.series[SETTLED], found.series[UNSETTLED]
    side_bits = found.series["side_bits"]
    edge = side_bits * SQUARES / 2
    shades = maps.draw(axes, settled, edge)
    for row in range(SQUARES):
        for column in range(SQUARES):
            x, y = (side_bits * (place - SQUARES // 2) for place in (column, row))
            for times, upright in ((settled, True), (unsettled, False)):
                maps.write(
                    axes,
                    (x, y),
                    f"{times[row][column]:.3f}",
                    va="bottom" if upright else "top",
                    style="normal" if upright else "italic",
                )
    ticks = [side_bits * (place - SQUARES // 2) for place in range(SQUARES)]
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.set(xlabel="X of the square's centre (bits)", ylabel="Y of the square's centre (bits)")
    figure.colorbar(shades, label="mean service time (ms); italics: without settling")
