"""Arithmetic on printed numbers, as data files state it."""

from __future__ import annotations

import ast
import math
import operator
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Range: TypeAlias = tuple[float, float]
"""The least and the greatest of some numbers."""

_OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "log2": math.log2,
    "floor": math.floor,
    "ceil": math.ceil,
}
ALLOWED = "numbers, + - * / ** ( ), pi, " + ", ".join(_FUNCTIONS)
"""What an expression may have."""


def evaluate(text: str) -> float:
    """Return the value of an expression of :data:`ALLOWED`.

    >>> evaluate("sqrt(3**2 + 4**2) / 2")
    2.5

    Raises
    ------
    ValueError
        For anything else, or if it has no finite value.
    """
    return between(text, {})[0]


def between(text: str, ranges: Mapping[str, Range]) -> Range:
    """Return the least and the greatest value of an expression in which names stand for ranges.

    Each place of a name takes any number of its range: what an expression with the same name twice
    can be lies inside.

    >>> between("1 - best / pipe", {"best": (80, 87), "pipe": (80, 100)})
    (-0.0874999..., 0.19999...)

    Raises
    ------
    ValueError
        For something else than names and :data:`ALLOWED`, or if it has no finite values.
    """
    try:
        low, high = _range(ast.parse(text, mode="eval").body, ranges)
    except (SyntaxError, ArithmeticError, ValueError, TypeError):
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"{text}: no arithmetic with a finite value; it may have {ALLOWED}")
    return low, high


def _range(node: ast.AST, ranges: Mapping[str, Range]) -> Range:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number), float(number)
        case ast.Name(id=name) if name in ranges:
            return ranges[name]
        case ast.Name(id="pi"):
            return math.pi, math.pi
        case ast.UnaryOp(op=sign, operand=operand):
            return _apply(_OPERATORS, type(sign), _range(operand, ranges))
        case ast.BinOp(left=left, op=sign, right=right):
            operands = _range(left, ranges), _range(right, ranges)
            if _turns(sign, *operands):
                return math.nan, math.nan
            return _apply(_OPERATORS, type(sign), *operands)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _apply(_FUNCTIONS, name, *(_range(own, ranges) for own in arguments))
    return math.nan, math.nan


def _turns(sign: ast.operator, left: Range, right: Range) -> bool:
    """Return whether an operation may have values beyond those at the ends of its operands."""
    if isinstance(sign, ast.Div):
        return right[0] <= 0 <= right[1]
    return isinstance(sign, ast.Pow) and left[0] < left[1] and left[0] <= 0


def _apply(known: dict[Any, Callable[..., float]], name: Any, *operands: Range) -> Range:
    """Apply a function that rises or falls with each operand: its extremes are at their ends."""
    if name not in known:
        return math.nan, math.nan
    corners = [float(known[name](*corner)) for corner in product(*operands)]
    return min(corners), max(corners)
