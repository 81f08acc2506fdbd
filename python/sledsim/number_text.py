"""Numbers as text, for tables, pictures and pages."""

from __future__ import annotations

from math import floor, log10

_MOST_DECIMALS = 6
"""Of an interval whose ends differ little or not at all: nanoseconds, where it is of ms."""


def interval(low: float, high: float) -> tuple[str, str]:
    """Write the ends of an interval, rounded to two digits of its half width."""
    decimals = decimals_of((high - low) / 2)
    return rounded(low, decimals), rounded(high, decimals)


def decimals_of(half_width: float) -> int:
    """Return the decimals that two digits of a half width need; fewer than none for tens."""
    return _MOST_DECIMALS if half_width <= 0 else min(1 - floor(log10(half_width)), _MOST_DECIMALS)


def rounded(value: float, decimals: int) -> str:
    """Write a number with so many decimals; ``-2`` rounds to hundreds."""
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"


def number(value: float | None, digits: int = 4) -> str:
    """Write a number with so many significant digits, thousands apart; ``-`` for none."""
    if value is None:
        return "-"
    if isinstance(value, int) or value == 0:
        return f"{value:,.0f}"
    whole = len(f"{abs(value):.0f}") if abs(value) >= 1 else 0
    return f"{value:,.{max(digits - whole, 0)}f}" if abs(value) >= 1e-3 else f"{value:.{digits}g}"


def plain(value: float) -> str:
    """Write a given number with all its digits."""
    return f"{value:,.12g}"


def size(count: int) -> str:
    """Write a number of bytes in decimal units."""
    value, units = float(count), ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{number(value)} {units[0]}"


def percent(share: float) -> str:
    """Write a share with two significant digits."""
    return f"{plain(float(f'{100 * share:.2g}'))} %"
