"""Spans of bytes or of time: pairs of a begin and an end."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Span: TypeAlias = tuple[int, int]


def union(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, with those joined that overlap or touch."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


class Spans:
    """Spans to look places up in."""

    def __init__(self, spans: Iterable[Span]) -> None:
        """Join those that touch."""
        self._spans = union(spans)

    def meet(self, begin: int, end: int) -> bool:
        """Return whether a span has anything in common with another one."""
        place = bisect_right(self._spans, begin, key=lambda span: span[0])
        near = self._spans[max(place - 1, 0) : place + 1]
        return any(first < end and begin < last for first, last in near)
