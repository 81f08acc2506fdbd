"""Verdicts: comparisons of simulated with published values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from sledsim.papers.model import Kind, Published, Simulated

Verdict: TypeAlias = Literal["reproduced", "explained", "missed"]
"""``reproduced``: as published; ``explained``: not as published, but as a stated argument says it
must be, or as published under a stated hypothesis; ``missed``: neither."""


def judge(
    value: Published, simulated: Simulated, hypotheses: Mapping[str, Simulated] | None = None
) -> Verdict:
    """Compare a published value with the simulated one, and if need be with those under hypotheses.

    Raises
    ------
    TypeError
        If the simulated value is not of the type that the kind compares.
    """
    if agrees(value.kind, value.published, value.tolerance, simulated):
        return "reproduced"
    why = value.explained
    if why is not None and why.hypothesis:
        other = (hypotheses or {}).get(why.hypothesis)
        return "missed" if other is None or judge(value, other) == "missed" else "explained"
    kind: Kind = "within" if value.kind in {"at_most", "at_least"} else value.kind
    if why is not None and agrees(kind, why.expected, why.tolerance, simulated):
        return "explained"
    return "missed"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on several values together."""
    order: list[Verdict] = ["reproduced", "explained", "missed"]
    return max(verdicts, key=order.index, default="reproduced")


def agrees(kind: Kind, published: object, tolerance: float, simulated: Simulated) -> bool:
    """Return whether the simulated value agrees with the published one, as the kind compares."""
    if kind == "order":
        if not isinstance(simulated, Mapping):
            msg = f"an order needs numbers by name, not {simulated!r}"
            raise TypeError(msg)
        ordered = sorted(simulated.items(), key=lambda entry: entry[1])
        apart = all(one < other for (_, one), (_, other) in pairwise(ordered))
        return apart and tuple(name for name, _ in ordered) == published
    if kind == "shape":
        if not isinstance(simulated, Sequence) or len(simulated) < 3:
            msg = f"a shape needs three numbers or more, not {simulated!r}"
            raise TypeError(msg)
        return has_shape(str(published), simulated, tolerance)
    if not isinstance(simulated, float | int) or not isinstance(published, float | int):
        msg = f"'{kind}' compares numbers, not {simulated!r}"
        raise TypeError(msg)
    over = simulated - published
    # What rounding in binary adds is no difference.
    slack = tolerance + 1e-9 * abs(published)
    # All are False for a value that is not a number.
    return {"within": abs(over) <= slack, "at_most": over <= slack, "at_least": over >= -slack}[
        kind
    ]


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
