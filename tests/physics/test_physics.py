"""Seeks against an integration of the equation of motion; streams, idling and energy.

The sled obeys p'' = push - w2 p under a push of +a or -a, with w2 = spring_factor a / (half the
travel). It is integrated here at 40 digits by Taylor's series, and the moment at which the push
changes is found by a root finder: no formula for a travel time goes in.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

import mpmath as mp
import polars as pl
import pytest
import sledsim as ss

from tests.sleds import sled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Number = Any  # mpmath's
    Point = tuple[float, float, int]

BIT_NM = 40
HALF_NM = 50_000
ACCESS_M_S = "0.028"  # 700 kbit/s of 40 nm
SPRINGS = [0.0, 1e-9, 0.1, 0.5, 0.75, 0.99]
MOVES_BITS = [
    # one bit: at the centre, across it, at either edge, both ways
    *((0, 1), (-1, 0), (1, 0), (1249, 1250), (1250, 1249), (-1250, -1249), (-1249, -1250)),
    # short, long, to and from the edges, the full stroke
    *((3, 17), (-40, 35), (-900, -300), (200, -1100), (1250, 400), (0, 1250)),
    *((-1250, 1250), (1250, -1250)),
]


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(40):
        yield


@dataclass
class Axis:
    """An actuator and its springs, in m and s."""

    push: Number
    w2: Number

    @classmethod
    def of(cls, acceleration_m_s2: str, spring_factor: float) -> Axis:
        push = mp.mpf(acceleration_m_s2)
        return cls(push, mp.mpf(spring_factor) * push / (HALF_NM * mp.mpf("1e-9")))

    def after(self, place: Number, speed: Number, sign: int, time: Number) -> tuple[Number, Number]:
        """Place and speed after some time under one push, by Taylor's series."""
        if time == 0:
            return place, speed
        terms = [place, speed * time]  # c[n] t^n, where (n+1)(n+2) c[n+2] = push [n = 0] - w2 c[n]
        least = mp.eps * self.push * time * time
        while len(terms) < 4 or abs(terms[-1]) + abs(terms[-2]) > least:
            n = len(terms) - 2
            force = sign * self.push if n == 0 else 0
            terms.append((force - self.w2 * terms[n]) * time * time / ((n + 1) * (n + 2)))
        return mp.fsum(terms), mp.fsum(n * term for n, term in enumerate(terms)) / time

    def until(
        self, place: Number, speed: Number, sign: int, wanted: Number
    ) -> tuple[Number, Number]:
        """How long one push takes to a wanted speed, and where that is."""
        time, pace = mp.mpf(0), mp.mpf(1) / 2 / mp.sqrt(self.w2) if self.w2 else mp.inf
        while (
            pace < mp.inf and sign * (self.after(place, speed, sign, time + pace)[1] - wanted) < 0
        ):
            time += pace
        while True:  # Newton's method
            at, now = self.after(place, speed, sign, time)
            step = (wanted - now) / (sign * self.push - self.w2 * at)
            time += step
            if abs(step) <= abs(time) * mp.mpf("1e-32"):
                return time, at

    def travel_s(self, start: Number, end: Number, speed: Number) -> float:
        """Time from place to place at the given speed towards the end at both."""
        if end < start:
            start, end = -start, -end

        def overshoot(push_s: Number) -> Number:
            brake_s, at = self.until(*self.after(start, speed, 1, push_s), -1, speed)
            times.append(push_s + brake_s)
            return at - end

        times: list[Number] = []
        longest = mp.sqrt((end - start) / self.push)
        while overshoot(longest) < 0:
            longest *= 2
        near = 1e-18 * longest
        push_s = mp.findroot(overshoot, (0, longest), solver="anderson", tol=near, verify=False)
        assert abs(overshoot(push_s)) < 1e-14 * (end - start)
        return float(times[-1])


def g2(**overrides: Any) -> Any:
    return ss.device("g2", settling_constants=0, turnaround="exact", **overrides)


