"""Figure 8: sustained bandwidth of a tip against its data rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.devices import sled
from sledsim.papers.sigmetrics2000.streams import blocks_per_cylinder, cylinders_per_s
from sledsim.plots import curves
from sledsim.plots.style import QUIET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

TIMES_TABLE_1 = {"half of Table 1": 0.5, "Table 1": 1, "twice Table 1": 2}
"""Accelerations; the figure has three, but the text does not say which."""
RATES_KBIT_S = [200, 400, 700, 1000, 1400, 1700, 2000, 2400, 2800, 3300, 4000, 5000, 6000]


def tip_kbit_s(setup: Setup, rate_kbit_s: float, acceleration_m_s2: float, cylinders: int) -> float:
    """Return the bit rate of a tip in a stream over some cylinders, servo bits included."""
    device = sled(
        setup,
        bus_ms_per_block=0,
        tip_rate_kbit_s=rate_kbit_s,
        acceleration_x_m_s2=acceleration_m_s2,
        acceleration_y_m_s2=acceleration_m_s2,
        cylinder_switch="tip",
    )
    own, derived = device.parameters, device.spec["derived"]
    rate = cylinders_per_s(device, cylinders, warm_up_requests=1)
    blocks_per_s = blocks_per_cylinder(device) * rate
    row_bits = own["tip_sector_bits"] + own["servo_bits"]
    return float(blocks_per_s / derived["blocks_per_row"] * row_bits / 1000)


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Stream with every rate under every acceleration."""
    cylinders = 5 if quick else 50
    table1_m_s2 = sled(setup).parameters["acceleration_y_m_s2"]
    curves = {
        name: [tip_kbit_s(setup, rate, times * table1_m_s2, cylinders) for rate in RATES_KBIT_S]
        for name, times in TIMES_TABLE_1.items()
    }
    best = {
        name: RATES_KBIT_S[max(range(len(curve)), key=curve.__getitem__)]
        for name, curve in curves.items()
    }
    steps = [
        tip_kbit_s(setup, rate, table1_m_s2, cylinders)
        for rate in range(200, best["Table 1"] + 1, 200)
    ]
    return Found(
        {
            "one": curves["Table 1"],
            "diminishing": steps,
            "best_kbit_s": {name: float(rate) for name, rate in best.items()},
        },
        series={"rate_kbit_s": RATES_KBIT_S, "tip_kbit_s": curves},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw a curve for each acceleration and mark its maximum."""
    axes = figure.add_subplot()
    rates = found.series["rate_kbit_s"]
    axes.axline((0, 0), slope=1, color=QUIET, linewidth=0.8, linestyle=":")
    axes.set(xlabel="data rate of a tip (kbit/s)", ylabel="sustained bandwidth (kbit/s)")
    drawn = {name: (rates, curve) for name, curve in found.series["tip_kbit_s"].items()}
    lines = curves.draw(axes, drawn, markers=False)
    for (_, curve), line in zip(drawn.values(), lines.values(), strict=True):
        top = max(range(len(curve)), key=curve.__getitem__)
        axes.plot(rates[top], curve[top], "o", color=line.get_color())
    curves.heading(axes, "acceleration")
    axes.set(xlim=(0, max(rates)), ylim=(0, None))
