"""Numbers as text, for tables, pictures and pages.

A mean has the digits that its interval bears (:func:`mean`), and its parts as many decimals
(:func:`part`). A value that has no interval, such as a percentile, which histograms tell to 0.1 %,
has three digits (:func:`measured`), and so have the numbers that describe a load (:func:`given`).
JSON and data frames keep all digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_DECIMALS = 6
"""Of an interval whose ends differ little or not at all: nanoseconds, where it is of ms."""
_DIGITS = 3
"""Of a value that has no interval, and decimals of a mean at the most, unless it is small."""


def interval(low: float, high: float) -> tuple[str, str]:
    """Write the ends of an interval, rounded to two digits of its half width."""
    decimals = decimals_of((high - low) / 2)
    return rounded(low, decimals), rounded(high, decimals)


def decimals_of(half_width: float) -> int:
    """Return the decimals that two digits of a half width need; fewer than none for hundreds."""
    return _MOST_DECIMALS if half_width <= 0 else min(_of_two_digits(half_width), _MOST_DECIMALS)


def _of_two_digits(value: float) -> int:
    """Return the decimals of two digits of a number above 0: of 0.0996, which is 0.10, two."""
    return 1 - int(f"{value:.1e}".partition("e")[2])


def with_interval(value: float, half_width: float) -> tuple[str, str]:
    """Write a mean and half its interval, both rounded to two digits of the latter."""
    decimals = _of_two_digits(half_width)
    shown = (rounded(each, decimals).replace(",", "") for each in (value, half_width))
    return next(shown), next(shown)


def half_width(low: float | None, high: float | None) -> float | None:
    """Return half the width of an interval, if there is one."""
    return None if low is None or high is None else (high - low) / 2


def half_text(half_width: float | None) -> str:
    """Write half an interval with two digits; nothing for none."""
    return f"± {with_interval(0, half_width)[1]}" if half_width else ""


def mean_decimals(value: float, half_width: float | None) -> int:
    """Return the decimals that a mean bears: those of its interval, if it has one."""
    own = _decimals(value)
    return min(decimals_of(half_width), max(own, _DIGITS)) if half_width else own


def mean(value: float | None, half_width: float | None = None) -> str:
    """Write a mean with the digits that its interval bears; ``-`` for none.

    A whole number without an interval is a count.
    """
    if value is None or (not half_width and value == round(value)):
        return number(value and round(value))
    return rounded(value, mean_decimals(value, half_width))


def response_decimals(summary: Mapping[str, Any]) -> int:
    """Return the decimals that the mean response time of a summary bears, and so its parts."""
    told = summary["confidence"]["response_time_ms"]
    return mean_decimals(
        summary["response_time_ms"]["mean"] or 0.0, half_width(told["low"], told["high"])
    )


def part(value: float | None, decimals: int) -> str:
    """Write a part of a mean that has so many decimals; one too small for them is ``0.0``."""
    if not value:
        return number(value)
    return rounded(value, decimals if value >= 10.0**-decimals else max(decimals, 0))


def measured(value: float | None) -> str:
    """Write a value that has no interval, with three digits, or two below 0.1."""
    return number(value) if not value else rounded(value, _decimals(value))


def _decimals(value: float) -> int:
    """Return the decimals of a value that has no interval: for two digits below 0.1, else three."""
    whole = _whole(value, _DIGITS)
    return _DIGITS - whole if whole or not value else max(decimals_of(abs(value)), _DIGITS)


def given(value: float) -> str:
    """Write a number that describes a load: three digits, all of its whole part."""
    return plain(round(value, max(_decimals(value), 0)))


def rounded(value: float, decimals: int) -> str:
    """Write a number with so many decimals; ``-2`` rounds to hundreds."""
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"


def number(value: float | None, digits: int = 4) -> str:
    """Write a number with so many significant digits, thousands apart; ``-`` for none."""
    if value is None:
        return "-"
    if isinstance(value, int) or value == 0:
        return f"{value:,.0f}"
    small = abs(value) < 1e-3
    return f"{value:.{digits}g}" if small else rounded(value, digits - _whole(value, digits))


def _whole(value: float, digits: int) -> int:
    """Return how many digits are before the point of a number rounded to so many digits."""
    return max(int(f"{value:.{digits - 1}e}".partition("e")[2]) + 1, 0) if value else 0


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
