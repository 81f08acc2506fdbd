"""Section 3.1: equations 1 to 6, as printed, against what the sled does."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from random import Random
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.devices import sled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledsim.hardware import Sled
    from sledsim.papers import Setup

EDGE_M = 50e-6


def worst(ratios: Iterable[float]) -> float:
    """Return the ratio that is farthest from 1."""
    return max(ratios, key=lambda ratio: abs(ratio - 1))


def accesses(device: Sled, count: int) -> dict[str, float]:
    """Compare random accesses of one block with equation 1 and the maximum of X and Y."""
    chance = Random(1)
    service, seek = [], []
    end = device.access(0, 1).end
    for _ in range(count):
        access = device.access(chance.randrange(device.blocks), 1, start=end)
        (step,) = access.steps
        service.append(access.total_s / (step.seek_s + step.transfer_s))
        seek.append(step.seek_s / max(step.x_seek_s, step.y_seek_s))
        end = access.end
    return {"service": worst(service), "seek": worst(seek)}


def chunks(device: Sled) -> dict[str, float]:
    """Compare the chunks of an X seek from edge to edge with equations 2 to 4."""
    own = device.parameters
    push, springs = own["acceleration_x_m_s2"], own["spring_factor"]
    move = device.trajectory("x", -EDGE_M, EDGE_M)
    middle = len(move) // 2
    net, position = [], []
    for number, (start, end) in enumerate(pairwise(move)):
        actuator = push if number < middle else -push
        mean_m = (start.place_m + end.place_m) / 2
        net.append(start.acceleration_m_s2 / (actuator - push * springs * mean_m / EDGE_M))
        passed_s = end.time_s - start.time_s
        moved_m = start.velocity_m_s * passed_s + (end.velocity_m_s - start.velocity_m_s) * (
            passed_s / 2
        )
        position.append((end.place_m - start.place_m) / moved_m)
    first, second = (at.acceleration_m_s2 for at in move[:2])
    way_m = move[1].place_m - move[0].place_m
    ours_m_s = move[1].velocity_m_s
    return {
        "acceleration": worst(net),
        "position": worst(position),
        "velocity": first * sqrt(2 * second * way_m) / second / ours_m_s,
        "corrected": first * sqrt(2 * first * way_m) / first / ours_m_s,
    }


def turnarounds(device: Sled) -> float:
    """Compare turnarounds at each micrometre with equation 6."""
    own = device.parameters
    push, springs = own["acceleration_y_m_s2"], own["spring_factor"]
    speed_m_s = device.spec["derived"]["access_velocity_mm_s"] / 1e3
    ratios = []
    for place_um in range(-50, 51):
        place_m = 1e-6 * place_um
        seek = device.seek((0, place_m, "up"), (0, place_m, "down"))
        net = push * (1 + springs * place_m / EDGE_M)
        ratios.append(seek.turnaround_s / (2 * speed_m_s / net))
    return worst(ratios)


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Evaluate each equation as it is printed."""
    device = sled(setup, bus_ms_per_block=0)
    derived = device.spec["derived"]
    width_m = device.parameters["bit_cell_nm"] * 1e-9
    product = derived["access_velocity_mm_s"] / 1e3 * width_m
    return Found(
        accesses(device, 200 if quick else 2000)
        | chunks(device)
        | {
            "settle_ms": derived["settle_ms"],
            "turnaround": turnarounds(device),
            "bit_rate": device.parameters["tip_rate_kbit_s"] * 1e3 / product,
        }
    )
