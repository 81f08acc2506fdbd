"""Figure 5: cylinders, tracks and sectors, in an example with four active tips."""

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from sledsim import hardware
from sledsim.hardware import Sled
from sledsim.papers import Found
from sledsim.plots.style import BLUE, VERMILION

SECTORS = 8
"""The first blocks of the example."""


def example() -> Sled:
    """Return a device like the figure's: blocks striped over two tips, four tips active.

    A tip then holds half a block, 256 bytes, in a tip sector, so bits are smaller than usual.
    """
    return hardware.device(
        "sigmetrics2000",
        tips=16,
        active_tips=4,
        tips_per_lbn=2,
        tip_sector_bits=2560,
        bit_cell_nm=10,
    )


def simulate(*, quick: bool) -> Found:  # nothing is run
    """Locate the first sectors of the example; the figure counts them from 1."""
    device = example()
    places = [device.locate(lbn) for lbn in range(SECTORS)]
    first, second, third = places[:3]
    one_pass = [
        number
        for number, place in enumerate(places, 1)
        if (place.x_m, place.y_m, place.track) == (first.x_m, first.y_m, first.track)
    ]
    together = sorted(
        tip for place, number in zip(places, range(1, 3), strict=False) for tip in place.tips
    )
    default = hardware.device("sigmetrics2000")
    default_tips = default.locate(0).tips
    return Found(
        {
            "tip_sectors": len(first.tips),
            "first_tip": first.tips[0],
            "last_tip": first.tips[-1],
            "second_first_tip": second.tips[0],
            "second_last_tip": second.tips[-1],
            "sectors_at_once": len(one_pass),
            "third_sector_row": third.row,
            "track_tips": together[1] - together[0],
            "default_tips": len(default_tips),
            "default_bytes": 512 / len(default_tips),
        },
        series={
            "sectors": [
                {"sector": number, "tips": list(place.tips), "track": place.track, "row": place.row}
                for number, place in enumerate(places, 1)
            ],
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the regions of the tips and, in each, the sectors of one cylinder."""
    figure.set_size_inches(6.4, 3.2)
    axes = figure.add_subplot()
    shown = range(max(tip for sector in found.series["sectors"] for tip in sector["tips"]) + 1)
    for tip in shown:
        axes.text(tip + 0.45, -0.25, f"{'ABCD'[tip // 4]}{tip % 4 + 1}", ha="center")
    rows = 1 + max(sector["row"] for sector in found.series["sectors"])
    for sector in found.series["sectors"]:
        first, y = sector["tips"][0], sector["row"]
        color = (BLUE, VERMILION)[sector["sector"] % 2]
        for tip in sector["tips"]:
            axes.add_patch(Rectangle((tip, y), 0.9, 0.9, facecolor=color, alpha=0.35))
        middle = (first + sector["tips"][-1]) / 2 + 0.45
        axes.text(middle, y + 0.45, f"sector {sector['sector']}", ha="center", va="center")
    axes.set(xlim=(-0.2, len(shown) + 0.2), ylim=(rows + 0.2, -0.7), ylabel="row of tip sectors")
    axes.set_xlabel("tip regions of one cylinder; the first four tips are active together")
    axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)