@pytest.mark.parametrize("acceleration_m_s2", ["803.6", "114.8"])
@pytest.mark.parametrize("spring_factor", SPRINGS)
def test_exact_turnarounds(spring_factor: float, acceleration_m_s2: str) -> None:
    device = g2(spring_factor=spring_factor, acceleration_y_m_s2=float(acceleration_m_s2))
    axis = Axis.of(acceleration_m_s2, spring_factor)
    for bits in (0, 1, -1, 300, -300, 1250, -1250):
        for heading in (1, -1):
            y_m = float(metres(bits))
            seek = device.seek((0.0, y_m, heading), (0.0, y_m, -heading))
            speed = heading * mp.mpf(ACCESS_M_S)
            half_s, _ = axis.until(metres(bits), speed, -heading, mp.mpf(0))
            place, back = axis.after(metres(bits), speed, -heading, 2 * half_s)
            assert max(abs(place - metres(bits)), abs(back + speed)) < 1e-30, "the same way back"
            assert seek.turnaround_s == pytest.approx(float(2 * half_s), rel=1e-9), (bits, heading)
            assert (seek.turns, seek.seek_s) == (1, seek.turnaround_s)


def test_a_move_with_turnarounds_is_the_sum_of_its_parts() -> None:
    device = ss.device("g2", turnaround="exact")
    low, high = -20e-6, 30e-6

    def y_seek_s(start: float, direction: int, end: float, arriving: int) -> float:
        return device.seek((0.0, start, direction), (0.0, end, arriving)).y_seek_s

    there = y_seek_s(low, 1, high, 1)
    turn_low, turn_high = y_seek_s(low, -1, low, 1), y_seek_s(high, 1, high, -1)
    assert y_seek_s(low, -1, high, 1) == pytest.approx(turn_low + there, rel=1e-12)
    assert y_seek_s(low, 1, high, -1) == pytest.approx(there + turn_high, rel=1e-12)
    assert y_seek_s(low, -1, high, -1) == pytest.approx(turn_low + there + turn_high, rel=1e-12)
    assert y_seek_s(high, -1, low, -1) == pytest.approx(there, rel=1e-12), "the mirror image"


def metres(bits: int) -> Number:
    return bits * BIT_NM * mp.mpf("1e-9")


def point(bits: int, heading: int, along: str) -> Point:
    """Return a place along one axis, at rest on the other."""
    at = float(metres(bits))
    return (at, 0.0, heading) if along == "x" else (0.0, at, heading)


@pytest.mark.parametrize("spring_factor", SPRINGS)
@pytest.mark.parametrize(
    ("along", "push", "speed"), [("x", "114.8", 0), ("y", "803.6", ACCESS_M_S)]
)
def test_moves_from_rest_to_rest_and_at_access_velocity(
    along: str, push: str, speed: Any, spring_factor: float
) -> None:
    device = g2(spring_factor=spring_factor, acceleration_x_m_s2=114.8)
    axis = Axis.of(push, spring_factor)
    for start, end in MOVES_BITS:
        heading = 1 if start < end else -1
        seek = device.seek(point(start, heading, along), point(end, heading, along))
        integrated = axis.travel_s(metres(start), metres(end), mp.mpf(speed))
        assert seek.seek_s == pytest.approx(integrated, rel=1e-9), (start, end)
        times = (seek.x_seek_s, seek.y_seek_s)
        assert times == ((seek.seek_s, 0) if along == "x" else (0, seek.seek_s))
        assert (seek.turns, seek.settle_s) == (0, 0)


@pytest.mark.parametrize("spring_factor", [0.1, 0.75, 0.99])
def test_the_papers_piecewise_model_converges(spring_factor: float) -> None:
    moves = (-1250, 1250, "x"), (-900, -300, "x"), (200, -1100, "y"), (1249, 1250, "x")
    for start, end, along in moves:
        heading = 1 if start < end else -1
        ends = point(start, heading, along), point(end, heading, along)
        exact, errors = g2(spring_factor=spring_factor).seek(*ends).seek_s, []
        for chunks in (8, 32, 128, 512):
            model = g2(spring_factor=spring_factor, kinematics="piecewise", piecewise_chunks=chunks)
            errors.append(abs(model.seek(*ends).seek_s / exact - 1))
        assert errors[-1] < 1e-3
        assert errors == sorted(errors, reverse=True) or errors[0] < 1e-9, errors


# Figures of the papers and derived from them, in ms


