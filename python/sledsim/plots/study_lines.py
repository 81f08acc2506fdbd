"""What pictures of a study show: its points by panel and by line, and what they are called."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from sledsim._arguments import near, refuse
from sledsim._core import SledsimError
from sledsim.plots import names
from sledsim.results.cautions import OF_INTERVALS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledsim.studies.study import Study

MOST_LINES = 6
"""More lines in a panel cannot be told apart."""
_OWN = "response_time_ms.mean"
_OWN_ENDS = ("confidence.response_time_ms.low", "confidence.response_time_ms.high")
"""The interval that a single run tells of its own mean response time."""
_UNRELIABLE = {"failed", "saturated", "overloaded"}
"""Cautions that make any mean unreliable; those of intervals do if there is a single run."""


class Point(NamedTuple):
    """A point of a study: the values of its keys, and a result."""

    at: Mapping[str, Any]
    mean: float
    low: float | None
    high: float | None
    unreliable: tuple[str, ...]
    """Codes of the cautions for which it is not to be relied on."""


def check_keys(study: Study, given: Mapping[str, str | None]) -> list[str]:
    """Return the keys that vary and are not given, by the names of what they are given for."""
    seen: dict[str, str] = {}
    for name, key in given.items():
        if key is None:
            continue
        if key not in study.varied:
            varied = ", ".join(study.varied) or "the study varies none"
            refuse(name, key, f"a key that varies: {varied}")
        if key in seen:
            refuse(name, key, f"another key than {seen[key]}")
        seen[key] = name
    return [key for key in study.varied if key not in seen]


def points_of(study: Study, result: str, name: str) -> list[Point]:
    """Return the points of a study that have a result, which ``name`` gives."""
    means = study.means_table()
    results = [each for each in means.names() if f"{each}.low" in means.names()]
    if result not in results:
        refuse(name, result, f"a result: {near(result, results)}; Study.results() lists all")
    count = len(means)

    def column(name: str) -> list[Any]:
        return means.column(name) or [None] * count

    ends = [column(f"{result}.low"), column(f"{result}.high")]
    own = [column(name) for name in _OWN_ENDS] if result == _OWN else ends
    keys = {key: column(key) for key in study.varied}
    points = []
    for row, (mean, runs, caution) in enumerate(
        zip(column(result), column("rows"), column("caution"), strict=True)
    ):
        if mean is None:
            continue
        codes = set((caution or "").replace("; ", ", ").split(", "))
        bad = codes & (_UNRELIABLE | (set(OF_INTERVALS) if runs == 1 and result == _OWN else set()))
        low, high = (side[row] for side in (own if runs == 1 else ends))
        at = {key: values[row] for key, values in keys.items()}
        points.append(Point(at, mean, low, high, tuple(sorted(bad))))
    return points


def values_of(points: Iterable[Point], key: str) -> list[Any]:
    """Return the values of a key: numbers from the least on, others as they come."""
    found = list(dict.fromkeys(point.at[key] for point in points))
    return sorted(found) if are_numbers(found) else found


def are_numbers(values: Iterable[object]) -> bool:
    """Return whether values can stand on an axis of numbers."""
    return all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)


def by_panel(points: Sequence[Point], row: str | None, col: str | None) -> dict[str, list[Point]]:
    """Return the points of each panel, by its title, row by row."""
    keys = [key for key in (row, col) if key is not None]
    panels: dict[str, list[Point]] = {} if points else {"": []}
    for wanted in itertools.product(*(values_of(points, key) for key in keys)):
        title = ", ".join(titled(key, value) for key, value in zip(keys, wanted, strict=True))
        panels[title] = [p for p in points if [p.at[key] for key in keys] == list(wanted)]
    return panels


def by_line(points: Iterable[Point], keys: Sequence[str]) -> dict[str, list[Point]]:
    """Return the points of each line by its name, those of one line in the order of the study."""
    lines: dict[str, list[Point]] = {}
    for point in points:
        name = ", ".join(named(key, point.at[key]) for key in keys)
        lines.setdefault(name, []).append(point)
    return lines


def check_lines(
    panels: Iterable[Sequence[Point]], keys: Sequence[str], free: Sequence[str]
) -> None:
    """Refuse panels with more lines than can be told apart, and say how to divide them.

    Parameters
    ----------
    panels
        The points of each panel.
    keys
        The keys whose values are lines.
    free
        Which of ``col`` and ``row`` are still to be given.
    """
    every = [*panels]
    most = max((len(by_line(points, keys)) for points in every), default=0)
    if most <= MOST_LINES:
        return
    counts = {key: len({str(p.at[key]) for points in every for p in points}) for key in keys}
    # Lines are told apart by the first key where there are others; the fewest panels are best.
    ways = [
        way
        for count in range(1, len(free) + 1)
        for way in itertools.combinations([*keys[1:], keys[0]], count)
        if most / math.prod(counts[key] for key in way) <= MOST_LINES
    ]
    told = f"{most} lines for {', '.join(keys)}: at most {MOST_LINES} can be told apart"
    if not ways:
        raise SledsimError(f"{told}: run fewer values, or draw parts of the study")
    best = min(ways, key=lambda way: (len(way), keys[0] in way))
    given = " and ".join(f'{name}="{key}"' for name, key in zip(free, best, strict=False))
    raise SledsimError(f"{told}: give {given}")


def named(key: str, value: object) -> str:
    """Name a value: text alone, numbers with their key and unit."""
    if isinstance(value, str):
        return value.rpartition("/")[2]
    words, unit = names.described(key)
    text = written(value)
    if key == "rate":
        return f"{text} {unit}"
    return f"{words} {text} {unit}".rstrip()


def titled(key: str, value: object) -> str:
    """Name a value in the title of a panel: ``key = value``."""
    words, unit = names.described(key)
    return f"{words} = {written(value)} {unit}".rstrip()


def written(value: object) -> str:
    """Write a value of a key."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,.10g}"
    return str(value).rpartition("/")[2]


