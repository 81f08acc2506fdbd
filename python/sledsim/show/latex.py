"""Tables for LaTeX, with the rules of ``booktabs`` and the ``S`` columns of ``siunitx``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sledsim._arguments import refuse
from sledsim.show.grids import Number, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim.show.grids import Cell, Column, Grid

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "--": r"-{}-",
    **{each: f"\\{each}" for each in "_%&#${}"},
    **{each: f"{{{each}}}" for each in "[]*"},
}
"""What stands for characters that are commands, ligatures, or read as arguments of a new row."""
_ESCAPED = re.compile("|".join(map(re.escape, sorted(_SPECIAL, key=len, reverse=True))))
_PERCENT = re.compile(r"(?<=\d) \\%", re.ASCII)
"""A sign that stays on the line of its number."""
_LABEL = re.compile(r"[\w:./+*-]+", re.ASCII)


def text(of: Grid, label: str | None) -> str:
    """Return a table, with its caption if it has one, and a label."""
    if label is not None and not _LABEL.fullmatch(str(label)):
        refuse("label", label, "letters, digits and any of _ : . / + * -, as in tab:devices")
    return "\n".join([*_lines(of, label), ""])


def escaped(words: str) -> str:
    """Return a text as LaTeX prints it; spaces and ends of lines are one space."""
    shown = _ESCAPED.sub(lambda found: _SPECIAL[found[0]], " ".join(words.split()))
    return _PERCENT.sub(r"~\\%", shown)


def _lines(of: Grid, label: str | None) -> Iterator[str]:
    yield r"% \usepackage{booktabs,siunitx}"
    yield r"\begin{table}"
    yield r"  \centering\footnotesize\setlength{\tabcolsep}{3pt}"
    if of.caption:
        yield rf"  \caption{{{escaped(of.caption)}}}\smallskip"
    if label is not None:
        yield rf"  \label{{{label}}}"
    yield rf"  \begin{{tabular}}{{@{{}}{''.join(map(_kind, of.columns))}@{{}}}}"
    yield r"    \toprule"
    yield f"    {' & '.join(map(_head, of.columns))} \\\\"
    yield r"    \midrule"
    columns = [
        [_cell(cell, bool(column.numbers)) for cell in column.cells] for column in of.columns
    ]
    for mark, row in zip(of.marks, zip(*columns, strict=True), strict=True):
        first, *others = row
        yield f"    {' & '.join([_marked(first, mark), *others])} \\\\"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    for note in of.notes:
        yield rf"  \par\smallskip\raggedright {escaped(note)}"
    yield r"\end{table}"


def _kind(column: Column) -> str:
    """Return the type of a column: ``l`` for texts, ``S`` with the widest numbers."""
    numbers = column.numbers
    if not numbers:
        wrapped = column.wrapped  # a digit is half an em wide
        return rf">{{\raggedright\arraybackslash}}p{{{wrapped / 2:g}em}}" if wrapped else "l"
    of = shape_of(numbers)
    uncertainty = f"({of.uncertainty})" if of.uncertainty else ""
    power = f"e-{of.power}" if of.power else ""
    sign = "-" if of.sign else ""
    return f"S[table-format={sign}{of.whole}.{of.decimals}{uncertainty}{power}]"


def _head(column: Column) -> str:
    lines = [escaped(line) for line in column.heads]
    side = "c" if column.numbers else "l"
    words = r" \\ ".join(lines)
    if len(lines) > 1:
        words = rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{words}\end{{tabular}}"
    return f"{{{words}}}"


def _cell(cell: Cell, of_numbers: bool) -> str:
    if isinstance(cell, Number):
        return f"{cell.digits}({cell.uncertainty})" if cell.half else cell.digits
    if cell is None:
        return "{--}"
    shown = r"\quad " * _depth(cell) + escaped(cell)
    return f"{{{shown}}}" if of_numbers else shown


def _marked(cell: str, mark: str) -> str:
    """Return a cell with the mark behind it; in braces, as a number takes none."""
    return rf"{{{cell}\textsuperscript{{{escaped(mark)}}}}}" if mark else cell


def _depth(cell: str) -> int:
    """Return how deep a text is indented, by two spaces each."""
    return (len(cell) - len(cell.lstrip())) // 2
