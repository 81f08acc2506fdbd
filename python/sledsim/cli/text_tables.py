"""Tables in text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def table(rows: Sequence[Sequence[str]], align: str) -> str:
    """Lay cells out in columns.

    Parameters
    ----------
    rows
        Cells of each row; a row may have fewer than others.
    align
        ``<`` or ``>`` for each column.
    """
    widths = [
        max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(len(align))
    ]
    lines = (
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=False)
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def specification(spec: Mapping[str, Any]) -> str:
    """Write a device or a workload: its name, what it is, and every parameter with its source."""
    rows = [["parameter", "value", "source", "from"]]
    for key, entry in spec["parameters"].items():
        value = entry["value"]
        text = value if isinstance(value, str) else json.dumps(value)
        rows.append([key, text, entry["source"] or "", entry["origin"]])
    return "\n\n".join([spec["name"], spec["about"], table(rows, "<><<")])


def number(value: float | None, digits: int = 4) -> str:
    """Write a number with so many significant digits, thousands apart; ``-`` for none."""
    if value is None:
        return "-"
    if isinstance(value, int) or value == 0:
        return f"{value:,.0f}"
    whole = len(f"{abs(value):.0f}") if abs(value) >= 1 else 0
    return f"{value:,.{max(digits - whole, 0)}f}" if abs(value) >= 1e-3 else f"{value:.{digits}g}"


def plain(value: float) -> str:
    """Write a number that somebody chose, with the digits it has."""
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
