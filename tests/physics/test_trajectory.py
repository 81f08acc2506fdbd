"""Trajectories of the sled against the equation of motion and the paper's equations."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

import pytest
import sledsim as ss

if TYPE_CHECKING:
    pass

MOVES_UM = [(-50, 0), (0, -50), (-50, 50), (30, 31), (-12.5, -40), (50, -49.95)]
PUSH_M_S2 = 114.8
HALF_M = 50e-6


def spring_m_s2(place_m: float, spring_factor: float) -> float:
    return -spring_factor * PUSH_M_S2 * place_m / HALF_M


def travel_s(device: ss.Sled, axis: str, start_m: float, end_m: float) -> float:
    way = "up" if end_m > start_m else "down"
    if axis == "x":
        seek = device.seek((start_m, 0, way), (end_m, 0, way))
        return seek.x_seek_s - seek.settle_s
    return device.seek((0, start_m, way), (0, end_m, way)).y_seek_s


@pytest.mark.parametrize("spring_factor", [0.75, 0.3, 0.0])
@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("move_um", MOVES_UM)
def test_the_exact_trajectory_obeys_the_equation_of_motion(
    move_um: tuple[float, float], axis: str, spring_factor: float
) -> None:
    device = ss.device("sigmetrics2000", spring_factor=spring_factor)
    start_m, end_m = (1e-6 * place for place in move_um)
    instants = device.trajectory(axis, start_m, end_m)  # type: ignore[arg-type]
    assert instants[0].time_s == 0
    assert [instants[0].place_m, instants[-1].place_m] == pytest.approx([start_m, end_m])
    speed = 0.02 if axis == "y" else 0
    sign = 1 if end_m > start_m else -1
    assert instants[0].velocity_m_s == instants[-1].velocity_m_s == sign * speed
    # At every place, one of the two pushes; forward first, then backward, one change.
    pushes = []
    for at in instants:
        spring = spring_m_s2(at.place_m, spring_factor)
        low, high = spring - PUSH_M_S2, spring + PUSH_M_S2
        forward = at.acceleration_m_s2 == pytest.approx(high, abs=1e-6)
        assert forward or at.acceleration_m_s2 == pytest.approx(low, abs=1e-6)
        pushes.append(forward == (sign > 0))
    assert sorted(pushes, reverse=True) == pushes
    assert {True, False} == set(pushes)
    # Velocity is the derivative of the place: Hermite's cubic fits the ends of each short piece.
    for one, two in pairwise(instants):
        step_s = two.time_s - one.time_s
        # Under the push of its start; the acceleration changes by that of the springs.
        ends = [spring_m_s2(at.place_m, spring_factor) for at in (one, two)]
        bend = step_s**2 / 12 * (ends[1] - ends[0])
        middle_m_s = (one.velocity_m_s + two.velocity_m_s) / 2
        assert two.place_m - one.place_m == pytest.approx(middle_m_s * step_s - bend, abs=1e-12)
    assert instants[-1].time_s == pytest.approx(travel_s(device, axis, start_m, end_m), abs=1e-14)


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("move_um", MOVES_UM)
@pytest.mark.parametrize("chunks", [1, 3, 8])
def test_chunks_obey_equations_2_to_4(move_um: tuple[float, float], axis: str, chunks: int) -> None:
    device = ss.device("sigmetrics2000", kinematics="piecewise", piecewise_chunks=chunks)
    start_m, end_m = (1e-6 * place for place in move_um)
    instants = device.trajectory(axis, start_m, end_m)  # type: ignore[arg-type]
    assert len(instants) == 2 * chunks + 1
    sign = 1 if end_m > start_m else -1
    for number, (one, two) in enumerate(pairwise(instants)):
        push = sign if number < chunks else -sign
        mean = push * PUSH_M_S2 + sum(spring_m_s2(at.place_m, 0.75) for at in (one, two)) / 2
        assert one.acceleration_m_s2 == pytest.approx(mean, rel=1e-9)
        step_s = two.time_s - one.time_s
        assert two.velocity_m_s == pytest.approx(one.velocity_m_s + mean * step_s, abs=1e-9)
        moved_m = one.velocity_m_s * step_s + (two.velocity_m_s - one.velocity_m_s) * step_s / 2
        assert two.place_m == pytest.approx(one.place_m + moved_m, abs=1e-14)
    assert instants[-1].time_s == pytest.approx(travel_s(device, axis, start_m, end_m), abs=1e-14)


def test_without_springs_the_switch_is_in_the_middle_and_no_move_takes_no_time() -> None:
    instants = ss.device("sigmetrics2000", spring_factor=0).trajectory("x", -20e-6, 20e-6)
    middle = instants[len(instants) // 2]
    assert middle.place_m == pytest.approx(0, abs=1e-15)
    assert middle.time_s == pytest.approx(sqrt(40e-6 / PUSH_M_S2))
    assert middle.velocity_m_s == pytest.approx(sqrt(40e-6 * PUSH_M_S2))
    (only,) = ss.device("g2").trajectory("x", 1e-5, 1e-5)
    assert (only.time_s, only.place_m, only.velocity_m_s) == (0, 1e-5, 0)
