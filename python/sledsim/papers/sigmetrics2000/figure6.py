"""Figure 6: acceleration and velocity during a Y seek from the edge to the centre."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.devices import sled
from sledsim.plots import curves
from sledsim.plots.style import in_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

EDGE_M = 50e-6
CHUNKS = 3
"""For each phase, in the figure's example."""


def simulate(*, quick: bool, setup: Setup) -> Found:  # nothing is run
    """Follow the seek in chunks as the figure draws it, and exactly."""
    device = sled(setup, piecewise_chunks=CHUNKS)
    moves = {
        "chunks": device.trajectory("y", -EDGE_M, 0),
        "exact": sled(setup, kinematics="analytic").trajectory("y", -EDGE_M, 0),
    }
    instants = moves["chunks"]
    access_m_s = device.spec["derived"]["access_velocity_mm_s"] / 1000
    actuator_m_s2 = device.parameters["acceleration_y_m_s2"]
    accelerating, decelerating = instants[:CHUNKS], instants[CHUNKS:-1]
    springs = [abs(at.acceleration_m_s2 - actuator_m_s2) for at in accelerating]
    springs += [abs(at.acceleration_m_s2 + actuator_m_s2) for at in decelerating]
    model = sled(setup).trajectory("y", -EDGE_M, 0)
    return Found(
        {
            "chunks": (len(model) - 1) / 2,
            "first_velocity": instants[0].velocity_m_s / access_m_s,
            "last_velocity": instants[-1].velocity_m_s / access_m_s,
            "springs_help": min(at.acceleration_m_s2 for at in accelerating) / actuator_m_s2,
            "springs_hurt": max(-at.acceleration_m_s2 for at in decelerating) / actuator_m_s2,
            "springs_m_s2": springs,
            "velocity_m_s": [at.velocity_m_s for at in instants],
        },
        series={
            name: {
                "time_ms": [1e3 * at.time_s for at in move],
                "velocity_mm_s": [1e3 * at.velocity_m_s for at in move],
                "acceleration_m_s2": [at.acceleration_m_s2 for at in move],
            }
            for name, move in moves.items()
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw accelerations as steps and velocities as lines between the ends of chunks."""
    figure.set_size_inches(6.4, 5.4)
    above, below = figure.subplots(2, 1, sharex=True)
    above.set_ylabel("(a) net acceleration (m/s\u00b2)")
    below.set(ylabel="(b) velocity (mm/s)", xlabel="time (ms)")
    sources = {"in 6 chunks": found.series["chunks"], "exact": found.series["exact"]}
    lines = {}
    for (label, source), look in zip(
        sources.items(), in_order(list(sources)).values(), strict=True
    ):
        times, one = source["time_ms"], label == "exact"
        keys: Any = {"linewidth": 1, **look.line()} if one else {"color": look.color}
        drawn = above.plot(times, source["acceleration_m_s2"], **keys)
        drawn[0].set_drawstyle("default" if one else "steps-post")
        below.plot(times, source["velocity_mm_s"], marker="" if one else "o", **keys)
        lines[label] = drawn[0]
    curves.name(above, lines)
    below.set_ylim(0, None)
