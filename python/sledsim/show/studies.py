"""What is shown of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _number_text
from sledsim._number_text import decimals_of, interval, number, rounded
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
_OWN_MEAN, _OWN_HIGH = "response_time_ms.mean", "confidence.response_time_ms.high"
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
    ends = [f"{name}.{end}" for name in chosen for end in ("low", "high")]
    wanted = [*keys, *chosen, *ends, *([_OWN_HIGH] if _OWN_HIGH in means.names() else [])]
    wanted += ["error", "caution"]
    columns = {name: means.column(name) or [None] * len(means) for name in wanted}
    points = [{name: columns[name][row] for name in columns} for row in range(len(means))]
    same = [key for key in study.parameters if key not in study.varied]
    fixed = study.read(same) if same else None
    facts = [[key, cell((fixed.column(key) or [None])[0])] for key in same] if fixed else []
    return Sheet(
        title=f"{called(chosen[0])[0].capitalize()} over {listed(keys)}" if chosen else "A study",
        lead=list(_lead(study, points, keys, chosen)),
        facts=(
            facts_table(facts, "Keys that all points have in common", folded=True)
            if facts
            else None
        ),
        tables=[_points(study, points, keys, chosen, most)],
        warnings=list(_warnings(study, points, keys)),
    )


def called(result: str) -> tuple[str, str, str]:
    """Return the name of a result in a sentence, its unit, and its word in the glossary."""
    return RESULTS.get(result, (result, "", ""))


def _at(point: Mapping[str, Any], keys: Sequence[str]) -> str:
    return ", ".join(f"{key} = {cell(point[key])}" for key in keys)


def _lead(
    study: Study, points: Sequence[Mapping[str, Any]], keys: Sequence[str], results: Sequence[str]
) -> Iterator[str]:
    known = [point for point in points if results and point[results[0]] is not None]
    if not known:
        yield f"No point of the study has a result, of {len(points):,}."
        return
    result = results[0]
    name, unit, _ = called(result)
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
) -> Iterator[str]:
    if study.errors:
        failed = sum(bool(point["error"]) for point in points)
        yield f"{failed:,} of {len(points):,} points failed: {study.errors[0]}."
    over = [point for point in points if _OVER & set(_codes(point["caution"]))]
    if over:
        where = f", {'the first at ' * (len(over) > 1)}{_at(over[0], keys)}"
        yield (
            f"The device cannot keep up with the load at {len(over):,} of {len(points):,} points"
            f"{where}: means of these depend on the length of the run."
        )


def _codes(caution: str | None) -> list[str]:
    """Return the codes of all replications, each once; a warm-up was chosen."""
    codes = dict.fromkeys((caution or "").replace("; ", ", ").split(", "))
    return [code for code in codes if code not in {"", "warm_up"}]


def _points(
    study: Study,
    points: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    results: Sequence[str],
    most: int,
) -> Table:
    rows, marked = [], set()
    alone = len(study) == len(points)
    for at, point in enumerate(points[:most]):
        row = [cell(point[key]) for key in keys]
        for name in results:
            own = alone and name == _OWN_MEAN  # a run tells the interval of this one
            high = point.get(_OWN_HIGH) if own else point[f"{name}.high"]
            half = None if high is None or point[name] is None else high - point[name]
            row += [_number_text.mean(point[name], half), "" if half is None else f"± {half:.2g}"]
        codes = _codes(point["caution"])
        row.append("; ".join(filter(None, (", ".join(codes), point["error"]))))
        rows.append(row)
        if point["error"] or _OVER & set(codes):
            marked.add(at)
    more = len(points) - len(rows)
    terms = {name: called(name)[2] for name in results}
    last = len(keys) + 2 * len(results)
    heads = (Word(name, terms[name]) if terms[name] else name for name in results)
    return Table(
        [*keys, *(each for head in heads for each in (head, "")), "note"],
        rows,
        f"{len(points):,} points" + (f", the first {len(rows)}" if more else ""),
        left=frozenset({*range(len(keys) + 1, last, 2), last}),
        marked=frozenset(marked),
        after=[f"{more:,} more points: see study.means, or --json"] if more else [],
    )
