"""Results as HTML for notebooks: what ``_repr_html_`` of devices, loads, runs and others returns.

There are no colours, so that they are read in light and dark notebooks alike.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from sledsim.results import cautions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.show.sheet import Sheet, Table

_MOST_ROWS = 20
"""Rows of a table that are shown."""
_CAPTION = ' style="text-align:left;white-space:nowrap"'
_LEFT = ' style="text-align:left;padding:.2em .6em"'
_RIGHT = ' style="text-align:right;padding:.2em .6em"'
_NUMBER = ' style="text-align:right;padding:.2em .6em;white-space:nowrap"'
_WIDE = "\u2003"


def html(sheet: Sheet) -> str:
    """Return the title, the sentences and the first table; the others are there to be opened."""
    tables = [*sheet.tables, *([sheet.facts] if sheet.facts else [])]
    first, *others = tables
    parts = [f"<p><b>{escape(sheet.title)}</b></p>"]
    parts += map(_paragraph, [*sheet.warnings, *sheet.lead])
    parts.append(table(first, caption=False, most=_MOST_ROWS))
    parts += map(_paragraph, [*cautions.lines(sheet.cautions), *sheet.notes])
    if others:
        names = "; ".join(each.about for each in others)
        inner = "\n".join(map(table, others))
        parts.append(f"<details><summary>{escape(names)}</summary>\n{inner}\n</details>")
    return "\n".join(['<div style="overflow-x:auto">', *parts, "</div>"])


def table(of: Table, *, caption: bool = True, most: int | None = None) -> str:
    """Return a table with the lines below it; ``most`` rows of it."""
    columns = max(map(len, [of.head, *of.rows]), default=0)

    def row(cells: Sequence[object], kind: str, depth: int = 0) -> str:
        right = _NUMBER if kind == "td" else _RIGHT
        texts = [str(cell) for cell in cells] + [""] * (columns - len(cells))
        texts[0] = _WIDE * depth + texts[0].lstrip()
        written = (
            f"<{kind}{_LEFT if column in of.left else right}>{escape(text)}</{kind}>"
            for column, text in enumerate(texts)
        )
        return f"<tr>{''.join(written)}</tr>"

    lines = ["<table>"]
    if caption and of.about:
        lines.append(f"<caption{_CAPTION}><b>{escape(of.about)}</b></caption>")
    if of.head:
        lines.append(f"<thead>{row(of.head, 'th')}</thead>")
    shown = [*zip(of.rows, of.depths(), strict=True)][:most]
    lines += ["<tbody>", *(row(cells, "td", depth) for cells, depth in shown), "</tbody></table>"]
    more = len(of.rows) - len(shown)
    lines += map(_paragraph, [*([f"and {more:,} more"] if more else []), *of.after])
    return "\n".join(lines)


def _paragraph(text: object) -> str:
    return f"<p>{escape(str(text))}</p>"
