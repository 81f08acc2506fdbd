"""The report of a study."""

from __future__ import annotations

import hashlib
from itertools import permutations
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim._number_text import decimals_of, interval, number, rounded
from sledsim.show.pages.figures import drawn, panel
from sledsim.show.pages.glossary import word
from sledsim.show.pages.parts import Items, Paragraph, Report, Section, Table
from sledsim.show.pages.texts import cell, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledsim.show.pages.parts import Figure, Text
    from sledsim.studies.study import Study

SHOWN = {
    "response_time_ms.mean": ("mean response time", "ms", "Response time"),
    "recovery_ms.mean": ("mean time of recovery", "ms", "Crash test"),
    "hit_ratio": ("hit ratio", "", "Hit ratio"),
}
"""What is reported, unless another result is named: its name in a sentence, its unit, and
its word in the glossary."""
_MOST_LINES = 200
"""Points in the table at the most."""


def report(study: Study, axes: Sequence[str] = ()) -> Report:
    """Return the report of a study.

    Parameters
    ----------
    study
        The study.
    axes
        Key, result, and perhaps key for lines of the picture; by default the first that fit.
    """
    means = study.means_table()
    names = means.names()
    chosen = axes[1] if len(axes) > 1 else ""
    result = chosen or next((name for name in SHOWN if f"{name}.low" in names), "")
    keys = study.varied or study.parameters[:1]
    wanted = [*keys, *([result, f"{result}.low", f"{result}.high"] if result else [])]
    columns = {
        name: means.column(name) or [None] * len(means) for name in [*wanted, "error", "caution"]
    }
    points = [{name: columns[name][row] for name in columns} for row in range(len(means))]
    keys_of_rows = hashlib.sha256("\n".join(study.keys).encode()).hexdigest()
    return Report(
        title=f"{_called(result)[0].capitalize()} over {listed(keys)}" if result else "A study",
        lead=list(_lead(study, points, keys, result)),
        warnings=list(_warnings(study, points, keys)),
        sections=list(_sections(study, points, keys, result, axes)),
        made_from=[("runs", keys_of_rows)],
    )


def _called(result: str) -> tuple[str, str, str]:
    return SHOWN.get(result, (result, "", ""))


def _at(point: Mapping[str, Any], keys: Sequence[str]) -> str:
    return ", ".join(f"{key} = {cell(point[key])}" for key in keys)


def _lead(
    study: Study, points: Sequence[Mapping[str, Any]], keys: Sequence[str], result: str
) -> Iterator[Text]:
    known = [point for point in points if result and point[result] is not None]
    if not known:
        yield f"No point of the study has a result, of {len(points):,}."
        return
    name, unit, _ = _called(result)
    least = min(known, key=lambda point: point[result])
    most = max(known, key=lambda point: point[result])
    if least is most:
        yield f"At {_at(least, keys)} the {name} is {_value(least, result, unit)}."
        return
    yield (
        f"Over {len(points):,} points the {name} goes from {_value(least, result, unit)} at"
        f" {_at(least, keys)} to {_value(most, result, unit)} at {_at(most, keys)}."
    )
    replications = len(study) // max(len(points), 1)
    if replications > 1:
        yield f"Each is a mean over {replications} seeds, with its 95 % interval."


def _value(point: Mapping[str, Any], result: str, unit: str) -> str:
    low, high = point[f"{result}.low"], point[f"{result}.high"]
    if low is None or high is None or low == high:
        return f"{number(point[result], 3)} {unit}".rstrip()
    mean = rounded(point[result], decimals_of((high - low) / 2))
    return f"{mean} {unit}".rstrip() + f" ({' to '.join(interval(low, high))})"


def _warnings(
    study: Study, points: Sequence[Mapping[str, Any]], keys: Sequence[str]
) -> Iterator[Text]:
    if study.errors:
        failed = sum(bool(point["error"]) for point in points)
        yield f"{failed:,} of {len(points):,} points failed. The first error: {study.errors[0]}."
    over = [
        point for point in points if {"saturated", "overloaded"} & set(_codes(point["caution"]))
    ]
    if over:
        where = f": {_at(over[0], keys)}" if len(over) == 1 else f", first {_at(over[0], keys)}"
        yield (
            f"At {len(over):,} of {len(points):,} points the device cannot keep up with the load"
            f"{where}. Means of these depend on the length of the run."
        )


def _codes(caution: str | None) -> list[str]:
    return list(dict.fromkeys((caution or "").replace("; ", ", ").split(", ")))


def _sections(
    study: Study,
    points: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    result: str,
    axes: Sequence[str],
) -> Iterator[Section]:
    figure = _figure(study, result, axes)
    if figure is not None:
        yield Section("The picture", [figure])
    name, unit, term = _called(result)
    text = f"{name}, {unit}" if unit else name
    own = [word(text, term) if term else text, word("95 %", "Confidence interval")]
    head = [*keys, *(own if result else []), "note"]
    rows = []
    for point in points[:_MOST_LINES]:
        row = [cell(point[key]) for key in keys]
        if result:
            low, high = point[f"{result}.low"], point[f"{result}.high"]
            if low is None or high is None or low == high:
                row += [cell(point[result]), ""]
            else:
                mean = rounded(point[result], decimals_of((high - low) / 2))
                row += [mean, " to ".join(interval(low, high))]
        codes = [code for code in _codes(point["caution"]) if code not in {"", "warm_up"}]
        rows.append([*row, "; ".join([*codes, *filter(None, [point["error"]])])])
    bad = {"saturated", "overloaded"}
    marked = frozenset(
        place
        for place, point in enumerate(points[:_MOST_LINES])
        if point["error"] or bad & set(_codes(point["caution"]))
    )
    about = f"{len(points):,} points" + (f", the first {_MOST_LINES}" * (len(points) > _MOST_LINES))
    left = frozenset({*range(len(keys)), len(head) - 1})
    yield Section("Numbers", [Table(head, rows, about, left, marked)])
    if study.errors:
        yield Section("Errors", [Items(study.errors)])
    same = [key for key in study.parameters if key not in study.varied]
    if same:
        table = study.read(same)
        rows = [[key, cell((table.column(key) or [None])[0])] for key in same]
        about = "Keys that all points have in common"
        yield Section("What was run", [Table(["key", "value"], rows, about, frozenset({0, 1}))])
    else:
        yield Section("What was run", [Paragraph(f"Keys that vary: {listed(keys)}.")])


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
    name = _called(y)[0]
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
