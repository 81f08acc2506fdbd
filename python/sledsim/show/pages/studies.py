"""The page of a study."""

from __future__ import annotations

import hashlib
from itertools import permutations
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.show.pages import sheets
from sledsim.show.pages.figures import drawn, panel
from sledsim.show.pages.parts import Items, Section
from sledsim.show.studies import RESULTS, called, results_of, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.show.pages.parts import Figure, Report
    from sledsim.studies.study import Study

_FEW = 10
"""So many values of a key that are no numbers have room beside a map."""


def report(study: Study, axes: Sequence[str] = ()) -> Report:
    """Return the page of a study.

    Parameters
    ----------
    study
        The study.
    axes
        Key, result, and perhaps key for lines of the picture; by default the first that fit.
    """
    known = results_of(study.means_table())
    result = axes[1] if len(axes) > 1 else next((name for name in RESULTS if name in known), "")
    figures = [each for each in (_figure(study, result, axes), _map(study, result)) if each]
    keys_of_rows = hashlib.sha256("\n".join(study.keys).encode()).hexdigest()
    return sheets.report(
        sheet(study, [result] if result else []),
        ("The pictures" if len(figures) > 1 else "The picture", figures),
        Section("Errors", [Items(study.errors)]) if study.errors else None,
        made_from=[("runs", keys_of_rows)],
    )


def _figure(study: Study, result: str, axes: Sequence[str]) -> Figure | None:
    """Draw a result over a key; over the first keys that make few enough lines, unless named.

    Lines are the values of a second key; a third and a fourth one have panels.
    """
    if axes:
        x, y, *by = axes
        return _drawn(study, y, x, *by)
    ways = sorted(
        permutations(study.varied, min(len(study.varied), 4)),
        key=lambda way: not way or not _is_number(study, way[0]),
    )
    for keys in filter(None, ways if result else ()):
        try:
            return _drawn(study, result, *keys)
        except SledsimError:  # more lines than can be told apart
            continue
    return None


def _map(study: Study, result: str) -> Figure | None:
    """Draw a result by two keys, if just two vary, and each has few values or numbers."""
    if len(study.varied) != 2 or not result:
        return None
    counts = [len(set(map(str, study.read([key]).column(key) or []))) for key in study.varied]
    numbers = [_is_number(study, key) for key in study.varied]
    if any(count > _FEW and not number for count, number in zip(counts, numbers, strict=True)):
        return None
    # Numbers go from left to right, names from top to bottom.
    x, y = study.varied if numbers[0] or not numbers[1] else reversed(study.varied)
    text = f"{_named(result)} by {x} and {y}, a cell for each pair."
    more_in = 0.2 * max(0, min(counts) - _FEW)
    return drawn("heat", study, x, y, result, caption=text, alt=text, size=panel(more_in=more_in))


def _is_number(study: Study, key: str) -> bool:
    found = study.read([key]).column(key) or []
    return all(isinstance(value, int | float) for value in found)


def _named(result: str) -> str:
    name = called(result)[0]
    return f"{name[:1].upper()}{name[1:]}"


def _drawn(
    study: Study,
    y: str,
    x: str,
    by: str | None = None,
    col: str | None = None,
    row: str | None = None,
) -> Figure:
    lines = f", a line for each {by}" if by else ""
    panels = " and ".join(key for key in (col, row) if key)
    text = f"{_named(y)} over {x}{lines}{f', a panel for each {panels}' if panels else ''}."
    size = None if col else panel(more_in=0.6)
    keys = {"by": by, "col": col, "row": row, "size": size}
    return drawn("study", study, x, y, caption=text, alt=text, wide=bool(col), **keys)
