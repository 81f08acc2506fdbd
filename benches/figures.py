"""The figures of a case: medians and spreads of what benches/turns.py recorded."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Spread:
    """The median of some turns, the least and the most."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f}-{self.most:.2f})"


def spread(values: list[float]) -> Spread:
    """Summarise."""
    return Spread(median(values), min(values), max(values))


@dataclass(frozen=True)
class Figures:
    """Of one case."""

    cpu_ns: float
    """CPU time of a request of the new build."""
    base_cpu_ns: float | None
    loops: float
    """The same as rounds of the loop of fixed arithmetic that take as long."""
    peak_mib: float
    cpu_ratio: Spread | None
    """How many times as fast as the base it is by CPU time; turn by turn."""
    wall_ratio: Spread | None


def figures_of(record: dict[str, Any]) -> Figures | None:
    """Derive the figures; none if the new build failed."""
    new, base = record["new"], record.get("base", {})
    if "error" in new:
        return None
    requests = record["requests"]
    cpu_ns = [1e9 * value / requests for value in new["cpu_s"]]
    rounds = [ns / loop for ns, loop in zip(cpu_ns, record["loop_ns"], strict=True)]

    def ratio(key: str) -> Spread | None:
        if key not in base:
            return None
        return spread([old / now for old, now in zip(base[key], new[key], strict=True)])

    return Figures(
        cpu_ns=median(cpu_ns),
        base_cpu_ns=1e9 * median(base["cpu_s"]) / requests if "cpu_s" in base else None,
        loops=median(rounds),
        peak_mib=max(new["peak_mib"]),
        cpu_ratio=ratio("cpu_s"),
        wall_ratio=ratio("wall_s"),
    )


def verdict(record: dict[str, Any]) -> str:
    """Say whether the results are equal."""
    if "error" in record["new"]:
        return "failed"
    if "error" in record.get("base", {}):
        return f"the base cannot do it: {record['base']['error']}"
    if "differences" not in record:
        return ""
    return "DIFFER" if record["differences"] else "equal"
