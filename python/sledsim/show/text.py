"""Results as text: paragraphs, and tables in columns."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledsim.hardware.evidence import Evidence
    from sledsim.show.sheet import Sheet, Table

RESTS_ON = "rests on"
"""The head of the column that says what kind of evidence there is."""
WIDTH = 80
"""Columns of a terminal that tables are laid out for."""
_GAP = 2
_HEADING = re.compile(r"[A-Z][\w ]{0,30}:")
_LISTED = re.compile(r"(.+)\[(\d+)\]\.[^\[\]]+")
_NARROW_VALUE = 12
"""The widest value that shares a column with others."""


_LOUD = {"failed", "saturated", "overloaded", "seeds", "cuts"}
"""Cautions that stand before everything else, unless a table has them."""
_LOUD_WIDTH = 90


def paragraphs(sheet: Sheet) -> Iterator[str]:
    """Write a result, paragraph by paragraph."""
    from sledsim.results import cautions  # a list of devices does without

    if sheet.named:
        yield "\n".join([sheet.title, *map(str, sheet.lead)])
    tables = [*([sheet.facts] if sheet.facts else []), *sheet.tables]
    if not any(each.cautioned for each in tables):
        for one in (one for found in sheet.cautions.values() for one in found):
            if one["code"] in _LOUD:
                text = f"{one['code'].upper()}: {one['text']}."
                yield filled(text, _LOUD_WIDTH)
    for each in tables:
        if each.folded:
            continue
        lines = cautions.lines(sheet.cautions) if each.cautioned else []
        yield "\n".join([_written(each), *(_hanging(line, each) for line in (*lines, *each.after))])
    yield from sheet.notes


def _written(of: Table) -> str:
    rows = [list(map(str, row)) for row in ([of.head, *of.rows] if of.head else of.rows)]
    across = max(map(len, rows), default=0)
    align = "".join("<" if column in of.left else ">" for column in range(across))
    if of.leading:
        return stacked_table(rows, align, of.leading)
    return table(rows, align, WIDTH if of.wrapped else None)


def _hanging(line: str, below: Table) -> str:
    if not (below.wrapped or below.leading):
        return line
    return filled(line, WIDTH, "  ")


def table(rows: Sequence[Sequence[str]], align: str, width: int | None = None) -> str:
    """Lay cells out in columns.

    Parameters
    ----------
    rows
        Cells of each row; a row may have fewer than others.
    align
        ``<`` or ``>`` for each column.
    width
        Wrap the last column so that no line is longer.
    """
    widths = _widths(rows, len(align))
    lines = []
    for row in rows:
        *cells, last = [*row, *[""] * (len(align) - len(row))]
        left = "".join(
            f"{cell:{side}{across}}" + " " * _GAP
            for cell, side, across in zip(cells, align, widths, strict=False)
        )
        wrapped = [last] if width is None else _wrap(last, width - len(left))
        lines.append(f"{left}{wrapped[0]:{align[-1]}{widths[-1] if width is None else 0}}")
        lines += [" " * len(left) + line for line in wrapped[1:]]
    return "\n".join(line.rstrip() for line in lines)


def stacked_table(
    rows: Sequence[Sequence[str]], align: str, leading: int = 1, width: int = WIDTH
) -> str:
    """Lay cells out in columns, those beyond the width in further tables below.

    Parameters
    ----------
    rows
        Cells of each row, the same number in all.
    align
        ``<`` or ``>`` for each column.
    leading
        How many columns every table begins with.
    width
        No line is longer, unless the leading columns and one other are.
    """
    widths = _widths(rows, len(align))
    start = sum(widths[:leading]) + _GAP * (leading - 1)
    groups: list[list[int]] = []
    used = width
    for column in range(leading, len(align)):
        used += _GAP + widths[column]
        if used > width:
            groups.append([])
            used = start + _GAP + widths[column]
        groups[-1].append(column)
    tables = []
    for group in groups:
        shown = [*range(leading), *group]
        cells = [[row[column] for column in shown] for row in rows]
        tables.append(table(cells, "".join(align[column] for column in shown)))
    return "\n\n".join(tables)


def specification(
    spec: Mapping[str, Any],
    most: int | None = None,
    evidence: Mapping[str, Evidence] | None = None,
) -> str:
    """Write a device or a workload: its name, what it is, and every parameter with its source.

    A value that is too wide for the column of values takes the rest of its lines.

    Parameters
    ----------
    spec
        As :attr:`Device.spec <sledsim.Device.spec>`.
    most
        How many entries of a list, such as the zones of a disk, are written; by default all.
    evidence
        As :attr:`Device.evidence <sledsim.Device.evidence>`: written as a column of its own.
    """
    known = evidence or {}
    third = max(len(RESTS_ON), len("published")) + _GAP if evidence else 0
    entries = []
    left: dict[str, int] = {}
    for key, entry in spec["parameters"].items():
        place = _LISTED.fullmatch(key)
        if place is not None and most is not None and int(place[2]) >= most:
            left[place[1]] = int(place[2]) + 1
        else:
            kind, source = source_cells(entry, known.get(key))
            origin = f"({entry['origin']})"
            entries.append((key, value_text(entry["value"]), kind, f"{source} {origin}".lstrip()))
    more = [f"{name}[{most}] to {name}[{end - 1}]: --all shows them" for name, end in left.items()]
    entries.insert(0, ("parameter", "value", RESTS_ON * bool(evidence), "source (from)"))
    first = max(len(key) for key, *_ in entries) + _GAP
    second = max(len(value) for _, value, *_ in entries if len(value) <= _NARROW_VALUE)
    lines = []
    for key, value, kind, source in entries:
        if len(value) <= _NARROW_VALUE:
            start = f"{key:<{first}}{value:>{second}}" + " " * _GAP
            written = f"{kind:<{third}}{source}"
            if max(map(len, source.split())) <= WIDTH - len(start) - third:
                start, written = f"{start}{kind:<{third}}", source
            wrapped = _wrap(written, WIDTH - len(start))
        else:
            start = f"{key:<{first}}"
            wrapped = _wrap("  ".join(filter(None, [value, kind, source])), WIDTH - len(start))
        lines.append(start + wrapped[0])
        lines += [" " * len(start) + line for line in wrapped[1:]]
    parts = [spec["name"], _rewrapped(spec["about"]), "\n".join([*lines, *more])]
    return "\n\n".join(part for part in parts if part)


def _rewrapped(about: str) -> str:
    """Wrap the paragraphs of a description that have too long a line.

    A paragraph begins after an empty line, or with a heading and a colon, as in ``Models:``.
    """
    paragraphs: list[list[str]] = [[]]
    for line in about.splitlines():
        if not line or not paragraphs[-1] or not paragraphs[-1][0] or _HEADING.match(line):
            paragraphs.append([])
        paragraphs[-1].append(line)
    return "\n".join(
        "\n".join(lines)
        if all(len(line) <= WIDTH for line in lines)
        else filled(" ".join(lines), WIDTH)
        for lines in paragraphs
        if lines
    )


def value_text(value: object) -> str:
    """Write the value of a parameter, as in TOML but without quotation marks around a text."""
    return value if isinstance(value, str) else json.dumps(value)


def source_cells(entry: Mapping[str, Any], one: Evidence | None) -> tuple[str, str]:
    """Return what a parameter of a spec rests on, in a word, and its source without the mark."""
    source = entry["source"] or ""
    if one is None:
        return "", source
    return ("not said" if one.kind == "unknown" else one.kind), one.said if source else ""


def _widths(rows: Sequence[Sequence[str]], columns: int) -> list[int]:
    """Return the width of each column."""
    return [max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(columns)]


def _wrap(text: str, width: int) -> list[str]:
    """Wrap a text; at least one line."""
    if len(text) <= width:
        return [text]
    import textwrap  # few tables need it

    wrapped = textwrap.wrap(text, max(width, 1), break_on_hyphens=False, break_long_words=False)
    return wrapped or [""]


def filled(text: str, width: int, behind: str = "") -> str:
    """Wrap a paragraph; further lines begin with ``behind``."""
    import textwrap

    return textwrap.fill(text, width, subsequent_indent=behind, break_on_hyphens=False)
