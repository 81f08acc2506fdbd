"""Numbers as they are read, each within bounds that all that comes after can hold."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from sledsim.disksim.tree import error

if TYPE_CHECKING:
    from sledsim.disksim.tree import Place

LARGEST = 2**63 - 1
"""No whole number is larger, nor smaller than its negative."""
REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A number with or without a fraction and an exponent."""

_MOST_DIGITS = 400
_SHOWN = 40


def whole(text: str, place: Place, base: int = 10) -> int:
    """Read a whole number.

    Parameters
    ----------
    text
        Its digits; the caller has seen that they are digits.
    place
        Where they stand.
    base
        10, or 16 with ``0x`` before them.
    """
    number = int(text, base) if len(text) <= _MOST_DIGITS else LARGEST + 1
    if abs(number) > LARGEST:
        raise error(place, f"{shown(text)}: a whole number must lie within -2^63 and 2^63")
    return number


def real(text: str, place: Place) -> float:
    """Read a number with a point or an exponent.

    Parameters
    ----------
    text
        It; the caller has seen that it is one.
    place
        Where it stands.
    """
    number = float(text) if len(text) <= _MOST_DIGITS else math.inf
    if not math.isfinite(number):
        raise error(place, f"{shown(text)}: a number must lie within -1.8e308 and 1.8e308")
    return number


def shown(text: str) -> str:
    """Quote a text for a message, its beginning if it is long."""
    if len(text) <= _SHOWN:
        return f"'{text}'"
    return f"'{text[:_SHOWN]}...' ({len(text)} characters)"
