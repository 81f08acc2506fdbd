"""Arithmetic on printed numbers, as data files state it."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = ("pi", "sqrt", "log2", "floor", "ceil")
_KNOWN: dict[str, Any] = {"__builtins__": {}, **{name: getattr(math, name) for name in _NAMES}}
ALLOWED = "numbers, + - * / ** ( ), " + ", ".join(_NAMES)
"""What an expression may have."""


def evaluate(text: str) -> float:
    """Return the value of an expression of Python with numbers and a few names of ``math``.

    >>> evaluate("sqrt(3**2 + 4**2) / 2")
    2.5
    """
    return between(text, {})[0]


def between(text: str, ranges: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Return the least and the greatest value of an expression over ranges of its numbers.

    It is taken at their ends, and at 0 inside a range: it must rise or fall with each number
    between these.

    >>> between("1 - best / pipe", {"best": (80, 87), "pipe": (80, 100)})
    (-0.0874999..., 0.19999...)
    """
    points = ((*ends, 0.0) if ends[0] < 0 < ends[1] else ends for ends in ranges.values())
    try:
        values = [
            float(eval(text, _KNOWN | dict(zip(ranges, point, strict=True))))
            for point in product(*points)
        ]
    except (SyntaxError, ArithmeticError, ValueError, TypeError, NameError):
        values = [math.nan]
    if not all(map(math.isfinite, values)):
        raise ValueError(f"{text}: no arithmetic with a finite value; it may have {ALLOWED}")
    return min(values), max(values)
