"""The lines of a picture of a study: which there are, their points, their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sledsim._arguments import refuse
from sledsim._core import SledsimError
from sledsim.plots import names
from sledsim.results.cautions import OF_INTERVALS

if TYPE_CHECKING:
    from sledsim._core import StudyTable
    from sledsim.studies.study import Study

MOST_LINES = 12
_OWN = "response_time_ms.mean"
_OWN_ENDS = ("confidence.response_time_ms.low", "confidence.response_time_ms.high")
"""The interval that a single run tells of its own mean response time."""
_UNRELIABLE = {"failed", "saturated", "overloaded"}
"""Cautions that make any mean unreliable; those of intervals do if there is a single run."""


class Point(NamedTuple):
    """A point of a line."""

    x: Any
    mean: float
    low: float | None
    high: float | None
    unreliable: tuple[str, ...]
    """Codes of the cautions for which it is not to be relied on."""


def lines_of(study: Study, x: str, y: str, by: str | None) -> dict[str, list[Point]]:
    """Return the points of each line by its name."""
    for name, given in (("x", x), ("by", by)):
        if given is not None and given not in study.varied:
            varied = ", ".join(study.varied) or "the study varies none"
            refuse(name, given, f"a key that varies: {varied}")
    means = study.means_table()
    results = [name for name in means.names() if f"{name}.low" in means.names()]
    if y not in results:
        refuse("y", y, f"a result: {_nearest(y, results)}")
    first = study.varied if by is None else [by, *(key for key in study.varied if key != by)]
    keys = [key for key in first if key != x]
    lines = _lines(means, x, y, keys)
    if len(lines) > MOST_LINES:
        raise SledsimError(
            f"{len(lines)} lines for {', '.join(keys)}: at most {MOST_LINES} can be told apart"
        )
    return lines


def _lines(means: StudyTable, x: str, y: str, keys: list[str]) -> dict[str, list[Point]]:
    count = len(means)

    def column(name: str) -> list[Any]:
        return means.column(name) or [None] * count

    alone = [runs == 1 for runs in column("rows")]
    ends = [column(f"{y}.low"), column(f"{y}.high")]
    own = [column(name) for name in _OWN_ENDS] if y == _OWN else ends
    labels, cautions = [column(key) for key in keys], column("caution")
    lines: dict[str, list[Point]] = {}
    for row, (place, mean) in enumerate(zip(column(x), column(y), strict=True)):
        if mean is None:
            continue
        codes = set((cautions[row] or "").replace("; ", ", ").split(", "))
        bad = codes & (_UNRELIABLE | (set(OF_INTERVALS) if alone[row] and y == _OWN else set()))
        low, high = (side[row] for side in (own if alone[row] else ends))
        name = ", ".join(_named(key, of[row]) for key, of in zip(keys, labels, strict=True))
        lines.setdefault(name, []).append(Point(place, mean, low, high, tuple(sorted(bad))))
    return lines


def _named(key: str, value: object) -> str:
    """Name a value: text alone, numbers with their key and unit."""
    if isinstance(value, str):
        return value.rpartition("/")[2]
    words, unit = names.described(key)
    text = f"{value:,g}" if isinstance(value, int | float) else str(value)
    if key == "rate":
        return f"{text} {unit}"
    return f"{words} {text} {unit}".rstrip()


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


def _nearest(name: str, known: list[str]) -> str:
    import difflib  # only errors need it

    has_it = [each for each in known if name in each.replace(".", " ").split()]
    near = has_it or difflib.get_close_matches(name, known, n=5, cutoff=0.4) or known
    return f"{', '.join(near[:5])}, ...; Study.results() lists all"
