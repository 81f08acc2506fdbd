"""Measures simulation speed: `make bench`, `make bench BASE=main`, `make bench CASES="g2* mcd*"`.

Prints what a request takes and, beside a base, ratios of CPU and wall time in turns, and whether
the results are equal bit for bit. Writes out/bench.json; benches/table.py makes a table of it.
Exits with 1 if results differ or the new build fails.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from builds import package_of, yardstick
from cases import Case, all_cases
from dying import tips_rates
from emulator import emulator_rates
from figures import figures_of, verdict
from iscsi import iscsi_rates
from rpc import rpc_rates
from turns import in_turns

SERVERS = {"emulator": emulator_rates, "iscsi": iscsi_rates, "rpc": rpc_rates, "tips": tips_rates}
"""Of the installed build alone: their time is mostly the kernel's."""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "cases",
        nargs="*",
        metavar="CASE",
        help="names or patterns as g2_*; none: all but papers, which take an hour",
    )
    parser.add_argument("--list", action="store_true", help="list the cases and leave")
    parser.add_argument("--base", default="", help="a folder with the package, or a revision")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="of the usual requests")
    parser.add_argument(
        "--yardstick", type=Path, help="the program with the loop, or else it is built"
    )
    parser.add_argument("--output", type=Path, default=Path("out/bench.json"))
    return parser.parse_args()


def chosen(cases: dict[str, Case], patterns: list[str]) -> list[str]:
    """Return the names that the patterns match, in the order of the table."""
    usual = [name for name, case in cases.items() if not case.only_named]
    known = [*cases, *SERVERS]
    if not patterns:
        return [*usual, *SERVERS]
    for pattern in patterns:
        if not any(fnmatch(name, pattern) for name in known):
            sys.exit(f"{pattern}: no such case; known are {', '.join(known)}")
    return [name for name in known if any(fnmatch(name, pattern) for pattern in patterns)]


def line(name: str, record: dict[str, Any]) -> str:
    """Write the figures of a case in one line."""
    figures = figures_of(record)
    if figures is None:
        return f"{name:22} failed: {record['new']['error']}"
    text = f"{name:22} {figures.cpu_ns:9.0f} ns {figures.loops:9.1f} {figures.peak_mib:6.0f} MiB"
    if figures.cpu_ratio is not None:
        text += f"  {figures.cpu_ratio!s:18} {figures.wall_ratio!s:18}"
    return f"{text} {verdict(record)}".rstrip()


def main() -> None:
    """Measure."""
    given = arguments()
    cases = all_cases()
    if given.list:
        print(*(f"{name:22} {case.title}" for name, case in cases.items()), *SERVERS, sep="\n")
        return
    names = chosen(cases, given.cases)
    base = package_of(given.base) if given.base else None
    loop = given.yardstick or yardstick()
    results: dict[str, Any] = {"machine": platform.machine(), "base": given.base, "cases": {}}
    given.output.parent.mkdir(parents=True, exist_ok=True)
    print("A request takes CPU time, and as long as so many rounds of a loop of fixed arithmetic.")
    head = f"{'case':22} {'CPU':>12} {'rounds':>9} {'memory':>10}"
    print(head + ("  times faster, CPU  by the wall" if base else ""), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name in SERVERS:
                results[name] = SERVERS[name]()
                print(name, json.dumps(results[name], indent=2), flush=True)
            else:
                record = in_turns(name, given.share, given.turns, base, loop, Path(folder))
                results["cases"][name] = {"title": cases[name].title, **record}
                print(line(name, record), flush=True)
                print(*(f"    {text}\n" for text in record.get("differences", [])), sep="", end="")
            text = json.dumps(results, indent=1)
            given.output.write_text(text + "\n", encoding="utf-8")
    records = results["cases"].values()
    if any(verdict(record) in {"DIFFER", "failed"} for record in records):
        sys.exit(1)


if __name__ == "__main__":
    main()
