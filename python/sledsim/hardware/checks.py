"""Checks of the arguments of methods of devices; each raises SpecError."""

from __future__ import annotations

from typing import Literal, TypeAlias

from sledsim._arguments import real, refuse, whole

Point: TypeAlias = tuple[float, float, int | str]
"""X and Y in metres from the centre, and the direction of Y motion: +1 or ``"up"``, -1 or
``"down"``."""

Op: TypeAlias = Literal["read", "write"]

_DIRECTIONS = {"up": 1, "down": -1}


def block_number(name: str, number: int, end: int) -> int:
    """Return a number of blocks, or of one, that is below ``end``."""
    return whole(name, number, 0, end - 1)


def seconds(at_s: float) -> float:
    """Return an instant in s since the start of the simulation."""
    return real("at_s", at_s, 0, 1e9)


def is_write(op: Op) -> bool:
    """Return whether an operation is a write."""
    if op not in ("read", "write"):
        refuse("op", op, "'read' or 'write'")
    return op == "write"


def point_of(point: Point) -> tuple[float, float, int]:
    """Return a point as the core takes it."""
    try:
        x_m, y_m, direction = point
    except (TypeError, ValueError):
        refuse("point", point, "(x_m, y_m, direction), X and Y in m and direction 'up' or 'down'")
    sign = _DIRECTIONS.get(direction, 0) if isinstance(direction, str) else direction
    if sign not in (1, -1):
        refuse("direction", direction, "+1 or 'up', -1 or 'down'")
    return real("x", x_m), real("y", y_m), int(sign)
