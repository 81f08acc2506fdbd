"""Verdicts: comparisons of simulated with published values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from sledsim.papers.model import Published, Simulated

Verdict: TypeAlias = Literal[
    "reproduced",
    "conditional",
    "calibrated",
    "input",
    "repeat",
    "erratum",
    "contradiction",
    "not_modelled",
    "missed",
]
"""A verdict on a value; :data:`MEANINGS` tells what each means."""

MEANINGS: dict[Verdict, str] = {
    "reproduced": "as published, under the stated set-up of the paper, within half a unit of the"
    " last printed digit and a sampling error if one is stated",
    "conditional": "not so, but as published under one named reading of what the paper leaves"
    " open, under which all values of that figure, table or passage are as published",
    "calibrated": "as published, by a free parameter that was chosen with this value in view",
    "input": "a parameter that is handed in and read back",
    "repeat": "the same printed number stands elsewhere in the paper, and is judged there",
    "erratum": "the printed value contradicts other printed values, by arithmetic on those alone;"
    " the simulated one agrees with the arithmetic",
    "contradiction": "arithmetic on other printed values excludes the printed one, and no reading"
    " gives all of them",
    "not_modelled": "sledsim does not have what it would take",
    "missed": "none of these; being explained does not make it less missed",
}

WORST_LAST: tuple[Verdict, ...] = (
    "input",
    "repeat",
    "erratum",
    "reproduced",
    "calibrated",
    "conditional",
    "contradiction",
    "not_modelled",
    "missed",
)
"""The verdict on several values is the last of theirs."""


def judge(
    values: Iterable[Published],
    simulated: Mapping[str, Simulated],
    readings: Mapping[str, Mapping[str, Simulated]],
) -> dict[str, tuple[Verdict, str]]:
    """Give each value its verdict, and the reading that a conditional one holds under."""
    values = list(values)
    compared = [value for value in values if is_compared(value)]
    holding = [
        name
        for name, other in readings.items()
        if compared and all(agrees(value, other[value.key]) for value in compared)
    ]
    reading = holding[0] if holding else ""
    verdicts: dict[str, tuple[Verdict, str]] = {}
    for value in values:
        if value.judged_as == "not_modelled":
            verdicts[value.key] = ("not_modelled", "")
        elif value.repeats:
            verdicts[value.key] = ("repeat", "")
        elif value.judged_as == "erratum":
            right = near_expected(value, simulated[value.key])
            verdicts[value.key] = ("erratum" if right else "missed", "")
        elif agrees(value, simulated[value.key]):
            given = value.judged_as if value.judged_as in {"input", "calibrated"} else None
            verdicts[value.key] = (given or "reproduced", "")
        elif reading and value.judged_as in {None, "contradiction"}:
            verdicts[value.key] = ("conditional", reading)
        elif value.contradiction and not come_together(
            value, values, (simulated, *readings.values())
        ):
            verdicts[value.key] = ("contradiction", "")
        else:
            verdicts[value.key] = ("missed", "")
    return verdicts


def is_compared(value: Published) -> bool:
    """Return whether a value is compared with the published one: a reading must give it, too."""
    return value.judged_as in {None, "calibrated", "contradiction"} and not value.repeats


def come_together(
    value: Published, values: Iterable[Published], found: Iterable[Mapping[str, Simulated]]
) -> bool:
    """Return whether a value comes out together with those that are said to exclude it."""
    named = set(value.contradiction.numbers.values()) if value.contradiction else set()
    all_of_them = [own for own in values if own.key in named | {value.key}]
    return any(all(agrees(own, one[own.key]) for own in all_of_them) for one in found)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on several values together."""
    return max(verdicts, key=WORST_LAST.index)


def near_expected(value: Published, simulated: Simulated) -> bool:
    """Return whether a number is as arithmetic or an independent computation has it."""
    expected = value.expected
    if expected is None or not isinstance(simulated, float | int):
        return False
    return abs(simulated - expected.value) <= expected.tolerance + 1e-9 * abs(expected.value)


def agrees(value: Published, simulated: Simulated) -> bool:
    """Return whether the simulated value agrees with the published one, as the kind compares."""
    if value.kind == "order":
        if not isinstance(simulated, Mapping):
            raise TypeError(f"{value.key}: an order needs numbers by name, not {simulated!r}")
        ordered = sorted(simulated.items(), key=lambda entry: entry[1])
        apart = all(one < other for (_, one), (_, other) in pairwise(ordered))
        return apart and tuple(name for name, _ in ordered) == value.published
    if value.kind == "shape":
        if not isinstance(simulated, Sequence) or len(simulated) < 3:
            raise TypeError(f"{value.key}: a shape needs three numbers or more, not {simulated!r}")
        return has_shape(str(value.published), simulated, value.tolerance)
    if not isinstance(simulated, float | int):
        raise TypeError(f"{value.key}: '{value.kind}' compares numbers, not {simulated!r}")
    low, high = value.limits
    # What rounding in binary adds is no difference. A value that is no number agrees with none.
    slack = 1e-9 * max(abs(low), abs(high))
    return low - slack <= simulated <= high + slack


def has_shape(shape: str, curve: Sequence[float], tolerance: float = 0.0) -> bool:
    """Return whether a curve has a shape.

    ``rises`` and ``falls``: from the first number to the last, and never by more than the
    tolerance the other way on the way; ``rises ever less``: also concave, in equal steps;
    ``rises, then falls``: its maximum lies inside, it rises up to there and falls after it;
    ``positive, then negative``: above the tolerance first, below minus the tolerance last, and
    one change of sign; ``level``: all numbers within the tolerance of each other. A curve with
    something that is no finite number has none of them.
    """
    if not all(map(isfinite, curve)):
        return False
    top = max(range(len(curve)), key=curve.__getitem__)
    if shape == "rises":
        return _rises(curve, tolerance)
    if shape == "falls":
        return _rises(curve[::-1], tolerance)
    if shape == "rises ever less":
        steps = [after - before for before, after in pairwise(curve)]
        return _rises(curve, tolerance) and _rises(steps[::-1], tolerance)
    if shape == "rises, then falls":
        rising, falling = curve[: top + 1], curve[top:]
        return _rises(rising, tolerance) and _rises(falling[::-1], tolerance)
    if shape == "positive, then negative":
        signs = [value > 0 for value in curve]
        changes = sum(one != other for one, other in pairwise(signs))
        return curve[0] > tolerance and curve[-1] < -tolerance and changes == 1
    spread = max(curve) - min(curve)
    return {"level": spread <= tolerance, "not level": spread > tolerance}[shape]


def _rises(curve: Sequence[float], tolerance: float) -> bool:
    return curve[-1] > curve[0] and all(
        after >= before - tolerance for before, after in pairwise(curve)
    )
