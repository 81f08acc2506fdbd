"""Figure 6: acceleration and velocity during a Y seek from the edge to the centre."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.devices import sled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

EDGE_M = 50e-6
CHUNKS = 3
"""For each phase, in the figure's example."""


def simulate(*, quick: bool, setup: Setup) -> Found:  # noqa: ARG001 (nothing is run)
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
    chunks, exact = found.series["chunks"], found.series["exact"]
    above.step(chunks["time_ms"], chunks["acceleration_m_s2"], where="post", label="in 6 chunks")
    above.plot(exact["time_ms"], exact["acceleration_m_s2"], "--", linewidth=1, label="exact")
    above.set_ylabel("(a) net acceleration (m/s2)")
    below.plot(chunks["time_ms"], chunks["velocity_mm_s"], "o-", label="in 6 chunks")
    below.plot(exact["time_ms"], exact["velocity_mm_s"], "--", linewidth=1, label="exact")
    below.set(ylabel="(b) velocity (mm/s)", xlabel="time (ms)", ylim=(0, None))
    above.legend()