def subject(study: Study) -> str:
    """Name load, device and scheduler, as far as all points share them."""
    table = study.read(study.parameters)

    def of(key: str) -> str:
        found = list(dict.fromkeys(table.column(key) or [])) if key in study.parameters else []
        if not found:
            return ""
        one = str(found[0]).rpartition("/")[2]
        return one if len(found) == 1 else f"{len(found)} {key}s"

    load = of("workload") or of("trace") or of("scenario")
    rate = of("rate")
    if rate and "rate" not in study.varied:
        load = f"{load}, {float(rate):,g} requests/s"
    device, scheduler = of("device"), of("scheduler")
    rule = f" ({scheduler})" if scheduler and "scheduler" not in study.varied else ""
    return f"{load} on {device}{rule}" if load and device else load or device


def facts(study: Study) -> list[str]:
    """Return what a caption says of a study: what varies, requests, replications, seeds."""
    wanted = [*study.varied, "requests", "seed_used"]
    table = study.read(wanted)
    columns = {key: table.column(key) or [] for key in wanted}
    columns = {key: [*dict.fromkeys(v for v in of if v is not None)] for key, of in columns.items()}
    points = len(study.means_table())
    found = [f"study of {subject(study)}"]
    for key in study.varied:
        words, unit = names.described(key)
        values = ", ".join(map(written, columns[key]))
        found.append(f"{words} {values} {unit}".rstrip())
    seeds = [int(seed) for seed in columns["seed_used"]]
    if len(columns["requests"]) == 1 and "requests" not in study.varied:
        found.append(f"{written(columns['requests'][0])} requests a run")
    runs = f"{len(study):,} runs of {points:,} points"
    if seeds:
        runs += f", seed{'s' * (len(seeds) > 1)} {min(seeds)}"
        runs += f" to {max(seeds)}" * (len(seeds) > 1)
    return ["; ".join(filter(None, found)), runs]