@pytest.mark.parametrize(
    ("name", "overrides", "settled_stroke", "centre", "helped", "hurt"),
    [
        ("sigmetrics2000", {}, 2.190, 0.348, 0.199, 1.394),
        ("sigmetrics2000", {"spring_factor": 0.0}, 2.590, 0.348, 0.348, 0.348),
        ("sigmetrics2000", {"turnaround": "exact"}, 2.190, None, None, 1.129),
        ("g2", {}, 0.770, 0.0697, 0.0398, 0.279),
        ("g2", {"turnaround": "exact"}, 0.770, None, None, 0.2596),
    ],
)
def test_strokes_and_turnarounds_of_the_papers(
    name: str,
    overrides: dict[str, Any],
    settled_stroke: float,
    centre: float | None,
    helped: float | None,
    hurt: float,
) -> None:
    device = sled(name, **overrides)
    edge = 50e-6
    stroke = device.seek((-edge, 0, 1), (edge, 0, 1))
    assert 1e3 * stroke.x_seek_s == pytest.approx(settled_stroke, rel=1e-3)
    for y_m, direction, expected in ((0.0, 1, centre), (edge, 1, helped), (edge, -1, hurt)):
        if expected is not None:
            turn = device.seek((0, y_m, direction), (0, y_m, -direction))
            assert 1e3 * turn.turnaround_s == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(
    ("name", "overrides", "mb_s", "within"),
    [
        ("g2", {}, 77.9, 0.005),
        ("cmu2003", {}, 39.15, 0.005),
        ("sigmetrics2000", {}, 42.8, 0.005),
        ("g2", {"turn": "in_place"}, 77.9, 0.0005),  # without servo fields, as published
        ("cmu2003", {"turn": "in_place"}, 39.15, 0.0005),
        ("sigmetrics2000", {"turn": "in_place"}, 42.8, 0.0005),
        ("g2", {"cylinder_switch": "tip"}, 78.7, 0.005),
        ("g1", {}, 12.7, 0.03),  # one-way reads of rows that run both ways
    ],
)
def test_long_reads(name: str, overrides: dict[str, Any], mb_s: float, within: float) -> None:
    device = sled(name, **overrides)
    derived = device.spec["derived"]
    per_cylinder = derived["blocks"] // derived["cylinders"]
    # Two lengths, so that the seek to the first block drops out.
    first = derived["cylinders"] // 3 * per_cylinder
    short, long = (device.access(first, n * per_cylinder).total_s for n in (20, 220))
    assert 200 * per_cylinder * 512e-6 / (long - short) == pytest.approx(mb_s, rel=within)


# Idling: the sled between two requests


