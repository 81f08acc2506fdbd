"""Arithmetic on printed numbers, as data files state it."""

from __future__ import annotations

import ast
import math
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

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
    try:
        value = _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ArithmeticError, ValueError, TypeError):
        value = math.nan
    if not math.isfinite(value):
        msg = f"{text}: no arithmetic with a finite value; it may have {ALLOWED}"
        raise ValueError(msg)
    return value


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id="pi"):
            return math.pi
        case ast.UnaryOp(op=sign, operand=operand):
            return _apply(_OPERATORS, type(sign), operand)
        case ast.BinOp(left=left, op=sign, right=right):
            return _apply(_OPERATORS, type(sign), left, right)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _apply(_FUNCTIONS, name, *arguments)
    return math.nan


def _apply(known: dict[Any, Callable[..., float]], name: Any, *operands: ast.AST) -> float:
    function = known.get(name)
    return math.nan if function is None else float(function(*map(_value, operands)))
