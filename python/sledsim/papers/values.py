"""Values as text without units, for the report and the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

NONE = "\u2013"
"""Stands where there is no value."""


def stated(value: Mapping[str, Any]) -> str:
    """Return the published value, in the form of its kind."""
    published = value["published"]
    if value["kind"] == "order":
        return " < ".join(published)
    if value["kind"] == "shape":
        return str(published)
    if value["kind"] == "between":
        return " to ".join(map(digits, published))
    return digits(published)


def digits(printed: str) -> str:
    """Return the digits of a printed number; ``7e1`` as 70."""
    return minus(f"{Decimal(printed):,f}")


def simulated(value: Mapping[str, Any], number: Any) -> str:
    """Return the simulated value, with as many digits as the comparison needs."""
    if number is None:
        return NONE
    if value["kind"] == "order":
        return "".join(f"{sign}{name} ({text})" for sign, name, text in ordered(number))
    if value["kind"] == "shape":
        return curve(number)
    return rounded(value, number)


def ordered(numbers: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Return an order: signs, names, and numbers of which neighbours that differ look different."""
    lines = sorted(numbers.items(), key=lambda line: line[1])
    rising = [number for _, number in lines]
    signs = [""] + [" = " if one == other else " < " for one, other in pairwise(rising)]
    return [
        (sign, name, text)
        for sign, (name, _), text in zip(signs, lines, _apart(rising), strict=True)
    ]


def _apart(numbers: Sequence[float]) -> list[str]:
    for digits in (4, 6, 9, 12):
        texts = [text_of(float(f"{number:.{digits}g}")) for number in numbers]
        if len(set(texts)) == len(set(numbers)):
            return texts
    return [text_of(number) for number in numbers]


def curve(numbers: Sequence[float]) -> str:
    """Return a curve in words."""
    first, last, low, high = (
        text_of(float(f"{number:.4g}"))
        for number in (numbers[0], numbers[-1], min(numbers), max(numbers))
    )
    return f"{len(numbers)} numbers from {first} to {last}, between {low} and {high}"


def rounded(value: Mapping[str, Any], number: float) -> str:
    """Write a number with a digit more than the published one."""
    printed = value["published"]
    printed = [printed] if isinstance(printed, str) else printed
    decimals = 1 + max(0, *(-exponent_of(text) for text in printed))
    if value["expected"] is not None:
        decimals = max(decimals, decimals_of(value["expected"]["value"]))
    short = round(number, decimals)
    if not short and number:
        return text_of(float(f"{number:.2g}"))
    exact = abs(number - round(number, decimals_of(short))) <= 1e-9 * abs(number)
    decimals = decimals_of(short) if exact else decimals
    if decimals > 7 or abs(number) >= 1e15:
        return text_of(float(f"{number:.4g}"))
    return minus(f"{short:,.{decimals}f}")


def exponent_of(printed: str) -> int:
    """Return the power of ten of the last digit of a printed number."""
    exponent = Decimal(printed).as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def decimals_of(number: float) -> int:
    """Return the decimals that a number needs, without the rounding of binary floats."""
    exponent = Decimal(f"{number:.12g}").normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def text_of(number: float) -> str:
    """Write a number as it is; powers of ten as in 10^9."""
    if number and not 1e-4 <= abs(number) < 1e15:
        mantissa, exponent = f"{number:.6e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
        return minus(f"{mantissa}\u202f\u00d7\u202f10^{int(exponent)}")
    return minus(f"{number:,.{min(decimals_of(number), 12)}f}")


def over(value: Mapping[str, Any]) -> float:
    """Return by how much a number is above what is published, or below; 0 inside a range."""
    number: float = value["simulated"]
    if value["kind"] == "between":
        low, high = map(float, value["published"])
        return number - min(max(number, low), high)
    return number - float(value["published"])


def apart(distance: float | None) -> str:
    """Write the distance of a value in %, with its sign; a dash for none."""
    if distance is None:
        return NONE
    percent = 100 * distance
    if not percent:
        return "0"
    decimals = 0 if abs(percent) >= 100 else 1 if abs(percent) >= 0.95 else 2
    return f"{minus(f'{percent:+,.{decimals}f}')}\u202f%"


def minus(text: str) -> str:
    """Give a number a minus sign instead of a hyphen."""
    return text.replace("-", "\u2212")