def run(device: ss.Sled, **keys: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Give the summary and the rows of a load."""
    done = ss.simulate(ss.workload("random", **keys), device)
    rows = pl.DataFrame(done.rows).sort("id").to_dicts()
    for row in rows:
        row["free_ns"] = row["start_ns"] + row["other_ns"] + row["seek_ns"] + row["transfer_ns"]
    return done.to_dict()["summary"], rows


PARKED = {"g1": (0.0, 895 * 50e-9, 1), "g2": (0.0, -50 * 40e-9, 1), "g3": (0.0, 1525 * 30e-9, 1)}
"""DiskSim's park positions, in bits of its three devices."""


def check_idling(
    device: ss.Sled,
    rows: list[dict[str, Any]],
    state: Callable[[Point, float], Point | None],
) -> int:
    """Compare requests with accesses from where an idle sled should be by then.

    ``state`` gives that from where it was left and for how long in s, or None to end the check.
    """
    at, free_ns = PARKED[device.name], 0
    for checked, row in enumerate(rows):
        start = state(at, (row["start_ns"] - free_ns) / 1e9)
        if start is None:
            return checked
        access = device.access(row["lbn"], row["blocks"], start=start)
        rounding = row["passes"] + 2
        assert row["seek_ns"] == pytest.approx(1e9 * access.seek_s, abs=rounding)
        assert row["turnaround_ns"] == pytest.approx(1e9 * access.turnaround_s, abs=rounding)
        at, free_ns = access.end, row["free_ns"]
    return len(rows)


@pytest.mark.parametrize("name", ["g1", "g2", "g3"])
def test_holding(name: str) -> None:
    """A sled waits where it was left: for ever, or until just before it parks."""
    for keys, think_ms in (({"inactive_after_ms": float("inf")}, 200), ({}, 99)):
        device = sled(name, **keys)
        _, rows = run(device, think_ms=think_ms, requests=300)
        assert all(row["other_ns"] == 0 for row in rows)
        assert check_idling(device, rows, lambda at, _: at) == len(rows)


@pytest.mark.parametrize("name", ["g1", "g2", "g3"])
@pytest.mark.parametrize("park", ["middle_lbn", "centre"])
def test_parking(name: str, park: str) -> None:
    device = sled(name, park=park)
    _, rows = run(device, think_ms=200, requests=300)
    startup_ns = 500_000  # .5 ms, each time but the first: it starts awake
    assert [row["other_ns"] for row in rows] == [0] + [startup_ns] * 299
    # A second device that never moved is where every request of the first starts from.
    fresh = sled(name, park=park)
    for row in rows:
        access = fresh.access(row["lbn"], row["blocks"])
        assert row["seek_ns"] == pytest.approx(1e9 * access.seek_s, abs=row["passes"] + 2)
    start = PARKED[name] if park == "middle_lbn" else (0.0, 0.0, 1)
    lbn = fresh.blocks // 3
    assert fresh.access(lbn, 1, start=start) == fresh.access(lbn, 1)


@pytest.mark.parametrize("think_ms", [0.5, 3.7, 41.0])
def test_coasting(think_ms: float) -> None:
    device, held = ss.device("g2", idle="coast"), ss.device("g2")
    speed, reach = 0.028, 50e-6
    turn_s = device.seek((0, reach, 1), (0, reach, -1)).turnaround_s

    def coasted(at: Point, idle_s: float) -> Point | None:
        # From edge to edge, one leg after the other.
        x_m, y_m, heading = at
        while idle_s > (leg_s := (reach - heading * y_m) / speed):
            idle_s -= leg_s + turn_s
            y_m, heading = heading * reach, -heading
            if idle_s < 0:
                return None  # in the middle of a turn
        return x_m, y_m + heading * speed * idle_s, heading

    checked = differ = 0
    for seed in range(120):
        keys = {"think_ms": think_ms, "requests": 2, "seed": seed}
        _, rows = run(device, **keys)
        checked += check_idling(device, rows, coasted)
        differ += rows[1]["seek_ns"] != run(held, **keys)[1][1]["seek_ns"]
    assert checked > 225
    assert differ > 5  # most seeks in Y are hidden behind X


@pytest.mark.parametrize(
    "keys", [{"think_ms": 200}, {"think_ms": 30}, {"rate": 6}, {"queue_depth": 3}]
)
@pytest.mark.parametrize("name", ["g1", "g2", "g3"])
def test_energy_by_cause(name: str, keys: dict[str, Any]) -> None:
    powers = {"seek": 0.1, "transfer": 0.1, "idle": 0.08, "inactive": 0.05, "startup": 0.3}
    own = {f"power_{state}_mw": 1e3 * powers[state] for state in ("idle", "inactive", "startup")}
    device = sled(name, **own)
    summary, rows = run(device, requests=300, **keys)
    row_s = device.spec["derived"]["row_time_ms"] / 1e3
    tips_s = sum(64 * row["blocks"] * row_s for row in rows)  # a pass powers the tips it needs
    columns = {"seek": "seek_ns", "transfer": "transfer_ns", "startup": "other_ns"}
    time_s = {cause: sum(row[name] for row in rows) / 1e9 for cause, name in columns.items()}
    starts = [*(row["start_ns"] / 1e9 for row in rows), summary["simulated_s"]]
    frees = [0.0, *(row["free_ns"] / 1e9 for row in rows)]
    idle = [start - free for start, free in zip(starts, frees, strict=True)]
    time_s["idle"] = sum(min(seconds, 0.1) for seconds in idle)
    time_s["inactive"] = sum(max(seconds - 0.1, 0.0) for seconds in idle)
    told = summary["energy_j"]
    for cause, seconds in time_s.items():
        joules = powers[cause] * seconds + (1e-3 * tips_s if cause == "transfer" else 0.0)
        assert told[cause] == pytest.approx(joules, rel=1e-5, abs=1e-12), cause
    assert told["total"] == pytest.approx(sum(told[cause] for cause in powers), rel=1e-12)
    assert sum(time_s.values()) == pytest.approx(summary["simulated_s"], rel=1e-9)
    requests_j = sum(told[cause] for cause in ("seek", "transfer", "startup"))
    assert summary["request_energy_j"] == pytest.approx(requests_j, abs=1e-9 * len(rows))
    if keys in ({"think_ms": 200}, {"rate": 6}):
        assert min(told["inactive"], told["startup"]) > 0
    else:
        assert told["inactive"] == told["startup"] == 0


def test_all_tips_may_be_powered() -> None:
    (used, rows), (powered, _) = (
        run(ss.device("g2", tips_powered=tips), requests=200) for tips in ("used", "all")
    )
    media_s = 90 * 40e-9 / 0.028 * sum(row["passes"] for row in rows)
    assert powered["energy_j"]["transfer"] == pytest.approx((0.1 + 1.28) * media_s, rel=1e-9)
    assert used["energy_j"]["transfer"] < powered["energy_j"]["transfer"]


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
