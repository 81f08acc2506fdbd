"""Prints the table of docs/performance.md from out/bench.json: `python benches/table.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from figures import figures_of, verdict


def number(value: float) -> str:
    """Write a positive number with three digits."""
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}"


def row(record: dict[str, Any]) -> list[str]:
    """Return the cells of a case."""
    figures = figures_of(record)
    if figures is None:
        return [record["title"], verdict(record)]
    cells = [record["title"], number(1e3 / figures.cpu_ns)]
    if figures.cpu_ratio is not None and figures.base_cpu_ns is not None:
        cells[1:1] = [number(1e3 / figures.base_cpu_ns)]
        cells += [str(figures.cpu_ratio), str(figures.wall_ratio), verdict(record)]
    elif "base" in record:
        cells[1:1] = [""]
        cells += ["", "", verdict(record)]
    return [*cells, number(figures.loops)]


def table(results: dict[str, Any]) -> str:
    """Write the cases as a table of Markdown; million requests a second of CPU time."""
    head = ["work", "M/s"]
    if results["base"]:
        head = ["work", "M/s before", "now", "times faster, CPU", "by the wall", "results"]
    rows = [[*head, "rounds"], ["---"] * (len(head) + 1), *map(row, results["cases"].values())]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


if __name__ == "__main__":
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "out/bench.json")
    print(table(json.loads(path.read_text(encoding="utf-8"))))
