"""What is shown of a study."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from sledsim import _number_text
from sledsim._number_text import decimals_of, half_text, half_width, interval, number, rounded
from sledsim.results.rows import Rows
from sledsim.show.grids import ends_of
from sledsim.show.sheet import Sheet, Table, Word
from sledsim.show.sheet import facts as facts_table
from sledsim.show.words import cell, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledsim._core import StudyTable
    from sledsim.studies.study import Study

RESULTS = {
    "response_time_ms.mean": ("mean response time", "ms", "Response time"),
    "recovery_ms.mean": ("mean time of recovery", "ms", "Crash test"),
    "hit_ratio": ("hit ratio", "", "Hit ratio"),
}
"""What is shown, unless other results are named: its name in a sentence, its unit, and its word in
the glossary."""
HALF = "95 %"
"""The head of a column of half the intervals of a mean, as ± 0.041."""
_MOST_LINES = 200
"""Points in the table at the most."""
_OVER = frozenset({"saturated", "overloaded"})


def results_of(means: StudyTable) -> list[str]:
    """Return the names of results, which have intervals."""
    names = set(means.names())
    return [name for name in means.names() if f"{name}.low" in names]


def sheet(study: Study, results: Sequence[str] = (), most: int = _MOST_LINES) -> Sheet:
    """Describe a study.

    Parameters
    ----------
    study
        The study.
    results
        Names of results; by default those of :data:`RESULTS`.
    most
        How many points the table has at the most.
    """
    means = study.means_table()
    chosen = list(results) or [name for name in RESULTS if name in results_of(means)]
    keys = study.varied or study.parameters[:1]
    rows = Rows(means.rows())
    ends = {name: ends_of(rows, name) or (f"{name}.low", f"{name}.high") for name in chosen}
    wanted = [*keys, *chosen, *itertools.chain(*ends.values()), "error", "caution"]
    columns = {name: means.column(name) or [None] * len(means) for name in wanted}
    points = [{name: columns[name][row] for name in columns} for row in range(len(means))]
    same = [key for key in study.parameters if key not in study.varied]
    fixed = study.read(same) if same else None
    facts = [[key, cell((fixed.column(key) or [None])[0])] for key in same] if fixed else []
    return Sheet(
        title=f"{called(chosen[0])[0].capitalize()} over {listed(keys)}" if chosen else "A study",
        lead=list(_lead(study, points, keys, ends)),
        facts=(
            facts_table(facts, "Keys that all points have in common", folded=True)
            if facts
            else None
        ),
        tables=[_points(points, keys, ends, most)],
        warnings=list(_warnings(study, points, keys)),
    )


def called(result: str) -> tuple[str, str, str]:
    """Return the name of a result in a sentence, its unit, and its word in the glossary."""
    return RESULTS.get(result, (result, "", ""))


def _at(point: Mapping[str, Any], keys: Sequence[str]) -> str:
    return ", ".join(f"{key} = {cell(point[key])}" for key in keys)


def _lead(
    study: Study,
    points: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    ends: Mapping[str, tuple[str, str]],
) -> Iterator[str]:
    result = next(iter(ends), None)
    known = [point for point in points if result and point[result] is not None]
    if result is None or not known:
        yield f"No point of the study has a result, of {len(points):,}."
        return
    name, unit, _ = called(result)
    least = min(known, key=lambda point: point[result])
    most = max(known, key=lambda point: point[result])
    if least is most:
        yield f"At {_at(least, keys)} the {name} is {_value(least, result, unit, ends)}."
        return
    first, last = (_value(point, result, unit, ends) for point in (least, most))
    yield (
        f"Over {len(points):,} points the {name} goes from {first} at {_at(least, keys)} to {last}"
        f" at {_at(most, keys)}."
    )
    replications = len(study) // max(len(points), 1)
    if replications > 1:
        yield f"Each is a mean over {replications} seeds, with its 95 % interval."


def _value(
    point: Mapping[str, Any], result: str, unit: str, ends: Mapping[str, tuple[str, str]]
) -> str:
    low, high = (point[end] for end in ends[result])
    if low is None or high is None or low == high:
        return f"{number(point[result], 3)} {unit}".rstrip()
    mean = rounded(point[result], decimals_of((high - low) / 2))
    return f"{mean} {unit}".rstrip() + f" ({' to '.join(interval(low, high))})"


def _warnings(
    study: Study, points: Sequence[Mapping[str, Any]], keys: Sequence[str]
) -> Iterator[str]:
    if study.errors:
        failed = sum(bool(point["error"]) for point in points)
        yield f"{failed:,} of {len(points):,} points failed: {study.errors[0]}."
    over = [point for point in points if is_over(point["caution"])]
    if over:
        where = f", {'the first at ' * (len(over) > 1)}{_at(over[0], keys)}"
        yield (
            f"The device cannot keep up with the load at {len(over):,} of {len(points):,} points"
            f"{where}: means of these depend on the length of the run."
        )


def is_over(caution: str | None) -> bool:
    """Tell whether the device could not keep up in one of the replications."""
    return bool(_OVER & set(_codes(caution)))


def _codes(caution: str | None) -> list[str]:
    """Return the codes of all replications, each once; a warm-up was chosen."""
    codes = dict.fromkeys((caution or "").replace("; ", ", ").split(", "))
    return [code for code in codes if code not in {"", "warm_up"}]


def _points(
    points: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    ends: Mapping[str, tuple[str, str]],
    most: int,
) -> Table:
    """Return the table of points; ``ends`` are those of the intervals, by result."""
    rows, marked = [], set()
    for at, point in enumerate(points[:most]):
        row = [cell(point[key]) for key in keys]
        for name in ends:
            half = half_width(*(point[each] for each in ends[name]))
            row += [_number_text.mean(point[name], half), half_text(half)]
        codes = _codes(point["caution"])
        row.append("; ".join(filter(None, (", ".join(codes), point["error"]))))
        rows.append(row)
        if point["error"] or is_over(point["caution"]):
            marked.add(at)
    more = len(points) - len(rows)
    terms = {name: called(name)[2] for name in ends}
    names = (Word(name, terms[name]) if terms[name] else name for name in ends)
    interval_head = Word(HALF, "Confidence interval")
    heads = [*keys, *(head for name in names for head in (name, interval_head)), "note"]
    # A column of intervals or notes that has none is left out.
    often_empty = {HALF, "note"}
    kept = [at for at, h in enumerate(heads) if h not in often_empty or any(r[at] for r in rows)]
    return Table(
        [heads[at] for at in kept],
        [[row[at] for at in kept] for row in rows],
        f"{len(points):,} points" + (f", the first {len(rows)}" if more else ""),
        left=frozenset(place for place, at in enumerate(kept) if heads[at] in often_empty),
        marked=frozenset(marked),
        after=[f"{more:,} more points: see study.means, or --json"] if more else [],
    )
