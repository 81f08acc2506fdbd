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
    figure = _figure(study, result, axes)
    keys_of_rows = hashlib.sha256("\n".join(study.keys).encode()).hexdigest()
    return sheets.report(
        sheet(study, [result] if result else []),
        ("The picture", [figure] if figure else []),
        Section("Errors", [Items(study.errors)]) if study.errors else None,
        made_from=[("runs", keys_of_rows)],
    )


def _figure(study: Study, result: str, axes: Sequence[str]) -> Figure | None:
    """Draw a result over a key; over the first keys that make few enough lines, unless named."""
    if axes:
        return _drawn(study, list(axes))
    if not result:
        return None
    most = min(len(study.varied), 2)
    ways = sorted(
        permutations(study.varied, most), key=lambda way: not way or not _is_number(study, way[0])
    )
    for x, *by in filter(None, ways):
        try:
            return _drawn(study, [x, result, *by])
        except SledsimError:  # more lines than can be told apart
            continue
    return None


def _is_number(study: Study, key: str) -> bool:
    found = study.read([key]).column(key) or []
    return all(isinstance(value, int | float) for value in found)


def _drawn(study: Study, axes: list[str]) -> Figure:
    x, y, *by = axes
    name = called(y)[0]
    lines = f", a line for each {by[0]}" if by else ""
    return drawn(
        "study",
        study,
        x,
        y,
        *by,
        caption=f"{name[:1].upper()}{name[1:]} over {x}{lines}.",
        alt=f"{name} over {x}{lines}.",
        size=panel(more_in=0.6),
    )
